#include "sim/analysis/json_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sm89::analysis {

std::string Dump(const Json& json) {
  return absl::StrCat(json.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
}

Json LineJson(const Code& code, const cubin::SourceLine& line) {
  if (line.line == 0) return nullptr;
  return {{"file", std::string(code.FileName(line.file))}, {"line", line.line}};
}

std::string PcText(uint64_t pc) { return absl::StrFormat("0x%04x", pc); }

std::string Clean(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) c = '?';
  }
  return text;
}

}  // namespace sm89::analysis
