// Mnemonics in the order of Op.
#include <array>

#include "sim/base/assert.h"
#include "sim/sass/fields.h"

namespace sm89::sass {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Op::kCount)> kNames = {
    "ARRIVES",       "ATOM",      "ATOMG",       "ATOMS",        "B2R",         "BAR",       "BMMA",
    "BMOV",          "BMSK",      "BPT",         "BRA",          "BREAK",       "BREV",      "BRX",
    "BRXU",          "BSSY",      "BSYNC",       "CALL",         "CCTL",        "CCTLL",     "CS2R",
    "DADD",          "DEPBAR",    "DFMA",        "DMMA",         "DMUL",        "DSETP",     "ERRBAR",
    "EXIT",          "F2F",       "F2FP",        "F2I",          "F2IP",        "FADD",      "FCHK",
    "FFMA",          "FLO",       "FMNMX",       "FMUL",         "FRND",        "FSEL",      "FSET",
    "FSETP",         "FSWZADD",   "GETLMEMBASE", "HADD2",        "HFMA2",       "HMMA",      "HMNMX2",
    "HMUL2",         "HSET2",     "HSETP2",      "I2F",          "I2FP",        "I2I",       "I2IP",
    "IABS",          "IADD3",     "IDP",         "IMAD",         "IMMA",        "IMNMX",     "ISETP",
    "JMP",           "JMX",       "JMXU",        "KILL",         "LD",          "LDC",       "LDG",
    "LDGDEPBAR",     "LDGSTS",    "LDL",         "LDS",          "LDSM",        "LEA",       "LEPC",
    "LOP3",          "MATCH",     "MEMBAR",      "MOV",          "MOVM",        "MUFU",      "NANOSLEEP",
    "NOP",           "P2R",       "PLOP3",       "PMTRIG",       "POPC",        "PRMT",      "QMMA",
    "QSPC",          "R2B",       "R2P",         "R2UR",         "RED",         "REDUX",     "RET",
    "RPCMOV",        "S2R",       "S2UR",        "SEL",          "SETLMEMBASE", "SGXT",      "SHF",
    "SHFL",          "ST",        "STG",         "STL",          "STS",         "SUATOM",    "SULD",
    "SURED",         "SUST",      "TEX",         "TLD",          "TLD4",        "TMML",      "TXD",
    "TXQ",           "UBMSK",     "UBREV",       "UCLEA",        "UF2FP",       "UFLO",      "UIADD3",
    "UIMAD",         "UISETP",    "ULDC",        "ULEA",         "ULOP3",       "UMOV",      "UP2UR",
    "UPLOP3",        "UPOPC",     "UPRMT",       "UR2UP",        "USEL",        "USGXT",     "USHF",
    "VABSDIFF",      "VABSDIFF4", "VOTE",        "VOTEU",        "WARPSYNC",    "YIELD",     "CGAERRBAR",
    "ENDCOLLECTIVE", "REDG",      "UCGABAR_ARV", "UCGABAR_WAIT", "VIADD",       "VIADDMNMX", "VIMNMX",
    "VIMNMX3",
};
static_assert(!kNames.back().empty(), "one name a mnemonic");

}  // namespace

std::string_view Name(Op op) {
  SM89_ASSERT(op < Op::kCount, "mnemonic out of range");
  return kNames[static_cast<size_t>(op)];
}

}  // namespace sm89::sass
