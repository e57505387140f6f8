// Names of mnemonics, modifier fields and their values.
//
// A Field means the same thing in every form that has it, so a reader of Instruction::Get never needs the
// form. Values are the machine's own numbers.
#pragma once

#include <cstdint>
#include <string_view>

namespace sm89::sass {

// Base mnemonics: what stands before the first '.' of the disassembly, tensor and sparse forms sharing one.
// sm_89 first, then what only sm_90 has.
enum class Op : uint16_t {
  kArrives,
  kAtom,
  kAtomg,
  kAtoms,
  kB2r,
  kBar,
  kBmma,
  kBmov,
  kBmsk,
  kBpt,
  kBra,
  kBreak,
  kBrev,
  kBrx,
  kBrxu,
  kBssy,
  kBsync,
  kCall,
  kCctl,
  kCctll,
  kCs2r,
  kDadd,
  kDepbar,
  kDfma,
  kDmma,
  kDmul,
  kDsetp,
  kErrbar,
  kExit,
  kF2f,
  kF2fp,
  kF2i,
  kF2ip,
  kFadd,
  kFchk,
  kFfma,
  kFlo,
  kFmnmx,
  kFmul,
  kFrnd,
  kFsel,
  kFset,
  kFsetp,
  kFswzadd,
  kGetlmembase,
  kHadd2,
  kHfma2,
  kHmma,
  kHmnmx2,
  kHmul2,
  kHset2,
  kHsetp2,
  kI2f,
  kI2fp,
  kI2i,
  kI2ip,
  kIabs,
  kIadd3,
  kIdp,
  kImad,
  kImma,
  kImnmx,
  kIsetp,
  kJmp,
  kJmx,
  kJmxu,
  kKill,
  kLd,
  kLdc,
  kLdg,
  kLdgdepbar,
  kLdgsts,
  kLdl,
  kLds,
  kLdsm,
  kLea,
  kLepc,
  kLop3,
  kMatch,
  kMembar,
  kMov,
  kMovm,
  kMufu,
  kNanosleep,
  kNop,
  kP2r,
  kPlop3,
  kPmtrig,
  kPopc,
  kPrmt,
  kQmma,
  kQspc,
  kR2b,
  kR2p,
  kR2ur,
  kRed,
  kRedux,
  kRet,
  kRpcmov,
  kS2r,
  kS2ur,
  kSel,
  kSetlmembase,
  kSgxt,
  kShf,
  kShfl,
  kSt,
  kStg,
  kStl,
  kSts,
  kSuatom,
  kSuld,
  kSured,
  kSust,
  kTex,
  kTld,
  kTld4,
  kTmml,
  kTxd,
  kTxq,
  kUbmsk,
  kUbrev,
  kUclea,
  kUf2fp,
  kUflo,
  kUiadd3,
  kUimad,
  kUisetp,
  kUldc,
  kUlea,
  kUlop3,
  kUmov,
  kUp2ur,
  kUplop3,
  kUpopc,
  kUprmt,
  kUr2up,
  kUsel,
  kUsgxt,
  kUshf,
  kVabsdiff,
  kVabsdiff4,
  kVote,
  kVoteu,
  kWarpsync,
  kYield,
  // sm_90 only
  kCgaerrbar,
  kEndcollective,
  kRedg,
  kUcgabarArv,
  kUcgabarWait,
  kViadd,
  kViaddmnmx,
  kVimnmx,
  kVimnmx3,
  kCount,
};
// "IADD3".
std::string_view Name(Op op);

// Modifier fields. The comment names the enum (below) or the meaning of value 1.
enum class Field : uint8_t {
  kNone,
  // Arithmetic
  kFtz,        // 1 = FTZ
  kFmz,        // Fmz: 0 none, 1 FMZ, 2 FTZ
  kRound,      // Round (RN RM RP RZ)
  kIntRound,   // IntRound (ROUND FLOOR CEIL TRUNC)
  kSat,        // 1 = SAT
  kRelu,       // 1 = RELU
  kSatfinite,  // 1 = SATFINITE
  kFcmp,       // Fcmp
  kIcmp,       // Icmp
  kBop,        // Bop
  kSigned,     // 0 U32, 1 S32 (also U8/S8, U16/S16 where the form says so)
  kSignedA,
  kSignedB,    // IDP: operand A / B signed
  kX,          // 1 = X (carry in)
  kEx,         // 1 = EX (ISETP)
  kHi,         // 1 = HI
  kSx32,       // 1 = SX32
  kWide,       // IMAD/UIMAD/IDP variants: Wide
  kShfFmt,     // ShfFmt
  kRight,      // 0 L, 1 R
  kWrap,       // 0 C (clamp), 1 W (wrap)
  kPrmtMode,   // PrmtMode
  kLopPop,     // 0 POR, 1 PAND
  kMulScale,   // FMUL: raw; 4 = none, 1 D8 2 D4 3 D2 5 M2 6 M4 7 M8
  kMufuOp,     // MufuOp
  kHalfWidth,  // MUFU: 1 = F16 operand
  kHalfSel,    // 0 H0, 1 H1 (also byte number where the form extracts one)
  kHalfFmt,    // HalfFmt of HADD2/HMUL2/HFMA2/HMNMX2 (F16_V2, F32, BF16_V2)
  kSwzA,
  kSwzB,
  kSwzC,     // HalfSwizzle
  kBval,     // 0 BM, 1 BF
  kHalfAnd,  // 1 = H_AND
  kNan,      // 1 = NAN
  kXorSign,  // 1 = XORSIGN
  kDstFmt,
  kSrcFmt,   // IntFmt or FloatFmt, by mnemonic (F2I: dst Int, src Float; I2F: the reverse; F2F both Float;
             // F2FP: PackFmt; I2I/I2IP/F2IP: PackIntFmt raw)
  kNtz,      // F2I: 1 = NTZ
  kMerge,    // F2FP: F2fpMerge
  kFlo,      // 1 = SH
  kVabsRed,  // VABSDIFF4: 0 SIMD_MRG, 1 ACC
  kDpMode,   // IDP: 0 4A, 1 2A.LO, 2... raw: 2 = 2A.LO / 3 = 2A.HI as the enum DpMode
  // Tensor
  kMmaSize,  // raw, by mnemonic (see MmaShape in decode.h)
  kMmaAcc,   // 0 F16, 1 F32
  kMmaSrc,   // HMMA: 0 F16, 1 BF16, 2 TF32
  kMmaA,
  kMmaB,          // IMMA: 0 U8 1 S8 4 U4 5 S4; QMMA: 0 E4M3 1 E5M2
  kMmaSparse,     // 1 = SP
  kMmaSparseFmt,  // 0 TID, 1 REGOFFSET
  kMmaBop,        // BMMA: 0 XOR, 2 AND
  kMmaPopc,       // BMMA: 1 = POPC
  kMmaSat,
  kMmaColB,
  kMatrixSize,  // LDSM/MOVM: LdsmSize
  kMatrixMode,  // LDSM: 0 M88 1 MT88 2 M816 3 M832; MOVM: 0 MT88 1 M832 2 M864
  kMatrixNum,   // LDSM: 0 = 1, 1 = 2, 2 = 4
  // Memory
  kE,               // 1 = 64-bit address
  kMemSize,         // MemSize (LDS: LdsSize has 8 + MemSize for .U)
  kAtomSize,        // AtomSize of ATOM ATOMG RED (and CAS)
  kAtomSize90,      // sm_90: 0 U32 1 S32 2 U64 3 S64 (AtomSizeOf in decode.h gives one numbering)
  kFloatAtomSize,   // sm_90 floating-point atomics: 0 F16x2 9 F32 15 F64
  kAtomSharedSize,  // ATOMS: 0 U32 1 S32 2 U64
  kAtomOp,          // AtomOp
  kCas,             // 1 = the compare-and-swap form; value: 0 CAS, 1 CAST through kCast
  kCast,
  kSpin,
  kCop,      // CacheOp
  kMem,      // MemSem
  kMemDesc,  // 1 = descriptor operand
  kL2Hint,
  kPrefetch,      // 1; 0 none 1 64B 2 128B 3 256B
  kAddr64Offset,  // input_reg_sz_64_dist
  kStride,        // 0 X1 1 X4 2 X8 3 X16
  kAccess,        // LDGSTS: 0 BYPASS, 1 through the L1
  kFill,          // LDGSTS: 1 = ZFILL
  kRa64,          // LDGSTS
  kAdMode,        // LDC: 0 IA 1 IL 2 IS 3 ISL
  kUnsignedIndex,
  kCctlOp,
  kCctlCache,
  kMembarSem,
  kMembarScope,
  kMmio,
  kQuerySpace,  // 0 G 1 L 2 S
  kArriveOp,
  // Warp, control
  kShflMode,  // 0 IDX 1 UP 2 DOWN 3 BFLY
  kVoteOp,    // 0 ALL 1 ANY 2 EQ
  kMatchAny,  // 0 ALL, 1 ANY
  kMatch64,   // 1 = U64
  kReduxOp,   // 0 AND 1 OR 2 XOR 3 SUM 4 MIN 5 MAX
  kBarMode,   // BarMode
  kBarRed,    // 0 POPC 1 AND 2 OR
  kDeferBlocking,
  kDepth,         // BRA BRX: 1 INC 2 DEC; CALL: 1 NOINC; RET: 1 NODEC
  kCond,          // BRA: 1 U, 2 DIV, 3 CONV
  kWarpsyncMode,  // 0 none; 1, 2 EXCLUSIVE (sm_8x); 2 COLLECTIVE, 3 ALL: no mask operand (sm_90)
  kExitMode,
  kNoAtExit,
  kAbsolute,  // 1 = the address is not relative: slot kOffset
  kRelative,
  kClear,
  kPquad,
  kByteSel,
  kRand,
  kOptWarp,
  kLe,
  kBpt,
  k64,  // CS2R and others: 1 = 64 bit
  kResult,
  // Texture and surface: decoded, printed, never executed
  kDim,
  kLod,
  kAoffi,
  kDc,
  kNdv,
  kNodep,
  kScr,
  kF16rm,
  kMs,
  kCl,
  kLc,
  kToff,
  kComp,
  kQuery,
  kBa,
  kClamp,
  kPrivate,
  // Bits whose meaning is not settled; value kept
  kRaw,
  kCount,
};

enum Fmz : uint32_t { kFmzNone = 0, kFmzFmz = 1, kFmzFtz = 2 };
enum Round : uint32_t { kRn = 0, kRm = 1, kRp = 2, kRz = 3 };
enum IntRound : uint32_t { kIrRound = 0, kIrFloor = 1, kIrCeil = 2, kIrTrunc = 3 };
// Fcmp of DSETP, FSETP, FSET, HSET2 ...: 0 F (DSETP: MIN) .. 15 T (DSETP: MAX).
enum Fcmp : uint32_t {
  kFcF,
  kFcLt,
  kFcEq,
  kFcLe,
  kFcGt,
  kFcNe,
  kFcGe,
  kFcNum,
  kFcNan,
  kFcLtu,
  kFcEqu,
  kFcLeu,
  kFcGtu,
  kFcNeu,
  kFcGeu,
  kFcT
};
enum Icmp : uint32_t { kIcF, kIcLt, kIcEq, kIcLe, kIcGt, kIcNe, kIcGe, kIcT };
enum Bop : uint32_t { kBopAnd = 0, kBopOr = 1, kBopXor = 2 };
enum Wide : uint32_t { kWideLo = 0, kWideWide = 1, kWideHi = 2 };
enum ShfFmt : uint32_t { kShfS64 = 0, kShfU64 = 1, kShfS32 = 2, kShfU32 = 3 };
enum PrmtMode : uint32_t {
  kPrmtIdx = 0,
  kPrmtF4e = 1,
  kPrmtB4e = 2,
  kPrmtRc8 = 3,
  kPrmtEcl = 4,
  kPrmtEcr = 5,
  kPrmtRc16 = 6
};
enum MufuOp : uint32_t {
  kMufuCos = 0,
  kMufuSin = 1,
  kMufuEx2 = 2,
  kMufuLg2 = 3,
  kMufuRcp = 4,
  kMufuRsq = 5,
  kMufuRcp64h = 6,
  kMufuRsq64h = 7,
  kMufuSqrt = 8,
  kMufuTanh = 9
};
enum HalfFmt : uint32_t { kHalfF16 = 0, kHalfF32 = 1, kHalfBf16 = 2, kHalfE6m9 = 3 };
enum HalfSwizzle : uint32_t { kSwzH1H0 = 0, kSwzF32 = 1, kSwzH0H0 = 2, kSwzH1H1 = 3, kSwzH0Nh1 = 4 };
enum IntFmt : uint32_t {
  kFmtU8 = 0,
  kFmtS8 = 1,
  kFmtU16 = 2,
  kFmtS16 = 3,
  kFmtU32 = 4,
  kFmtS32 = 5,
  kFmtU64 = 6,
  kFmtS64 = 7
};
enum FloatFmt : uint32_t { kFmtF16 = 1, kFmtF32 = 2, kFmtF64 = 3, kFmtBf16 = 4 };
// F2FP destination and source formats.
enum PackFmt : uint32_t { kPackF16 = 0, kPackBf16 = 1, kPackTf32 = 2, kPackE5m2 = 4, kPackE4m3 = 5 };
enum PackSrc : uint32_t { kPackSrcF32 = 0, kPackSrcF16 = 1, kPackSrcE5m2 = 2, kPackSrcE4m3 = 3 };
enum F2fpMerge : uint32_t { kPackAb = 0, kMergeC = 1, kUnpackB = 2, kUnpackBMergeC = 4, kPackAbMergeC = 5 };
enum MemSize : uint32_t {
  kSzU8 = 0,
  kSzS8 = 1,
  kSzU16 = 2,
  kSzS16 = 3,
  kSz32 = 4,
  kSz64 = 5,
  kSz128 = 6,
  kSzU128 = 7
};
enum AtomSize : uint32_t {
  kAtU32 = 0,
  kAtS32 = 1,
  kAtU64 = 2,
  kAtF32 = 3,
  kAtF16x2 = 4,
  kAtS64 = 5,
  kAtF64 = 6,
  kAtBf16x2 = 7
};
enum AtomOp : uint32_t {
  kAopAdd = 0,
  kAopMin = 1,
  kAopMax = 2,
  kAopInc = 3,
  kAopDec = 4,
  kAopAnd = 5,
  kAopOr = 6,
  kAopXor = 7,
  kAopExch = 8,
  kAopArriveOrSafeAdd = 9,
  kAopPopcInc = 10,
  kAopPopcIncSm90 = 11
};
enum BarMode : uint32_t { kBarSync = 0, kBarArv = 1, kBarRed = 2, kBarScan = 3, kBarSyncAll = 4 };

}  // namespace sm89::sass
