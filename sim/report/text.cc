#include "sim/report/text.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "sim/base/assert.h"

namespace sm89 {

std::string ValidUtf8(const std::string& bytes) {
  using Json = nlohmann::json;
  // The JSON library repairs while it writes; reading the text back gives the repaired string.
  return Json::parse(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

std::string Printable(const std::string& bytes) {
  std::string text = ValidUtf8(bytes);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) text[i] = '?';
    // U+0080..U+009F, the C1 controls, are 0xC2 0x80..0x9F.
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      text.replace(i, 2, "?");
    }
  }
  return text;
}

std::string StatusText(const RunReport& report) {
  std::string text(Name(report.status));
  if (report.status == RunStatus::kComplete && !IsComplete(report)) text += ", but the trace is partial";
  const bool says_more = !report.status_detail.empty() && report.status_detail != Name(report.status);
  if (!says_more) return text;
  // A watchdog's dump has many lines.
  const size_t end = report.status_detail.find('\n');
  absl::StrAppend(&text, ": ", Printable(report.status_detail.substr(0, end)));
  return end == std::string::npos ? text : text + " (the rest: status_detail of the JSON report)";
}

std::string MarkKinds(const RunReport& report) {
  return absl::StrJoin(report.marks, "; ",
                       [](std::string* out, const TraceMark& mark) { absl::StrAppend(out, mark.kind); });
}

std::string Compact(uint64_t value) {
  if (value < 10'000) return absl::StrCat(value);
  constexpr std::array<char, 4> kSuffixes = {'K', 'M', 'G', 'T'};
  double scaled = static_cast<double>(value);
  size_t step = 0;
  // 999.5 and above would round to four digits.
  for (scaled /= 1000; scaled >= 999.5 && step + 1 < kSuffixes.size(); ++step) scaled /= 1000;
  const int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f%c", decimals, scaled, kSuffixes[step]);
}

std::vector<std::string> ClockReadLines(const ClockReadSummary& reads) {
  std::vector<std::string> lines;
  for (const ClockPairSummary& p : reads.pairs) {
    std::string line = absl::StrFormat("0x%04x>0x%04x threads %d min %d median %d", p.pc_first, p.pc_second,
                                       p.threads, p.min_cycles, p.median_cycles);
    if (p.resolution_cycles > 1) absl::StrAppend(&line, "..", p.median_cycles + p.resolution_cycles - 1);
    absl::StrAppend(&line, " max ", p.max_cycles);
    lines.push_back(std::move(line));
  }
  if (reads.dropped_threads != 0) {
    lines.push_back(absl::StrCat("other pairs threads ", reads.dropped_threads));
  }
  return lines;
}

size_t DerivedIndex(std::string_view name) {
  const auto defs = AllDerivedDefs();
  for (size_t i = 0; i < defs.size(); ++i) {
    if (defs[i].name == name) return i;
  }
  SM89_ASSERT(false, "no derived figure of that name");
}

}  // namespace sm89
