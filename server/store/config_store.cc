#include "server/store/config_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {

struct ConfigStore::Stored {
  int64_t sequence = 0;
  std::string id;
  std::string description;
  std::string text;
  int64_t create_unix_nanos = 0;
  int64_t version = 0;
};

namespace {

constexpr size_t kOverridesMax = 1000;

constexpr Migration kMigrations[] = {
    {1,
     "CREATE TABLE configs("
     "  sequence INTEGER PRIMARY KEY AUTOINCREMENT,"
     "  id TEXT NOT NULL UNIQUE, description TEXT NOT NULL, text TEXT NOT NULL,"
     "  request_id TEXT UNIQUE, body_hash TEXT NOT NULL,"
     "  create_unix_nanos INTEGER NOT NULL, version INTEGER NOT NULL)"},
};

std::optional<PresetInfo> FindPreset(const std::string& id) {
  for (PresetInfo& preset : Presets()) {
    if (preset.name == id) return std::move(preset);
  }
  return std::nullopt;
}

// Options of one line. Quotes keep blanks together; whether a value survives them is checked by the digest.
std::string OptionText(const std::string& name, const std::string& value) {
  return absl::StrCat(absl::StartsWith(name, "-") ? "" : "-", name, " \"", value, "\"");
}

std::string BodyHash(const NewConfig& request) {
  std::string body = absl::StrCat(request.id, "\n", Sha256Hex(request.description), Sha256Hex(request.text),
                                  request.base, "\n");
  for (const NamedOverride& o : request.overrides) {
    absl::StrAppend(&body, Sha256Hex(o.name), Sha256Hex(o.value));
  }
  return Sha256Hex(body);
}

std::string LabelOf(const std::string& id) { return "configs/" + id; }

}  // namespace

std::string NamedConfig::etag() const { return absl::StrCat("v", version); }

bool IsConfigId(std::string_view id) {
  if (id.empty() || id.size() > 63 || !absl::ascii_isalnum(static_cast<unsigned char>(id.front())))
    return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  });
}

absl::StatusOr<std::unique_ptr<ConfigStore>> ConfigStore::Open(Database& db, const Clock& clock,
                                                               const ConfigLimits& limits) {
  RETURN_IF_ERROR(db.Migrate("configs", kMigrations));
  return std::unique_ptr<ConfigStore>(new ConfigStore(db, clock, limits));
}

absl::StatusOr<ConfigStore::Stored> ConfigStore::Find(Transaction& tx, const std::string& id) {
  std::optional<Stored> found;
  RETURN_IF_ERROR(
      tx.Query("SELECT sequence, id, description, text, create_unix_nanos, version FROM configs WHERE id = ?",
               {id}, [&](const Row& row) {
                 found = Stored{row.Int(0), row.Text(1), row.Text(2), row.Text(3), row.Int(4), row.Int(5)};
                 return absl::OkStatus();
               }));
  if (!found) return absl::NotFoundError(absl::StrCat("there is no configuration \"configs/", id, "\""));
  return *std::move(found);
}

absl::StatusOr<NamedConfig> ConfigStore::Resolve(const std::string& id,
                                                 std::span<const NamedOverride> overrides) {
  const std::string wanted = id.empty() ? std::string(kDefaultConfig) : id;
  RETURN_IF_ERROR(CheckSize("", overrides));
  NamedConfig named;
  if (const std::optional<PresetInfo> preset = FindPreset(wanted); preset.has_value()) {
    named.id = preset->name;
    named.description = preset->description;
    named.preset = true;
    ASSIGN_OR_RETURN(named.text, PresetText(wanted));
    ASSIGN_OR_RETURN(named.config, LoadConfig(wanted, overrides, ConfigOptions{}));
    return named;
  }
  Stored stored;
  RETURN_IF_ERROR(db_.Read([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(stored, Find(tx, wanted));
    return absl::OkStatus();
  }));
  ASSIGN_OR_RETURN(named.config, LoadConfigText(LabelOf(stored.id), stored.text, overrides, ConfigOptions{}));
  named.id = std::move(stored.id);
  named.description = std::move(stored.description);
  named.text = std::move(stored.text);
  named.create_unix_nanos = stored.create_unix_nanos;
  named.version = stored.version;
  return named;
}

absl::Status ConfigStore::CheckSize(const std::string& text, std::span<const NamedOverride> overrides) const {
  if (overrides.size() > kOverridesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(overrides.size(), " overrides are too many: at most ", kOverridesMax));
  }
  uint64_t bytes = text.size();
  for (const NamedOverride& o : overrides) bytes += o.name.size() + o.value.size();
  if (bytes <= limits_.max_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a configuration of ", bytes, " bytes is too large: at most ", limits_.max_bytes));
}

// What stands in front of a text so that it builds on `base`: without a line end, so that the faults of the
// text keep their line numbers.
absl::StatusOr<std::string> ConfigStore::BaseLine(const std::string& base) {
  if (base.empty()) return std::string();
  if (FindPreset(base).has_value()) return absl::StrCat("-include ", base, " ");
  ASSIGN_OR_RETURN(const NamedConfig named, Resolve(base, {}));
  std::string line;
  for (const ResolvedSetting& setting : named.config.settings) {
    if (setting.origin.kind != "default")
      absl::StrAppend(&line, OptionText(setting.name, setting.value), " ");
  }
  return line;
}

absl::StatusOr<Config> ConfigStore::Validate(const std::string& base, const std::string& text,
                                             std::span<const NamedOverride> overrides, bool strict) {
  RETURN_IF_ERROR(CheckSize(text, overrides));
  ASSIGN_OR_RETURN(const std::string before, BaseLine(base));
  ConfigOptions options;
  options.strict = strict;
  return LoadConfigText("text", before + text, overrides, options);
}

// One text that resolves to what was checked.
absl::StatusOr<std::string> ConfigStore::Fold(const NewConfig& request, const Config& checked) {
  ASSIGN_OR_RETURN(std::string text, BaseLine(request.base));
  if (!text.empty()) text.back() = '\n';
  text += request.text;
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const NamedOverride& o : request.overrides) absl::StrAppend(&text, OptionText(o.name, o.value), "\n");
  const absl::StatusOr<Config> folded = LoadConfigText(LabelOf(request.id), text, {}, ConfigOptions{});
  if (!folded.ok() || folded->digest != checked.digest) {
    return absl::InvalidArgumentError(
        "a value of these overrides cannot be written into a text (quotes or '#' in it)");
  }
  return text;
}

absl::StatusOr<NamedConfig> ConfigStore::Create(const NewConfig& request, bool validate_only) {
  if (!IsConfigId(request.id)) {
    Fault fault;
    fault.field = "config_id";
    fault.expected = "[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}";
    fault.message = "the id of the configuration is not well-formed";
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  if (FindPreset(request.id).has_value()) {
    return absl::AlreadyExistsError(absl::StrCat("configs/", request.id, " is a preset; choose another id"));
  }
  ASSIGN_OR_RETURN(Config checked, Validate(request.base, request.text, request.overrides, /*strict=*/false));
  ASSIGN_OR_RETURN(std::string text, Fold(request, checked));
  if (validate_only) {
    NamedConfig named;
    named.id = request.id;
    named.description = request.description;
    named.text = std::move(text);
    named.config = std::move(checked);
    return named;
  }
  std::string existing;
  RETURN_IF_ERROR(db_.Write([&](Transaction& tx) { return Insert(tx, request, text, &existing); }));
  return Resolve(existing.empty() ? request.id : existing, {});
}

absl::Status ConfigStore::Insert(Transaction& tx, const NewConfig& request, const std::string& text,
                                 std::string* existing) {
  const std::string body_hash = BodyHash(request);
  std::string earlier_hash;
  if (!request.request_id.empty()) {
    RETURN_IF_ERROR(tx.Query("SELECT id, body_hash FROM configs WHERE request_id = ?", {request.request_id},
                             [&](const Row& row) {
                               *existing = row.Text(0);
                               earlier_hash = row.Text(1);
                               return absl::OkStatus();
                             }));
  }
  if (!existing->empty()) {
    if (earlier_hash == body_hash) return absl::OkStatus();
    return absl::AlreadyExistsError(
        absl::StrCat("request id ", request.request_id, " was used for another configuration"));
  }
  uint64_t count = 0;
  RETURN_IF_ERROR(tx.Query("SELECT count(*) FROM configs", {}, [&](const Row& row) {
    count = row.Uint(0);
    return absl::OkStatus();
  }));
  if (count >= limits_.max_configs) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", count, " configurations already; delete some first"));
  }
  const SqlValue request_id = request.request_id.empty() ? SqlValue(nullptr) : SqlValue(request.request_id);
  const absl::Status inserted = tx.Run(
      "INSERT INTO configs(id, description, text, request_id, body_hash, create_unix_nanos, version)"
      " VALUES(?, ?, ?, ?, ?, ?, 1)",
      {request.id, request.description, text, request_id, body_hash, clock_.WallUnixNanos()});
  if (absl::IsAlreadyExists(inserted)) {
    return absl::AlreadyExistsError(absl::StrCat("configs/", request.id, " exists already"));
  }
  return inserted;
}

absl::StatusOr<ConfigPage> ConfigStore::List(int64_t after, uint32_t page_size) {
  ConfigPage page;
  const std::vector<PresetInfo> presets = Presets();
  const auto num_presets = static_cast<int64_t>(presets.size());
  int64_t position = after;  // presets have positions 1..n, created ones n + sequence
  const auto add = [&](ConfigPage::Entry entry, int64_t at, const absl::StatusOr<Config>& config) {
    if (config.ok()) entry.digest = config->digest;
    if (!config.ok()) entry.problems.emplace_back(config.status().message());
    page.configs.push_back(std::move(entry));
    position = at;
  };
  while (position < num_presets && page.configs.size() < page_size) {
    const PresetInfo& preset = presets[static_cast<size_t>(position)];
    add({preset.name, preset.description, true, "", {}, 0, 0}, position + 1,
        LoadConfig(preset.name, {}, ConfigOptions{}));
  }
  const uint64_t wanted = page_size - page.configs.size();
  std::vector<Stored> stored;
  RETURN_IF_ERROR(db_.Read([&](Transaction& tx) {
    return tx.Query(
        "SELECT sequence, id, description, text, create_unix_nanos, version FROM configs WHERE sequence > ?"
        " ORDER BY sequence LIMIT ?",
        {std::max<int64_t>(position - num_presets, 0), wanted + 1}, [&](const Row& row) {
          stored.push_back({row.Int(0), row.Text(1), row.Text(2), row.Text(3), row.Int(4), row.Int(5)});
          return absl::OkStatus();
        });
  }));
  const bool more = stored.size() > wanted || position < num_presets;
  if (stored.size() > wanted) stored.pop_back();
  for (Stored& s : stored) {
    const absl::StatusOr<Config> config = LoadConfigText(LabelOf(s.id), s.text, {}, ConfigOptions{});
    add({s.id, s.description, false, "", {}, s.create_unix_nanos, s.version}, num_presets + s.sequence,
        config);
  }
  if (more) page.next_after = position;
  return page;
}

absl::Status ConfigStore::Delete(const std::string& id, const std::string& etag) {
  if (FindPreset(id).has_value()) {
    return absl::FailedPreconditionError(absl::StrCat("configs/", id, " is a preset and cannot be deleted"));
  }
  return db_.Write([&](Transaction& tx) -> absl::Status {
    ASSIGN_OR_RETURN(const Stored stored, Find(tx, id));
    if (const std::string present = absl::StrCat("v", stored.version); !etag.empty() && etag != present) {
      return absl::AbortedError(absl::StrCat("configs/", id, " has changed: its etag is ", present));
    }
    return tx.Run("DELETE FROM configs WHERE id = ?", {id});
  });
}

}  // namespace sm89
