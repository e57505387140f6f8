// Names of modifier values, as the disassembler prints them; "" where it prints nothing.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/str_split.h"
#include "sim/sass/form_table.h"

namespace sm89::sass {
namespace {

struct Entry {
  const char* key;
  Field field;
  const char* names;  // by value, comma-separated; "-" = no such value
};

constexpr const char* kCompare = "F,LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU,T";

const Entry kEntries[] = {
    // Arithmetic
    {"ftz", Field::kFtz, ",FTZ"},
    {"fmz", Field::kFmz, ",FMZ,FTZ,-"},
    {"rnd", Field::kRound, ",RM,RP,RZ"},
    {"rndp", Field::kRound, ",-,-,RZ,-,-,-,-"},
    {"rnz", Field::kRound, ",-,-,RZ"},
    {"irnd", Field::kIntRound, ",FLOOR,CEIL,TRUNC"},
    {"sat", Field::kSat, ",SAT"},
    {"relu", Field::kRelu, ",RELU"},
    {"satf", Field::kSatfinite, ",SATFINITE"},
    {"fcmp", Field::kFcmp, kCompare},
    {"dcmp", Field::kFcmp, "MIN,LT,EQ,LE,GT,NE,GE,NUM,NAN,LTU,EQU,LEU,GTU,NEU,GEU,MAX"},
    {"icmp", Field::kIcmp, "F,LT,EQ,LE,GT,NE,GE,T"},
    {"bop", Field::kBop, "AND,OR,XOR,-"},
    {"fmt", Field::kSigned, "U32,"},
    {"fmtr", Field::kSigned, ",S32"},
    {"fmtb", Field::kSigned, "U32,"},
    {"fmt8", Field::kSigned, "U8,S8"},
    {"sa8", Field::kSignedA, "U8,S8"},
    {"sa16", Field::kSignedA, "U16,S16"},
    {"sb8", Field::kSignedB, "U8,S8"},
    {"X", Field::kX, ",X"},
    {"ex", Field::kEx, ",EX"},
    {"hi", Field::kHi, ",HI"},
    {"sx32", Field::kSx32, ",SX32"},
    {"wide", Field::kWide, ",WIDE,HI"},
    {"shf", Field::kShfFmt, "S64,U64,S32,U32"},
    {"dir", Field::kRight, "L,R"},
    {"cw", Field::kWrap, ",W"},
    {"pmode", Field::kPrmtMode, ",F4E,B4E,RC8,ECL,ECR,RC16,-"},
    {"pop", Field::kLopPop, ",PAND"},
    {"scale", Field::kMulScale, "-,D8,D4,D2,,M2,M4,M8"},
    {"mufu", Field::kMufuOp, "COS,SIN,EX2,LG2,RCP,RSQ,RCP64H,RSQ64H,SQRT,TANH,-,-,-,-,-,-"},
    {"width", Field::kHalfWidth, ",F16"},
    {"hsel1", Field::kHalfSel, ",H1"},
    {"hsel", Field::kHalfSel, ",H1,-,-"},
    {"ofmt", Field::kHalfFmt, ",F32"},
    {"ofmt8", Field::kHalfFmt, ",F32,BF16_V2,E6M9_V2"},
    {"swzA", Field::kSwzA, ",F32,H0_H0,H1_H1"},
    {"swzB", Field::kSwzB, ",F32,H0_H0,H1_H1"},
    {"swzB8", Field::kSwzB, ",F32,H0_H0,H1_H1,H0_NH1,-,-,-"},
    {"swzC", Field::kSwzC, ",F32,H0_H0,H1_H1"},
    {"bval", Field::kBval, ",BF"},
    {"hand", Field::kHalfAnd, ",H_AND"},
    {"nan", Field::kNan, ",NAN"},
    {"xors", Field::kXorSign, ",XORSIGN"},
    {"dflo", Field::kDstFmt, "-,F16,F32,F64,BF16,-,-,-"},
    {"dflo2", Field::kDstFmt, "-,F16,,F64"},
    {"dint", Field::kDstFmt, "U8,S8,U16,S16,U32,,U64,S64"},
    {"di2i", Field::kDstFmt, "U8,S8,U16,S16"},
    {"di2ip", Field::kDstFmt, "U8,S8,U16,S16,U2,S2,U4,S4"},
    {"sflo", Field::kSrcFmt, "-,F16,F32,F64"},
    {"sfloh", Field::kSrcFmt, "-,F16,,F64"},
    {"sint", Field::kSrcFmt, "U8,S8,U16,S16,U32,,U64,S64"},
    {"sintp", Field::kSrcFmt, "U8,S8,U16,S16,U32,S32,U64,S64"},
    {"dpack", Field::kDstFmt, "F16,BF16,-,-,E5M2,E4M3,-,-"},
    {"spack", Field::kSrcFmt, "F32,F16,E5M2,E4M3"},
    {"ntz", Field::kNtz, ",NTZ"},
    {"merge", Field::kMerge, "PACK_AB,MERGE_C,UNPACK_B,-,UNPACK_B_MERGE_C,PACK_AB_MERGE_C,-,-"},
    {"sh", Field::kFlo, ",SH"},
    {"vred", Field::kVabsRed, ",ACC"},
    {"dp", Field::kDpMode, "4A,2A.LO,-,2A.HI"},
    // Tensor
    {"hsz", Field::kMmaSize, "1688,16816,1684,-"},
    {"hspsz", Field::kMmaSize, "1688,16816,-,16832"},
    {"isz", Field::kMmaSize, "8816,-,8832,-,16816,16832,16864,-"},
    {"ispsz", Field::kMmaSize, "-,-,-,-,-,16832,16864,168128"},
    {"bsz", Field::kMmaSize, "88128,168128,168256,-"},
    {"dsz", Field::kMmaSize, "884,-,-,-"},
    {"qsz", Field::kMmaSize, "16816,16832,-,-"},
    {"qspsz", Field::kMmaSize, "-,16832,16864,-"},
    {"acc", Field::kMmaAcc, "F16,F32"},
    {"hsrc", Field::kMmaSrc, ",BF16,TF32,E6M9"},
    {"ia", Field::kMmaA, "U8,S8,-,-,U4,S4,-,-"},
    {"ib", Field::kMmaB, "U8,S8,-,-,U4,S4,-,-"},
    {"qa", Field::kMmaA, "E4M3,E5M2"},
    {"qb", Field::kMmaB, "E4M3,E5M2"},
    {"sp", Field::kMmaSparse, ",SP"},
    {"spf", Field::kMmaSparseFmt, ",REGOFFSET"},
    {"bmma", Field::kMmaBop, "XOR,-,AND,-"},
    {"popc", Field::kMmaPopc, ",POPC"},
    {"msat", Field::kMmaSat, ",SAT"},
    {"colb", Field::kMmaColB, "ROW,COL"},
    {"msz", Field::kMatrixSize, "16,U4TO8,S4TO8,U2TO4,S2TO4,-,-,-"},
    {"lmode", Field::kMatrixMode, "M88,MT88,M816,M832"},
    {"mmode", Field::kMatrixMode, "MT88,M832,M864,-"},
    {"mnum", Field::kMatrixNum, ",2,4,-"},
    // Memory
    {"e", Field::kE, ",E"},
    {"sz", Field::kMemSize, "U8,S8,U16,S16,,64,128,U.128"},
    {"sz64", Field::kMemSize, "U8,S8,U16,S16,,64,-,-"},
    {"sz128", Field::kMemSize, "U8,S8,U16,S16,,64,128,-"},
    {"lsz", Field::kMemSize, "U8,S8,U16,S16,,64,128,-,U.U8,U.S8,U.U16,U.S16,U,U.64,U.128,-"},
    {"gsz", Field::kMemSize, "-,-,-,-,,64,128,-"},
    {"asz", Field::kAtomSize, ",S32,64,F32.FTZ.RN,F16x2.RN,S64,F64.RN,-"},
    {"asz9", Field::kAtomSize90, ",S32,64,S64,-,-,-,-"},
    {"fasz", Field::kFloatAtomSize, "F16x2.RN,-,-,-,-,-,-,-,-,F32.FTZ.RN,-,-,-,-,-,F64.RN"},
    {"cassz", Field::kAtomSize, ",S32,64,-,-,-,-,-"},
    {"ssz", Field::kAtomSharedSize, ",S32,64,-"},
    {"susz", Field::kAtomSharedSize, "32,-,64,-,-,-,-,-"},
    {"aop", Field::kAtomOp, "ADD,MIN,MAX,INC,DEC,AND,OR,XOR,EXCH,SAFEADD,-,-,-,-,-,-"},
    {"sop", Field::kAtomOp, "ADD,MIN,MAX,INC,DEC,AND,OR,XOR,EXCH,-,-,-,-,-,-,-"},
    {"suop", Field::kAtomOp, "-,-,-,-,-,-,-,-,-,ARRIVE,POPC.INC,-,-,-,-,-"},
    {"suop9", Field::kAtomOp, "-,-,-,-,-,-,-,-,-,-,-,POPC.INC,-,-,-,-"},
    {"rop", Field::kAtomOp, "ADD,MIN,MAX,INC,DEC,AND,OR,XOR"},
    {"cas", Field::kCas, ",CAS"},
    {"cast", Field::kCast, ",CAST"},
    {"castas", Field::kCas, ","},
    {"spin", Field::kSpin, ",SPIN"},
    {"cop", Field::kCop, "EF,,EL,LU,EU,NA,-,-"},
    {"mem", Field::kMem,
     ",-,WEAK.SM,-,CONSTANT,STRONG.SM,STRONG.GPU.PRIVATE,STRONG.GPU,MMIO.GPU,-,STRONG.SYS,-,MMIO.SYS,-,-,-"},
    {"desc", Field::kMemDesc, ","},
    {"l2", Field::kL2Hint, ","},
    {"ltc", Field::kPrefetch, ",LTC64B,LTC128B,LTC256B"},
    {"a64", Field::kAddr64Offset, ",64"},
    {"stride", Field::kStride, ",X4,X8,X16"},
    {"loc", Field::kAccess, "BYPASS,"},
    {"fill", Field::kFill, ",ZFILL"},
    {"ra64", Field::kRa64, ",64"},
    {"ad", Field::kAdMode, ",IL,IS,ISL"},
    {"cctl", Field::kCctlOp, "PF1,PF2,WB,IV,IVALL,RS,IVALLP,WBALL,WBALLP,PML2,DML2,RML2,-,-,-,-"},
    {"cache", Field::kCctlCache, ",U,C,I,-,-,-,-"},
    {"sem", Field::kMembarSem, "SC,ALL,,-"},
    {"sco", Field::kMembarScope, "CTA,SM,GPU,SYS,-,VC,-,-"},
    {"mmio", Field::kMmio, ",MMIO"},
    {"space", Field::kQuerySpace, "G,L,S,-"},
    {"arrive", Field::kArriveOp, "LDGSTSBAR,ARVCNT,TRANSCNT,-"},
    // Warp and control
    {"shfl", Field::kShflMode, "IDX,UP,DOWN,BFLY"},
    {"vote", Field::kVoteOp, "ALL,ANY,EQ,-"},
    {"match", Field::kMatchAny, "ALL,ANY"},
    {"match64", Field::kMatch64, ",U64"},
    {"redux", Field::kReduxOp, ",OR,XOR,SUM,MIN,MAX,-,-"},
    {"barmode", Field::kBarMode, "SYNC,ARV,RED,SCAN,SYNCALL,-,-,-"},
    {"barred", Field::kBarRed, "POPC,AND,OR,-"},
    {"defer", Field::kDeferBlocking, ",DEFER_BLOCKING"},
    {"depth", Field::kDepth, ",INC,DEC,-"},
    {"cdepth", Field::kDepth, "INC,NOINC"},
    {"rdepth", Field::kDepth, "DEC,NODEC"},
    {"cond", Field::kCond, ",U,DIV,CONV"},
    {"wsync", Field::kWarpsyncMode, ",-,COLLECTIVE,ALL"},
    {"wsync8", Field::kWarpsyncMode, ",EXCLUSIVE,EXCLUSIVE,-"},
    {"exitm", Field::kExitMode, ",KEEPREFCOUNT,PREEMPTED,-"},
    {"noat", Field::kNoAtExit, ",NO_ATEXIT"},
    {"abs", Field::kAbsolute, ",ABS"},
    {"rel", Field::kRelative, ",REL"},
    {"clear", Field::kClear, ",CLEAR"},
    {"pquad", Field::kPquad, ",PQUAD"},
    {"bsel", Field::kByteSel, ",B1,B2,B3"},
    {"rand", Field::kRand, ",RAND"},
    {"warp", Field::kOptWarp, ",WARP"},
    {"le", Field::kLe, ",LE"},
    {"bpt", Field::kBpt, "-,-,PAUSE,TRAP,-,-,PAUSE_QUIET,-"},
    {"is64", Field::k64, "32,"},
    {"result", Field::kResult, "-,RESULT,-,-"},
    // Texture and surface
    {"dim", Field::kDim, "1D,2D,3D,CUBE,ARRAY_1D,ARRAY_2D,-,ARRAY_CUBE"},
    {"sdim", Field::kDim, "1D,1D_BUFFER,1D_ARRAY,2D,2D_ARRAY,3D,-,-"},
    {"lod", Field::kLod, ",LZ,LB,LL,LC,LB.LC,LC.FDV,-"},
    {"aoffi", Field::kAoffi, ",AOFFI"},
    {"dc", Field::kDc, ",DC"},
    {"ndv", Field::kNdv, ",NDV"},
    {"nodep", Field::kNodep, ",NODEP"},
    {"scr", Field::kScr, ",SCR"},
    {"f16rm", Field::kF16rm, ",F16.RN,F16.RZ,-"},
    {"ms", Field::kMs, ",MS"},
    {"cl", Field::kCl, ",CL"},
    {"lc", Field::kLc, ",LC"},
    {"toff", Field::kToff, ",AOFFI,PTP,-"},
    {"comp", Field::kComp, "R,G,B,A"},
    {"query", Field::kQuery, "TEX_HEADER_DIMENSION,TEX_HEADER_TEXTURE_TYPE,TEX_HEADER_SAMPLER_POS,-"},
    {"ba", Field::kBa, ",BA"},
    {"clamp", Field::kClamp, "IGN,,TRAP,-"},
    {"priv", Field::kPrivate, ",PRIVATE"},
    // One bit and eight bits whose meaning is not settled; never printed.
    {"f32", Field::kRaw, ",F32"},
    {"raw1", Field::kRaw, ","},
    {"raw8", Field::kRaw, ""},
};

std::map<std::string_view, NameList> BuildLists() {
  std::map<std::string_view, NameList> lists;
  for (const Entry& entry : kEntries) {
    NameList list;
    list.field = entry.field;
    if (*entry.names != '\0') list.names = absl::StrSplit(entry.names, ',');
    lists.emplace(entry.key, std::move(list));
  }
  return lists;
}

}  // namespace

const NameList* FindNameList(std::string_view key) {
  static const std::map<std::string_view, NameList> lists = BuildLists();
  const auto found = lists.find(key);
  return found == lists.end() ? nullptr : &found->second;
}

}  // namespace sm89::sass
