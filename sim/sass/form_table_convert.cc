// Conversions and tensor instructions.
#include "sim/sass/form_table.h"

namespace sm89::sass {
namespace {

const Row kConvert[] = {
    {Op::kF2f, "104/28ac", "D B:naf", "ftz@80 dflo@77:75 sflo@85:84 rnd@79:78", "85:84=2 76=0 77=0"},
    {Op::kF2f, "104/28ac", "D B:naf", "ftz@80 dflo@77:75 sflo@85:84 rnd@79:78", "85:84=2 77:75=4"},
    {Op::kF2f, "110/28ac", "D B:nad*2", "ftz@80 dflo@77:75 sflo@85:84 rnd@79:78", "85:84=3 77:75=1"},
    {Op::kF2f, "110/28ac", "D B:nad*2", "ftz@80 dflo@77:75 sflo@85:84 rnd@79:78", "85:84=3 77:75=2"},
    {Op::kF2f, "110/28ac", "D:*2 B:na", "ftz@80 dflo@77:75 sflo@85:84 rnd@79:78 B/hsel@61:60",
     "85:84=1 77:75=3"},
    {Op::kF2f, "110/28ac", "D:*2 B:naf", "ftz@80 dflo@77:75 sflo@85:84 rnd@79:78", "85:84=2 77:75=3"},
    {Op::kF2i, "105/28ac", "D B:na", "ftz@80 dint@76:75+72 sfloh@85:84 irnd@79:78 ntz@77 B/hsel@61:60",
     "85:84=1"},
    {Op::kF2i, "105/28ac", "D B:naf", "ftz@80 dint@76:75+72 sfloh@85:84 irnd@79:78 ntz@77", "85:84=2"},
    {Op::kF2i, "111/28ac", "D:*2 B:na", "ftz@80 dint@76:75+72 sfloh@85:84 irnd@79:78 ntz@77 B/hsel@61:60",
     "85:84=1 76:75=3"},
    {Op::kF2i, "111/28ac", "D:*2 B:naf", "ftz@80 dint@76:75+72 sfloh@85:84 irnd@79:78 ntz@77",
     "85:84=2 76:75=3"},
    {Op::kF2i, "111/28ac", "D:*2 B:nad*2", "ftz@80 dint@76:75+72 sfloh@85:84 irnd@79:78 ntz@77",
     "85:84=3 76:75=3"},
    {Op::kF2i, "111/28ac", "D B:nad*2", "ftz@80 dint@76:75+72 sfloh@85:84 irnd@79:78 ntz@77", "85:84=3"},
    {Op::kI2f, "106/28ac", "D B", "dflo2@76:75 sint@85:84+74 rnd@79:78 B/bsel@61:60", "85:84=0"},
    {Op::kI2f, "112/28ac", "D:*2 B", "dflo2@76:75 sint@85:84+74 rnd@79:78 B/bsel@61:60", "85:84=0 76:75=3"},
    {Op::kI2f, "106/28ac", "D B", "dflo2@76:75 sint@85:84+74 rnd@79:78 B/hsel@61:60", "85:84=1"},
    {Op::kI2f, "106/28ac", "D B:u", "dflo2@76:75 sint@85:84+74 rnd@79:78", "85:84=2"},
    {Op::kI2f, "112/28ac", "D:*2 B", "dflo2@76:75 sint@85:84+74 rnd@79:78 B/hsel@61:60", "85:84=1 76:75=3"},
    {Op::kI2f, "112/28ac", "D:*2 B:u", "dflo2@76:75 sint@85:84+74 rnd@79:78", "85:84=2 76:75=3"},
    {Op::kI2f, "112/28ac", "D:*2 B:u*2", "dflo2@76:75 sint@85:84+74 rnd@79:78", "85:84=3 76:75=3"},
    {Op::kI2f, "112/28ac", "D B:u*2", "dflo2@76:75 sint@85:84+74 rnd@79:78", "85:84=3"},
    {Op::kI2fp, "045/28ac", "D B:ru", "dflo@77:75 sintp@85:84+74 rnz@79:78", "77:75=2 85:84=2"},
    {Op::kFrnd, "107/28ac", "D B:na", "ftz@80 sfloh@85:84 irnd@79:78 B/hsel@61:60", "85:84=1 76:75=1"},
    {Op::kFrnd, "107/28ac", "D B:naf", "ftz@80 sfloh@85:84 irnd@79:78", "85:84=2 76:75=2"},
    {Op::kFrnd, "113/28ac", "D:*2 B:nad*2", "ftz@80 sfloh@85:84 irnd@79:78", "85:84=3 76:75=3"},
    {Op::kI2i, "038/28ac", "D B:ru", "di2i@77:76 .S32 .SAT"},
    {Op::kI2ip, "039/28ac", "D A:r B:ru C:r", "di2ip@78:76 .S32 .SAT C/hsel@73:72", "78=0", 80, 89},
    {Op::kI2ip, "039/28ac", "D A:r B:ru C:r", "di2ip@78:76 .S32 .SAT C/.28", "78:77=2 73:72=3", 80, 89},
    {Op::kI2ip, "039/28ac", "D A:r B:ru C:r", "di2ip@78:76 .S32 .SAT C/.24", "78:77=3 73:72=2", 80, 89},
    // sm_90 sets bit 74 in all of them.
    {Op::kI2ip, "039/28ac", "D A:r B:ru C:r", "di2ip@78:76 .S32 .SAT C/hsel@73:72", "78=0 74=1", 90},
    {Op::kI2ip, "039/28ac", "D A:r B:ru C:r", "di2ip@78:76 .S32 .SAT C/.28", "78:77=2 73:72=3 74=1", 90},
    {Op::kI2ip, "039/28ac", "D A:r B:ru C:r", "di2ip@78:76 .S32 .SAT C/.24", "78:77=3 73:72=2 74=1", 90},
    {Op::kF2ip, "043/28ac", "D A B:r C:r", "di2i@76:75 f32@74 irnd@79:78 .NTZ", "77=0 76=0"},
    {Op::kF2fp, "03e/28ac", "D A:r B:rf",
     "satf@77 relu@75 dpack@87:86+76 spack@74:73 merge@90:89+78 rndp@81:79", "90:89=0 78=0 71:64=255"},
    {Op::kF2fp, "03e/28ac", "D B:ru C:r Half",
     "satf@77 relu@75 dpack@87:86+76 spack@74:73 merge@90:89+78 rndp@81:79 B/hsel1@88",
     "90:89=0 78=1 31:24=255"},
    {Op::kF2fp, "03e/28ac", "D B:ru Half",
     "satf@77 relu@75 dpack@87:86+76 spack@74:73 merge@90:89+78 rndp@81:79 B/hsel1@88",
     "90:89=1 78=0 31:24=255 71:64=255"},
    {Op::kF2fp, "03e/28ac", "D B:ru C:r Half",
     "satf@77 relu@75 dpack@87:86+76 spack@74:73 merge@90:89+78 rndp@81:79 B/hsel1@88",
     "90:89=2 78=0 31:24=255"},
    {Op::kF2fp, "03e/28ac", "D A:r B:rf C:r Half",
     "satf@77 relu@75 dpack@87:86+76 spack@74:73 merge@90:89+78 rndp@81:79 B/hsel1@88", "90:89=2 78=1"},
};

const Row kTensor[] = {
    {Op::kHmma, "023c", "D:*m A:nr*m B:nr*m C:*m Pnz=M90:87:?", "sp=0 hsz@78+75 acc@76 hsrc@83:82 msat@77",
     "73=0 81=0 50=0"},
    {Op::kHmma, "023c", "D:*m A:nr*m B:nr*m C:*m Pnz=M90:87:? E:r Id",
     "sp@73 hspsz@78+75 acc@76 hsrc@83:82 msat@77 spf@81", "73=1"},
    // Bit 125 (not printed) comes with long chains of sparse HMMAs on sm_90.
    {Op::kHmma, "023c", "D:*m A:nr*m B:nr*m C:*m Pnz=M90:87:? E:r Id",
     "sp@73 hspsz@78+75 acc@76 hsrc@83:82 msat@77 spf@81 raw1@125", "73=1", 90},
    {Op::kImma, "0237", "D:*m A:r*m B:r*m C:*m Pnz=M90:87:?",
     "sp=0 isz@86:85+75 ia@83+77:76 ib@84+79:78 msat@82 A/.ROW B/colb@74", "72=0 81=0 73=0 80=0 50=0"},
    {Op::kImma, "0237", "D:*m A:r*m B:r*m C:*m Pnz=M90:87:? E:r Id",
     "sp@72 ispsz@86:85+75 ia@83+77:76 ib@84+79:78 msat@82 spf@81 A/.ROW B/colb@74", "72=1 73=0 80=0"},
    {Op::kBmma, "023d", "D:*m A:r*m B:r*m C:*m Pnz=M90:87:?", "bsz@76:75 bmma@78:77 popc@80 A/.ROW B/colb@74",
     "73=0"},
    {Op::kDmma, "023f", "D:*m A:nar*m B:nar*m C:nar*m Pnz=M90:87:?", "dsz@77:76 rnd@79:78"},
    {Op::kQmma, "027a", "D:*m A:nr*m B:nr*m C:*m Pnz=M90:87:?",
     "sp=0 qsz@76:75 acc@77 qa@78 qb@79 A/.ROW B/colb@74", "80=0 81=0 50=0 73=0", 89},
    {Op::kQmma, "027a", "D:*m A:nr*m B:nr*m C:*m Pnz=M90:87:? E:r Id",
     "sp@80 qspsz@76:75 acc@77 qa@78 qb@79 spf@81 A/.ROW B/colb@74", "80=1 73=0", 89},
    {Op::kMovm, "023a", "D:*w A", "msz@77:75 mmode@79:78"},
};

}  // namespace

std::span<const Row> ConvertRows() { return kConvert; }
std::span<const Row> TensorRows() { return kTensor; }

}  // namespace sm89::sass
