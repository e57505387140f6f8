// Floating-point and integer arithmetic.
#include "sim/sass/form_table.h"

namespace sm89::sass {
namespace {

// Bits of a predicate or register that ptxas always writes so: PT, !PT, RZ.
constexpr const char* kNoCarry = "74=0 89:87=7 90=1 79:77=7 80=1";

const Row kFloat[] = {
    {Op::kFadd, "021/246e", "D A:nar C:narf", "ftz@80 rnd@79:78 sat@77"},
    {Op::kFmul, "020/28ac", "D A:nar B:narf", "fmz@80+76 scale@86:84 rnd@79:78 sat@77"},
    {Op::kFfma, "023/28ac46e", "D A:nar B:narf C:narf", "fmz@80+76 rnd@79:78 sat@77"},
    {Op::kFmnmx, "009/28ac", "D A:nar B:narf Pp", "ftz@80 nan@81 xors@82"},
    {Op::kFsel, "008/28ac", "D A:nar B:narf Pp", "ftz@80"},
    {Op::kFset, "00a/28ac", "D A:nar B:narf Pp", ".BF fcmp@79:76 ftz@80 bop@75:74"},
    {Op::kFsetp, "00b/28ac", "Pu Pv A:nar B:narf Pp", "fcmp@79:76 ftz@80 bop@75:74"},
    {Op::kFchk, "102/28ac", "Pu A:na B:naf"},
    {Op::kMufu, "108/28ac", "D B:naf", "mufu@77:74 width=0", "73=0"},
    {Op::kMufu, "108/2", "D B:na", "mufu@77:74 width@73 B/hsel@61:60", "73=1"},
    {Op::kDadd, "0229", "D:*2 A:nar*2 C:nar*2", "rnd@79:78"},
    {Op::kDadd, "029/46e", "D:*2 A:nar*2 C:nard*2", "rnd@79:78"},
    {Op::kDmul, "028/28ac", "D:*2 A:nar*2 B:nard*2", "rnd@79:78"},
    {Op::kDfma, "02b/28ac46e", "D:*2 A:nar*2 B:nard*2 C:nard*2", "rnd@79:78"},
    {Op::kDsetp, "02a/246e", "Pu Pv A:nar*2 C:nard*2 Pp", "dcmp@79:76 bop@75:74"},
    {Op::kHadd2, "030/246e", "D A:nar C:narp", "ofmt@78 ftz@80 sat@77 A/swzA@75:74 C/swzC@$C"},
    {Op::kHmul2, "032/28ac", "D A:nar B:narp", "ofmt@78 fmz@80+76 sat@77 A/swzA@75:74 B/swzB@$B"},
    {Op::kHfma2, "031/28ac46e", "D A:nar B:narpv C:narpv",
     "ofmt8@85+78 fmz@80+76 sat@77 A/swzA@75:74 B/swzB8@86+$B C/swzC@$C", "79=0 90:87=0"},
    {Op::kHfma2, "031/28ac46e", "D A:nar B:narpv C:narpv Pp:?",
     "ofmt8@85+78 fmz@80+76 relu@79 A/swzA@75:74 B/swzB8@86+$B C/swzC@$C", "79=1 77=0"},
    {Op::kHfma2, "035/28ac46e", "D A:nar B:narpv C:narpv",
     ".MMA ofmt8@85+78 fmz@80+76 sat@77 A/swzA@75:74 B/swzB8@86+$B C/swzC@$C", "79=0 90:87=0", 90},
    {Op::kHfma2, "035/28ac46e", "D A:nar B:narpv C:narpv Pp:?",
     ".MMA ofmt8@85+78 fmz@80+76 relu@79 A/swzA@75:74 B/swzB8@86+$B C/swzC@$C", "79=1 77=0", 90},
    {Op::kHmnmx2, "040/28ac", "D A:nar B:narp Pp",
     "ofmt8@85+78 ftz@80 nan@81 xors@82 A/swzA@75:74 B/swzB@$B"},
    {Op::kHset2, "033/246e", "D A:nar C:narp Pp",
     "bval@71 fcmp@79:76 ftz@80 bop@70:69 A/swzA@75:74 C/swzC@$C"},
    {Op::kHsetp2, "034/246e", "Pu Pv A:nar C:narp Pp",
     "fcmp@79:76 hand@71 ftz@80 bop@70:69 A/swzA@75:74 C/swzC@$C"},
};

const Row kInteger[] = {
    {Op::kIadd3, "010/28ac46e", "D Pu:? Pv:? A:nr B:nrs C:nrs", "X=0", kNoCarry},
    {Op::kIadd3, "010/28ac46e", "D Pu:? Pv:? A:ir B:irs C:irs Pp Pq", "X@74", "74=1"},
    {Op::kImad, "024/28ac46e", "D A:r B:rs C:nrs", "wide=0 fmt@73 X=0", "74=0 83:81=7 89:87=7 90=1"},
    {Op::kImad, "024/28ac46e", "D A:r B:rs C:irs Pp", "wide=0 fmt@73 X@74", "74=1 83:81=7"},
    {Op::kImad, "025/28ac46e", "D:*2 Pu:? A:r B:rs C:nrs*2", "wide=1 fmt@73 X=0", "74=0 89:87=7 90=1"},
    {Op::kImad, "025/28ac46e", "D:*2 Pu:? A:r B:rs C:irs*2 Pp", "wide=1 fmt@73 X@74", "74=1"},
    {Op::kImad, "027/28ac46e", "D Pu:? A:r B:rs C:nrs*2", "wide=2 fmt@73 X=0", "74=0 89:87=7 90=1"},
    {Op::kImad, "027/28ac46e", "D Pu:? A:r B:rs C:irs*2 Pp", "wide=2 fmt@73 X@74", "74=1"},
    {Op::kIsetp, "00c/28ac", "Pu Pv A:r B:rs Pp", "icmp@78:76 fmt@73 bop@75:74 ex=0", "72=0 70:68=7 71=0"},
    {Op::kIsetp, "00c/28ac", "Pu Pv A:r B:rs Pp Pr", "icmp@78:76 fmt@73 bop@75:74 ex@72", "72=1"},
    {Op::kImnmx, "017/28ac", "D A:r B:rs Pp", "fmt@73"},
    {Op::kIdp, "026/28ac46e", "D A:r B:ru C:nrs", "dp@77:76 sa8@73 sb8@74", "77:76=0"},
    {Op::kIdp, "026/28ac46e", "D A:r B:ru C:nrs", "dp@77:76 sa16@73 sb8@74", "76=1"},
    {Op::kLea, "011/28ac", "D Pu:? A:nr B:nru Scale", "hi@80 X=0 sx32=0",
     "80=0 74=0 73=0 71:64=255 89:87=7 90=1"},
    {Op::kLea, "011/28ac", "D Pu:? A:nr B:nru C:r Scale", "hi@80 X=0 sx32=0", "80=1 74=0 73=0 89:87=7 90=1"},
    {Op::kLea, "011/28ac", "D Pu:? A:nr B:nru Scale", "hi@80 X=0 sx32@73",
     "80=1 74=0 73=1 71:64=255 89:87=7 90=1"},
    {Op::kLea, "011/28ac", "D Pu:? A:ir B:iru C:r Scale Pp", "hi@80 X@74 sx32=0", "80=1 74=1 73=0"},
    {Op::kLea, "011/28ac", "D Pu:? A:ir B:iru Scale Pp", "hi@80 X@74 sx32@73", "80=1 74=1 73=1 71:64=255"},
    {Op::kLop3, "012/28ac46e", "Pu:? D A:r B:ru C:ru Lut Pp", "pop@80 .LUT"},
    {Op::kMov, "002/28ac", "D B:ru Imm=I75:72:?15"},
    {Op::kSel, "007/28ac", "D A:r B:ru Pp"},
    {Op::kPrmt, "016/28ac46e", "D A:r B:ru C:ru", "pmode@74:72"},
    {Op::kShf, "019/28ac46e", "D A:r B:ru C:ru", "dir@76 cw@75 shf@74:73 hi@80"},
    {Op::kSgxt, "01a/28ac", "D A:r B:ru", "cw@75 fmt@73"},
    {Op::kBmsk, "01b/28ac", "D A:r B:ru", "cw@75"},
    {Op::kIabs, "013/28ac", "D B:rs"},
    {Op::kPopc, "109/28ac", "D B:iu"},
    {Op::kFlo, "100/28ac", "D Pu:? B:iu", "fmt@73 sh@74"},
    {Op::kBrev, "101/28ac", "D B:u"},
    {Op::kVabsdiff, "014/28ac", "D Pu:? A:r B:rs C:r", "fmt@73"},
    {Op::kVabsdiff4, "015/28ac", "D Pu:? A:r B:ru C:r", "fmt8@73 vred@75"},
    {Op::kPlop3, "021f", "Pu Pv A:r B:r C:r Lut Lut2", ".LUT A/.SIGN B/.SIGN C/.SIGN"},
    {Op::kPlop3, "081c", "Pu Pv Pp Pq Pr Lut=I76:72+66:64 Lut2", ".LUT", "67=0"},
    {Op::kPlop3, "081c", "Pu Pv Pp Pq Pr=UP70:68 Lut=I76:72+66:64 Lut2", ".LUT", "67=1"},
    {Op::kP2r, "0803", "D \"PR A:r B=S63:32:u", "A/bsel@77:76"},
    {Op::kR2p, "0804", "\"PR A:r B=I63:32", "A/bsel@77:76"},
    // sm_90
    {Op::kViadd, "036/28ac", "D A:nr B:nru", "", "", 90},
    {Op::kVimnmx, "048/28ac", "D A:r B:rs Pp", "fmtb@72", "83:81=7 86:84=7", 90},
    {Op::kViaddmnmx, "046/28ac46e", "D A:r B:nru C:r Pp", "fmtb@72", "", 90},
};

}  // namespace

std::span<const Row> FloatRows() { return kFloat; }
std::span<const Row> IntegerRows() { return kInteger; }

}  // namespace sm89::sass
