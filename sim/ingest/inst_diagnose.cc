// Says what is wrong with the tail of an instruction line. Runs once a refused file.
#include <algorithm>
#include <bit>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/ingest/inst_parser.h"

namespace sm89 {
namespace {

using Immediate = LineFormat::Immediate;

std::vector<std::string_view> TailTokens(std::string_view tail) {
  std::vector<std::string_view> tokens;
  Cursor cursor(tail);
  while (!cursor.AtEnd()) {
    const std::string_view token = cursor.Token();
    if (token == "STORE_DATA" || token == "Val" || token == "NoVal") break;
    tokens.push_back(token);
  }
  return tokens;
}

size_t ImmediatesOf(Immediate immediate) {
  switch (immediate) {
    case Immediate::kNone:
      return 0;
    case Immediate::kOptional:
      return 0;
    case Immediate::kOne:
      return 1;
    case Immediate::kTwo:
      return 2;
  }
  return 0;
}

bool LooksLikeAddress(std::string_view token) {
  return token.size() > 2 && token[0] == '0' && (token[1] == 'x' || token[1] == 'X');
}

Fault CountFault(const char* what, size_t want, size_t got) {
  Fault fault;
  fault.field = what;
  fault.value = absl::StrCat(got);
  fault.expected = absl::StrCat(want);
  fault.message = absl::StrCat("the line has ", got < want ? "too few " : "too many ", what);
  return fault;
}

// Places of the tokens that need 0x.
struct Need0x {
  size_t first = 0;
  size_t end = 0;
};

Fault UnreadableFault(const std::vector<std::string_view>& tokens, const Need0x& need = {}) {
  Fault fault;
  fault.field = "operands";
  for (const std::string_view token : tokens) {
    if (ParseSigned(token) || ParseUnsigned(token) || ParseHex(token)) continue;
    fault.value = Excerpt(token);
    break;
  }
  fault.expected = "hexadecimal addresses, decimal strides, deltas and immediates";
  fault.message = "an operand cannot be read";
  for (size_t i = need.first; fault.value.empty() && i < std::min(need.end, tokens.size()); ++i) {
    if (LooksLikeAddress(tokens[i])) continue;
    fault.value = Excerpt(tokens[i]);
    fault.expected = "an address with 0x: this tracer version may leave out the immediate behind it";
  }
  return fault;
}

}  // namespace

Fault DiagnoseTail(std::string_view tail, const TailShape& shape, LaneMask mask, Immediate immediate) {
  const std::vector<std::string_view> tokens = TailTokens(tail);
  const size_t immediates = ImmediatesOf(immediate);
  if (shape.is_tma) return UnreadableFault(tokens);
  if (shape.mem_width == 0 || mask == 0) {
    const bool may_have_more = immediate == Immediate::kOptional && tokens.size() == 1;
    if (shape.mem_width == 0 && tokens.size() != immediates && !may_have_more) {
      Fault fault = CountFault("columns behind the memory width", immediates, tokens.size());
      fault.facts = {{"want_tokens", absl::StrCat(immediates)}, {"got_tokens", absl::StrCat(tokens.size())}};
      return fault;
    }
    Fault fault = UnreadableFault(tokens);
    if (fault.value.empty()) {
      fault.value = absl::StrCat(tokens.size(), " columns");
      fault.expected = "nothing, \"0\", \"1 0x0 0\" or \"2 0x0\", then the immediates of this tracer version";
      fault.message = "the columns behind the memory width fit no address form of an empty mask";
      fault.facts = {{"got_tokens", absl::StrCat(tokens.size())}};
    }
    return fault;
  }
  const std::string_view mode = tokens.empty() ? std::string_view() : tokens[0];
  if (mode != "0" && mode != "1" && mode != "2") {
    Fault fault;
    fault.field = "address mode";
    fault.value = Excerpt(mode);
    fault.expected = "0 (list), 1 (base and stride) or 2 (base and deltas)";
    fault.message = mode.empty() ? "the addresses are missing" : "unknown address mode";
    fault.facts = {{"mode", fault.value}};
    return fault;
  }
  const auto lanes = static_cast<size_t>(std::popcount(mask));
  const size_t want = mode == "1" ? 2 : lanes;
  size_t got = tokens.size() - 1;
  got -= std::min(got, immediates);
  // Version 4 may have an immediate behind: what is no address, or one token too many, is taken for it.
  const bool extra = mode == "0" ? got > 0 && !LooksLikeAddress(tokens.back()) : got == want + 1;
  if (immediate == Immediate::kOptional && extra) --got;
  if (got == want) {
    const bool list = mode == "0" && immediate == Immediate::kOptional;
    return UnreadableFault(tokens, list ? Need0x{.first = 1, .end = want + 1} : Need0x{});
  }
  if (mode == "1") {
    Fault fault = CountFault("columns of base and stride", want, got);
    fault.facts = {{"want_tokens", absl::StrCat(want)}, {"got_tokens", absl::StrCat(got)}};
    return fault;
  }
  Fault fault = CountFault("addresses for the lanes of the mask", want, got);
  fault.facts = {{"want_addresses", absl::StrCat(want)}, {"got_addresses", absl::StrCat(got)}};
  return fault;
}

}  // namespace sm89
