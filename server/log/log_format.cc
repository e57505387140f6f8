#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/log/log.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxFields = 32;
constexpr size_t kMaxValueBytes = 4096;
constexpr std::string_view kCutMark = "...(cut)";

std::string Bounded(std::string_view value) {
  if (value.size() <= kMaxValueBytes) return std::string(value);
  return std::string(value.substr(0, kMaxValueBytes)).append(kCutMark);
}

// JSON has no NaN and no infinity: they become text.
Json DoubleToJson(double value) {
  if (std::isfinite(value)) return Json(value);
  return Json(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

Json ToJson(const LogValue& value) {
  return std::visit(
      [](auto v) -> Json {
        if constexpr (std::is_same_v<decltype(v), std::string_view>) {
          return Json(Bounded(v));
        } else if constexpr (std::is_same_v<decltype(v), double>) {
          return DoubleToJson(v);
        } else {
          return Json(v);
        }
      },
      value.get());
}

// Escapes everything that is not printable ASCII, so that no value can forge a line or drive a terminal.
std::string DumpAscii(const Json& value) {
  return value.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

bool IsPlainWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
}

std::string ToText(const LogValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value.get())) {
    if (text->size() <= kMaxValueBytes && IsPlainWord(*text)) return std::string(*text);
  }
  return DumpAscii(ToJson(value));
}

std::string FormatJson(std::string_view time, LogLevel level, std::string_view event, LogFields fields) {
  Json line = Json::object();
  line["time"] = std::string(time);
  line["level"] = std::string(Name(level));
  line["event"] = Bounded(event);
  size_t count = 0;
  for (const LogField& field : fields) {
    if (++count > kMaxFields) break;
    line[std::string(field.key)] = ToJson(field.value);
  }
  return DumpAscii(line);
}

std::string FormatText(std::string_view time, LogLevel level, std::string_view event, LogFields fields) {
  std::string line = absl::StrFormat("%s %-5s ", Av(time), Av(Name(level)));
  line += ToText(event);
  size_t count = 0;
  for (const LogField& field : fields) {
    if (++count > kMaxFields) break;
    absl::StrAppend(&line, " ", Av(field.key), "=", ToText(field.value));
  }
  return line;
}

}  // namespace

std::string_view Name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
  }
  return "?";
}

bool ParseLogLevel(std::string_view text, LogLevel* level) {
  for (LogLevel candidate : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn, LogLevel::kError}) {
    if (text == Name(candidate)) {
      *level = candidate;
      return true;
    }
  }
  return false;
}

std::string FormatLogLine(bool json, std::string_view time, LogLevel level, std::string_view event,
                          LogFields fields) {
  return json ? FormatJson(time, level, event, fields) : FormatText(time, level, event, fields);
}

}  // namespace sm89
