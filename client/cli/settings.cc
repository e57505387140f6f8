#include "client/cli/settings.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/error.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr char kKnownKeys[] = "address, config, timeout";
constexpr size_t kSettingsBytesMax = 64 << 10;

v1::Fault FileFault(const std::string& path, const std::string& field, const std::string& value,
                    const std::string& expected, const std::string& message) {
  v1::Fault fault;
  fault.set_file(path);
  fault.set_field(field);
  fault.set_value(value);
  fault.set_expected(expected);
  fault.set_message(message);
  return fault;
}

absl::Status BadSettings(const std::string& path, const v1::Fault& fault) {
  return InputError("SETTINGS_MALFORMED", absl::StrCat("cannot use the settings file ", path), {fault});
}

absl::Status ApplyItem(const std::string& path, const CLI::ConfigItem& item, Settings& settings) {
  const std::string value = item.inputs.empty() ? "" : item.inputs.front();
  const std::string key = item.fullname();
  if (item.inputs.size() != 1 || value.empty()) {
    return BadSettings(path, FileFault(path, key, "", "key = value", "the key has no single value"));
  }
  if (key == "address") {
    settings.address = value;
    settings.address_origin = path;
  } else if (key == "config") {
    settings.config = value;
  } else if (key == "timeout") {
    if (!absl::SimpleAtod(value, &settings.timeout_seconds) || !(settings.timeout_seconds > 0)) {
      return BadSettings(path, FileFault(path, key, value, "seconds above 0", "not a timeout"));
    }
  } else {
    return BadSettings(path, FileFault(path, key, value, absl::StrCat("one of ", kKnownKeys), "unknown key"));
  }
  return absl::OkStatus();
}

absl::Status ApplyFile(const std::string& path, bool must_exist, Settings& settings) {
  std::ifstream in(path);
  if (!in) {
    if (!must_exist) return absl::OkStatus();
    return BadSettings(path, FileFault(path, "", "", "a readable file", "cannot be opened"));
  }
  std::string text(kSettingsBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kSettingsBytesMax) {
    return BadSettings(
        path, FileFault(path, "", "", absl::StrCat("at most ", kSettingsBytesMax, " bytes"), "too long"));
  }
  std::vector<CLI::ConfigItem> items;
  try {  // the parser reports by exception; it ends here
    std::istringstream stream(text);
    items = CLI::ConfigINI().from_config(stream);
  } catch (const CLI::Error& error) {
    return BadSettings(path, FileFault(path, "", "", "lines of key = value", error.what()));
  }
  for (const CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // the parser's section marks
    CLIENT_RETURN_IF_ERROR(ApplyItem(path, item, settings));
  }
  return absl::OkStatus();
}

std::string UnderHome(const Environment& environment, const std::string& xdg_variable,
                      const std::string& home_folder, const std::string& rest) {
  if (const std::string base = environment.Get(xdg_variable); !base.empty()) return base + rest;
  const std::string home = environment.Get("HOME");
  return home.empty() ? "" : home + home_folder + rest;
}

}  // namespace

std::string DefaultSettingsPath(const Environment& environment) {
  return UnderHome(environment, "XDG_CONFIG_HOME", "/.config", "/sm89/config");
}

std::string UploadJournalPath(const Environment& environment) {
  return UnderHome(environment, "XDG_STATE_HOME", "/.local/state", "/sm89/uploads");
}

absl::StatusOr<Settings> ResolveSettings(const GlobalFlags& flags, const Environment& environment) {
  Settings settings;
  const std::string named = flags.settings_file.value_or(environment.Get("SM89_CONFIG_FILE"));
  const std::string path = named.empty() ? DefaultSettingsPath(environment) : named;
  if (!path.empty()) CLIENT_RETURN_IF_ERROR(ApplyFile(path, !named.empty(), settings));
  if (const std::string address = environment.Get("SM89_ADDRESS"); !address.empty()) {
    settings.address = address;
    settings.address_origin = "SM89_ADDRESS";
  }
  if (flags.address.has_value()) {
    settings.address = *flags.address;
    settings.address_origin = "--address";
  }
  if (flags.timeout_seconds.has_value()) settings.timeout_seconds = *flags.timeout_seconds;
  return settings;
}

}  // namespace sm89::client
