#include "sim/isa/foreign.h"

#include <algorithm>
#include <array>

#include "sim/isa/decoded_inst.h"
#include "sim/isa/opcode_table.h"

namespace sm89 {
namespace {

constexpr std::array<uint32_t, 6> kMappable = {70, 75, 80, 86, 89, 90};

// Only renamed opcodes stand here; what SM89 spells the same needs no row. Absent on purpose, because
// nothing on SM89 does the same work: warp-group matrix multiplies (HGMMA IGMMA QGMMA BGMMA WARPGROUP), the
// tensor memory accelerator (UTMA*, UBLK*), thread-block clusters (UCGABAR_*, USETSHMSZ), mbarrier
// transactions (SYNCS), asynchronous stores (STAS, STSM), register reallocation (USETMAXREG), ELECT, FENCE,
// ACQBULK, PREEXIT, and from sm_70/75 the graphics-only CSMTEST and the trap return RTT.
constexpr std::array kForeign = {
    ForeignOpcode{70, 75, "VOTE_VTG", "VOTE", ""},
    ForeignOpcode{90, 90, "REDG", "RED", ""},
    ForeignOpcode{90, 90, "VIADD", "IADD3", ""},
    ForeignOpcode{90, 90, "VIMNMX", "IMNMX", ""},
    ForeignOpcode{90, 90, "VIMNMX3", "IMNMX", "SM89 needs two instructions; one is counted"},
    ForeignOpcode{90, 90, "VIADDMNMX", "IMNMX", "SM89 needs IADD3 and IMNMX; one instruction is counted"},
    ForeignOpcode{90, 90, "CGAERRBAR", "ERRBAR", ""},
    ForeignOpcode{90, 90, "ENDCOLLECTIVE", "NOP", "bookkeeping of WARPSYNC.COLLECTIVE"},
};

}  // namespace

std::span<const ForeignOpcode> ForeignOpcodes() { return kForeign; }

bool IsMappableVersion(uint32_t version) {
  return std::find(kMappable.begin(), kMappable.end(), version) != kMappable.end();
}

std::string_view CounterpartOnSm89(std::string_view base_mnemonic, uint32_t binary_version) {
  if (!IsMappableVersion(binary_version)) return {};
  if (const OpcodeRow* row = FindOpcode(base_mnemonic)) return row->mnemonic;
  for (const ForeignOpcode& f : kForeign) {
    if (f.mnemonic == base_mnemonic && f.first_version <= binary_version &&
        binary_version <= f.last_version) {
      return f.counterpart;
    }
  }
  return {};
}

}  // namespace sm89
