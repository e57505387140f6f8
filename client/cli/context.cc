#include "client/cli/context.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/format.h"
#include "client/cli/json_out.h"
#include "client/error.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr int kFaultsShown = 100;

// What a user can do about it; empty when the message says it all.
std::string Advice(const absl::Status& status, const Settings& settings) {
  if (absl::IsUnavailable(status)) {
    const uint32_t seconds = RetryAfterSeconds(status);
    if (seconds > 0) return absl::StrCat("the server asks to try again in ", seconds, " s");
    return absl::StrCat("the address ", settings.address, " comes from: ", settings.address_origin,
                        "\n  is the daemon running? start one with 'sm89d', or name another server with "
                        "--address HOST:PORT or SM89_ADDRESS");
  }
  if (absl::IsDeadlineExceeded(status)) {
    return absl::StrCat("no answer within ", settings.timeout_seconds,
                        " s; a longer time can be given with --timeout SECONDS");
  }
  if (absl::IsResourceExhausted(status)) {
    const uint32_t seconds = RetryAfterSeconds(status);
    return seconds > 0 ? absl::StrCat("try again in ", seconds, " s") : "";
  }
  if (absl::IsUnimplemented(status))
    return "client and server may be of different versions: see 'sm89 version'";
  if (absl::IsInternal(status) || absl::IsDataLoss(status))
    return "this is a bug: please report it with the server's log";
  return "";
}

std::string Headline(const absl::Status& status, const Settings& settings) {
  const std::string message(status.message());
  if (absl::IsUnavailable(status) && RetryAfterSeconds(status) == 0) {
    return absl::StrCat("the server at ", settings.address, " is not reachable", message.empty() ? "" : ": ",
                        message);
  }
  return message.empty() ? absl::StrCat("the server answered ", CodeName(status.code())) : message;
}

}  // namespace

absl::StatusOr<const Settings*> Context::GetSettings() {
  if (!settings_.has_value()) {
    CLIENT_ASSIGN_OR_RETURN(settings_, ResolveSettings(flags, environment_));
  }
  return &*settings_;
}

absl::StatusOr<Client*> Context::GetClient() {
  if (client_ == nullptr) {
    CLIENT_ASSIGN_OR_RETURN(const Settings* settings, GetSettings());
    ClientOptions options;
    options.address = settings->address;
    options.call_timeout_seconds = settings->timeout_seconds;
    options.user_agent = absl::StrCat("sm89/", SM89_VERSION);
    options.stop = stop_;
    CLIENT_ASSIGN_OR_RETURN(client_, Client::Create(options));
  }
  return client_.get();
}

void Context::PrintJson(const nlohmann::ordered_json& value) {
  terminal_.out() << JsonText(value) << std::flush;
}

std::string ErrorText(const absl::Status& status, const Settings& settings) {
  std::string text = Headline(status, settings);
  if (const std::optional<v1::ErrorDetail> detail = DetailOf(status);
      detail.has_value() && detail->faults_size() > 0) {
    // What follows the first line of such a message lists the faults, which come below.
    text = text.substr(0, text.find('\n'));
    const int shown = std::min(detail->faults_size(), kFaultsShown);
    for (int i = 0; i < shown; ++i) {
      const std::string line = FormatFault(detail->faults(i));
      if (line == text) continue;
      absl::StrAppend(&text, "\n  ", line);
    }
    const uint64_t rest = FaultsTotal(*detail) - static_cast<uint64_t>(shown);
    if (rest > 0) absl::StrAppend(&text, "\n  and ", rest, " more");
  }
  const std::string advice = Advice(status, settings);
  if (!advice.empty()) absl::StrAppend(&text, "\n  ", advice);
  return text;
}

void ShowError(Context& context, const absl::Status& status) {
  const absl::StatusOr<const Settings*> settings = context.GetSettings();
  const std::string text = ErrorText(status, settings.ok() ? **settings : Settings());
  if (context.flags.json) context.PrintJson(ErrorToJson(status));
  std::string line;
  bool first = true;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    line = Printable(text.substr(at, end - at));
    if (first) line = context.terminal().OnErr(Style::kBad, "error: ") + line;
    first = false;
    context.terminal().err() << line << '\n';
    at = end + 1;
  }
  context.terminal().err() << std::flush;
}

}  // namespace sm89::client
