// ISETP.
#include <array>
#include <utility>

#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/emu/alu_scalar.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;

template <uint32_t kCode, bool kSigned>
LaneMask CompareRows(const uint32_t* a, const uint32_t* b) {
  LaneMask mask = 0;
  for (int i = 0; i < kWarpSize; ++i) {
    const auto sa = static_cast<int32_t>(a[i]), sb = static_cast<int32_t>(b[i]);
    bool holds = false;
    if constexpr (kCode == sass::kIcT) holds = true;
    if constexpr (kCode == sass::kIcEq) holds = a[i] == b[i];
    if constexpr (kCode == sass::kIcNe) holds = a[i] != b[i];
    if constexpr (kCode == sass::kIcLt) holds = kSigned ? sa < sb : a[i] < b[i];
    if constexpr (kCode == sass::kIcLe) holds = kSigned ? sa <= sb : a[i] <= b[i];
    if constexpr (kCode == sass::kIcGt) holds = kSigned ? sa > sb : a[i] > b[i];
    if constexpr (kCode == sass::kIcGe) holds = kSigned ? sa >= sb : a[i] >= b[i];
    mask |= (0u - static_cast<uint32_t>(holds)) & kLaneBit[i];
  }
  return mask;
}

// EX: these are the upper words; where they are equal the lower words' result (Pr) decides.
template <uint32_t kCode, bool kSigned, bool kEx>
void SetPredicate(Exec& x, const Compiled& c) {
  ScratchRow sa, sb;
  const uint32_t* a = ReadInt(x, c.src[kSrcA], sa).lane.data();
  const uint32_t* b = ReadInt(x, c.src[kSrcB], sb).lane.data();
  LaneMask holds = CompareRows<kCode, kSigned>(a, b);
  if constexpr (kEx) {
    const LaneMask equal = CompareRows<sass::kIcEq, false>(a, b);
    holds = (holds & ~equal) | (ReadPred(x, c.r) & equal);
  }
  const LaneMask other = ReadPred(x, c.p);
  WritePred(x, c.pu, Combine(c.mod[0], holds, other));
  WritePred(x, c.pv, Combine(c.mod[0], ~holds, other));
}

template <bool kSigned, bool kEx, size_t... kCodes>
constexpr std::array<Handler, 8> Handlers(std::index_sequence<kCodes...>) {
  return {SetPredicate<kCodes, kSigned, kEx>...};
}

constexpr std::array<std::array<Handler, 8>, 4> kHandlers = {
    Handlers<false, false>(std::make_index_sequence<8>()),
    Handlers<true, false>(std::make_index_sequence<8>()),
    Handlers<false, true>(std::make_index_sequence<8>()),
    Handlers<true, true>(std::make_index_sequence<8>())};

}  // namespace

Handler ChooseCompare(const Instruction& inst, Compiled* c) {
  c->mod[0] = inst.Get(Field::kBop);
  if (c->mod[0] > sass::kBopXor) return nullptr;
  const uint32_t table = (inst.Get(Field::kSigned) != 0 ? 1 : 0) + (inst.Get(Field::kEx) != 0 ? 2 : 0);
  return kHandlers[table][inst.Get(Field::kIcmp) & 7];
}

}  // namespace sm89::emu
