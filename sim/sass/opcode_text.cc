#include "sim/sass/opcode_text.h"

#include <algorithm>
#include <vector>

namespace sm89::sass {
namespace {

// Modifiers that tell how a tool prints the word, not what the word is.
bool IsSpelling(std::string_view mnemonic, std::string_view modifier) {
  if (mnemonic == "IMAD") return modifier == "MOV" || modifier == "IADD" || modifier == "SHL";
  if (mnemonic == "WARPSYNC") return modifier == "EXCLUSIVE" || modifier == "COLLECTIVE";
  return mnemonic == "BAR" && modifier == "DEFER_BLOCKING";
}

// The mnemonic, then its modifiers in order.
std::vector<std::string_view> Parts(std::string_view opcode) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= opcode.size();) {
    const size_t end = std::min(opcode.find('.', begin), opcode.size());
    const std::string_view part = opcode.substr(begin, end - begin);
    if (parts.empty() || !IsSpelling(parts.front(), part)) parts.push_back(part);
    begin = end + 1;
  }
  std::sort(parts.begin() + 1, parts.end());
  return parts;
}

}  // namespace

bool SameOpcodeText(std::string_view a, std::string_view b) { return a == b || Parts(a) == Parts(b); }

}  // namespace sm89::sass
