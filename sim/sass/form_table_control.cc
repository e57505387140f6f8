// Control flow, warp-wide operations, special registers; the uniform datapath.
#include "sim/sass/form_table.h"

namespace sm89::sass {
namespace {

// sm_90 keeps the low eight bits of a branch distance in [23:16].
const Row kControl[] = {
    {Op::kBra, "0947", "Pp:? Target=T81:34:x4", "depth@86:85 cond@33:32", "", 80, 89},
    {Op::kBra, "0947", "Pp:? Target=T81:34+23:16:x4", "depth@86:85 cond@33:32", "", 90},
    {Op::kBra, "1947", "Ua=UR29:24:i30 Pp:? Target=T81:34:x4", "depth@86:85 cond@33:32", "", 80, 89},
    {Op::kBra, "1947", "Ua=UR29:24:i30 Pp:? Target=T81:34+23:16:x4", "depth@86:85 cond@33:32", "", 90},
    {Op::kBrx, "0949", "Pp:? A:*2 Target=T81:34:jx4", "depth@86:85", "", 80, 89},
    {Op::kBrx, "0949", "Pp:? A:*2 Target=T81:34+23:16:jx4", "depth@86:85", "", 90},
    {Op::kBssy, "0945", "Pp:? Bar Target=T63:34:x4"},
    {Op::kBsync, "0941", "Pp:? Bar"},
    {Op::kBreak, "0942", "Pp:? Bar"},
    {Op::kBmov, "0355", "D Cbu", ".32 clear@84"},
    {Op::kBmov, "0356", "Cbu=Y29:24 B", ".32 pquad@84"},
    {Op::kCall, "0343", "Pp:? A:*2 Off=S81:34:?0x4", "abs=1 cdepth@86", "", 80, 89},
    {Op::kCall, "0344", "Pp:? A:*2 Target=T81:34:jx4", "rel=1 cdepth@86", "", 80, 89},
    {Op::kCall, "0943", "Pp:? Off=I80:34:x4", "abs=1 cdepth@86", "", 80, 89},
    {Op::kCall, "0944", "Pp:? Target=T81:34:x4", "rel=1 cdepth@86", "", 80, 89},
    {Op::kCall, "0343", "Pp:? A:*2 Off=S81:34+23:16:?0x4", "abs=1 cdepth@86", "", 90},
    {Op::kCall, "0344", "Pp:? A:*2 Target=T81:34+23:16:jx4", "rel=1 cdepth@86", "", 90},
    {Op::kCall, "0944", "Pp:? Target=T81:34+23:16:x4", "rel=1 cdepth@86", "", 90},
    {Op::kRet, "0950", "Pp:? A:*2 Off=S81:34:jx4", "abs@85 rdepth@86", "85=1", 80, 89},
    {Op::kRet, "0950", "Pp:? A:*2 Target=T81:34:jx4", "rel=1 rdepth@86", "85=0", 80, 89},
    {Op::kRet, "0950", "Pp:? A:*2 Off=S81:34+23:16:jx4", "abs@85 rdepth@86", "85=1", 90},
    {Op::kRet, "0950", "Pp:? A:*2 Target=T81:34+23:16:jx4", "rel=1 rdepth@86", "85=0", 90},
    {Op::kExit, "094d", "Pp:?", "exitm@85:84 noat@86"},
    {Op::kWarpsync, "0348", "Pp:? B", "wsync8@86:85", "", 80, 89},
    {Op::kWarpsync, "0348", "Pp:? B=R31:24", "wsync@86:85", "86:85=0", 90},
    {Op::kWarpsync, "0348", "Pp:? A Target=T81:34+23:16:x4", "wsync@86:85", "86:85=2", 90},
    {Op::kWarpsync, "0948", "Pp:? B=I63:32", "wsync8@86:85", "", 80, 89},
    {Op::kWarpsync, "0948", "Pp:?", "wsync=3", "86:85=0 63:32=0", 90},
    {Op::kWarpsync, "0948", "Pp:? B=I63:32", "wsync@86:85", "86:85=0", 90},
    {Op::kEndcollective, "091b", "Pp:?", "", "", 90},
    {Op::kYield, "0946", "Pp:?"},
    {Op::kNop, "0918", ""},
    {Op::kBpt, "095c", "Imm=I36:34", "bpt@86:84"},
    {Op::kPmtrig, "0801", "Pp:? Imm=I47:32"},
    {Op::kNanosleep, "035d", "Pp:? B", "rand@86 warp@85"},
    {Op::kNanosleep, "095d", "Pp:? B=I63:32", "rand@86 warp@85"},
    {Op::kBar, "031d", "B Count=R39:32", "barmode@79:77 defer@80", "79:78=0"},
    {Op::kBar, "051d", "B Count=I53:42:?0", "barmode@79:77 defer@80", "79:78=0"},
    {Op::kBar, "091d", "B=I57:54 Count=R39:32", "barmode@79:77 defer@80", "79:78=0"},
    {Op::kBar, "0b1d", "B=I57:54 Count=I53:42:?0", "barmode@79:77 defer@80", "79:78=0"},
    {Op::kBar, "0b1d", "B=I57:54 Count=I53:42:?0 Pp", "barmode@79:77 barred@75:74 defer@80", "79:77=2"},
    {Op::kB2r, "031c", "D Pu:?", "result@79:78"},
    {Op::kLepc, "034e", "D:*2"},
    {Op::kVote, "0806", "D:? Pu Pp", "vote@73:72"},
    {Op::kVoteu, "0886", "D=UR21:16:? Pu=UP83:81 Pp", "vote@73:72"},
    {Op::kMatch, "03a1", "Pu D A:*k", "match@79 match64@73", "79=0"},
    {Op::kMatch, "03a1", "D A:*k", "match@79 match64@73", "79=1 83:81=7"},
    {Op::kRedux, "03c4", "D=UR21:16 A", "redux@80:78 fmtr@73"},
    {Op::kShfl, "0389", "Pu D A B C", "shfl@59:58"},
    {Op::kShfl, "0589", "Pu D A B C=I52:40", "shfl@59:58"},
    {Op::kShfl, "0989", "Pu D A B=I57:53 C", "shfl@59:58"},
    {Op::kShfl, "0f89", "Pu D A B=I57:53 C=I52:40", "shfl@59:58"},
    {Op::kS2r, "0919", "D Sr"},
    {Op::kCs2r, "0805", "D:*q Sr", "is64@80"},
    {Op::kR2ur, "03c2", "Pu:? D=UR21:16 A", "", "84=0"},
};

const Row kUniform[] = {
    {Op::kS2ur, "u09c3", "D Sr"},
    {Op::kUldc, "u0ab9", "D:*z C=CB53:38/58:54", "sz64@75:73"},
    {Op::kUldc, "u1abb", "D:*z A:y C=CB53:38/58:54", "sz64@75:73"},
    {Op::kUmov, "u0882", "D B=I63:32"},
    {Op::kUmov, "u1c82", "D B"},
    {Op::kUiadd3, "u090/28", "D Pu:? Pv:? A:n B:ns C:n", "X=0", "74=0 89:87=7 90=1 79:77=7 80=1"},
    {Op::kUiadd3, "u090/28", "D Pu:? Pv:? A:i B:is C:i Pp Pq", "X@74", "74=1"},
    {Op::kUimad, "u0a4/284", "D A B:s C:ns", "wide=0 fmt@73 X=0", "74=0 83:81=7 89:87=7 90=1"},
    {Op::kUimad, "u0a5/284", "D:*2 Pu:? A B:s C:ns*2", "wide=1 fmt@73 X=0", "74=0 89:87=7 90=1"},
    {Op::kUisetp, "u08c/28", "Pu Pv A B:s Pp", "icmp@78:76 fmt@73 bop@75:74 ex=0", "72=0 70:68=7 71=0"},
    {Op::kUisetp, "u08c/28", "Pu Pv A B:s Pp Pr", "icmp@78:76 fmt@73 bop@75:74 ex@72", "72=1"},
    {Op::kUlea, "u091/28", "D Pu:? A:n B:nu Scale", "hi@80 X=0", "80=0 74=0 73=0 69:64=63 89:87=7 90=1"},
    {Op::kUlea, "u091/28", "D Pu:? A:n B:nu C Scale", "hi@80 X=0", "80=1 74=0 73=0 89:87=7 90=1"},
    {Op::kUlea, "u091/28", "D Pu:? A:i B:iu C Scale Pp", "hi@80 X@74", "80=1 74=1 73=0"},
    {Op::kUlop3, "u092/28", "Pu:? D A B:u C Lut Pp", "pop@80 .LUT"},
    {Op::kUprmt, "u096/28", "D A B:u C", "pmode@74:72"},
    {Op::kUsel, "u087/28", "D A B:u Pp"},
    {Op::kUshf, "u099/28", "D A B:u C", "dir@76 cw@75 shf@74:73 hi@80"},
    // Not in any code at hand; the number follows the rule of the others (0x80 more than the vector form's).
    {Op::kUsgxt, "u09a/28", "D A B:u", "cw@75 fmt@73"},
    {Op::kUbmsk, "u09b/28", "D A B:u", "cw@75"},
    {Op::kUflo, "u0bd/2", "D Pu:? B:i", "fmt@73 sh@74"},
    {Op::kUbrev, "u0be/2", "D B"},
    {Op::kUpopc, "u0bf/2", "D B:i"},
    {Op::kUplop3, "u089c", "Pu Pv Pp Pq Pr Lut=I76:72+66:64 Lut2", ".LUT"},
};

}  // namespace

std::span<const Row> ControlRows() { return kControl; }
std::span<const Row> UniformRows() { return kUniform; }

}  // namespace sm89::sass
