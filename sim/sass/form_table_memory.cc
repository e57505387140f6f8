// Loads, stores, atomics, caches; textures and surfaces.
#include "sim/sass/form_table.h"

namespace sm89::sass {
namespace {

const Row kMemory[] = {
    {Op::kLdg, "0381", "Pu:? D:*z [ A:*e Off ] Pnz:?",
     "e@72 cop@86:84 ltc@69:68 sz@75:73 mem@80:77 desc=0 a64=0 l2=0", "87=0 76=0"},
    {Op::kLdg, "1981", "Pu:? D:*z [ A:*2 Ua=UR37:32 Off ] Pnz:?",
     "e@72 cop@86:84 ltc@69:68 sz@75:73 mem@80:77 desc@76 A/a64@90 l2@101", "87=0 72=1 90=1"},
    {Op::kLd, "1980", "D:*z [ A:*2 Ua=UR37:32 Off ] Pnz:?",
     "e@72 cop@86:84 ltc@69:68 sz@75:73 mem@80:77 desc@76 A/a64@90 l2@101", "87=0 72=1 90=1"},
    {Op::kStg, "1986", "[ A:*2 Ua=UR69:64 Off ] B:*z",
     "e@72 cop@86:84 sz@75:73 mem@80:77 desc@76 A/a64@90 l2@101", "72=1 90=1"},
    {Op::kStg, "0386", "[ A:*e Off ] B:*z", "e@72 cop@86:84 sz@75:73 mem@80:77 desc=0 a64=0 l2=0", "76=0"},
    {Op::kSt, "1985", "[ A:*2 Ua=UR69:64 Off ] B:*z",
     "e@72 cop@86:84 sz@75:73 mem@80:77 desc@76 A/a64@90 l2@101", "72=1 90=1"},
    {Op::kLdl, "0983", "D:*z [ A Off ]", "cop@86:84 sz128@75:73"},
    {Op::kStl, "0387", "[ A Off ] B:*z", "cop@86:84 sz128@75:73"},
    {Op::kLds, "0984", "D:*z [ A Off:z ]", "lsz@76:73 A/stride@79:78", "87=0"},
    {Op::kLds, "1984", "D:*z [ A Ua=UR37:32 Off ]", "lsz@76:73 A/stride@79:78", "87=0"},
    {Op::kSts, "0388", "[ A Off:z ] B:*z", "sz128@75:73 A/stride@79:78"},
    {Op::kSts, "1988", "[ A Ua=UR69:64 Off ] B:*z", "sz128@75:73 A/stride@79:78"},
    {Op::kLdsm, "083b", "D:*l [ A Off:z ]", "msz@77:75 lmode@79:78 mnum@73:72"},
    {Op::kLdsm, "183b", "D:*l [ A Ua=UR37:32 Off ]", "msz@77:75 lmode@79:78 mnum@73:72"},
    {Op::kLdgsts, "1fae", "[ SharedA=R23:16 SharedOff=S63:44:z ] [ A:*g Ua=UR69:64 Off=S43:32 ] Pnz=P89:87:?",
     "raw1@83 .E loc@81 cop@86:84 ltc@72:71 gsz@75:73 fill@82 mem@80:77 desc@76 A/ra64@70 l2@101"},
    {Op::kLdc, "0b82", "D:*z A:y C=CB53:38/58:54", "ad@79:78 sz64@75:73"},
    {Op::kAtom, "038b", "Pu D:*t [ A:*e Off ] B:*t C:*t",
     "e@72 cop@86:84 cas=1 cast=0 cassz@75:73 mem@80:77 desc=0 a64=0 l2=0", "87=0 88=0"},
    {Op::kAtom, "198a", "Pu D:*t [ A:*2 Ua=UR69:64 Off ] B:*t",
     "e@72 cop@86:84 aop@90:87 asz@75:73 mem@80:77 desc@71 A/a64@70 l2@101 cas=0", "72=1 70=1"},
    {Op::kAtomg, "03a9", "Pu D:*t [ A:*e Off ] B:*t C:*t",
     "e@72 cop@86:84 cas=1 cast=0 cassz@75:73 mem@80:77 desc=0 a64=0 l2=0"},
    {Op::kAtomg, "03a8", "Pu D:*t [ A:*e Off ] B:*t",
     "e@72 cop@86:84 aop@90:87 asz@75:73 mem@80:77 desc=0 a64=0 l2=0 cas=0", "71:69=0"},
    {Op::kAtomg, "19a8", "Pu D:*t [ A:*2 Ua=UR69:64 Off ] B:*t",
     "e@72 cop@86:84 aop@90:87 asz@75:73 mem@80:77 desc@71 A/a64@70 l2@101 cas=0", "72=1 70=1", 80, 89},
    {Op::kAtomg, "19a8", "Pu D:*t [ A:*2 Ua=UR69:64 Off ] B:*t",
     "e@72 cop@86:84 aop@90:87 asz9@75:73 mem@80:77 desc@71 A/a64@70 l2@101 cas=0", "72=1 70=1", 90},
    {Op::kAtomg, "19a3", "Pu D:*t [ A:*2 Ua=UR69:64 Off ] B:*t",
     "e@72 cop@86:84 aop@90:87 fasz@76:73 mem@80:77 desc@71 A/a64@70 l2@101 cas=0", "72=1 70=1", 90},
    {Op::kRed, "198e", "[ A:*2 Ua=UR69:64 Off ] B:*t",
     "e@72 cop@86:84 rop@89:87 asz@75:73 mem@80:77 desc@71 A/a64@90 l2@101", "72=1 90=1", 80, 89},
    {Op::kRedg, "19a6", "[ A:*2 Ua=UR69:64 Off ] B:*t",
     "e@72 cop@86:84 rop@89:87 fasz@76:73 mem@80:77 desc@71 A/a64@90 l2@101", "72=1 90=1", 90},
    {Op::kRedg, "198e", "[ A:*2 Ua=UR69:64 Off ] B:*t",
     "e@72 cop@86:84 rop@89:87 asz9@75:73 mem@80:77 desc@71 A/a64@90 l2@101", "72=1 90=1", 90},
    {Op::kAtoms, "038c", "D:*o [ A Off:z ] B:*o", "sop@90:87 ssz@74:73 A/stride@79:78 cas=0", "71:64=0"},
    {Op::kAtoms, "198c", "D:*o [ A Ua=UR69:64 Off ] B:*o", "sop@90:87 ssz@74:73 A/stride@79:78 cas=0"},
    {Op::kAtoms, "038d", "D:*o [ A Off:z ] B:*o C:*o", "cas=1 cast=0 ssz@74:73 A/stride@79:78", "87=0 88=0"},
    {Op::kAtoms, "038d", "D:*o [ A Off:z ] B:*o C:*o", "cast@87 spin@88 ssz@74:73 A/stride@79:78 castas=1",
     "87=1"},
    {Op::kAtoms, "1f8c", "D:*o [ A Ua=UR69:64 Off ]", "suop@90:87 susz@75:73 A/stride@79:78 cas=0"},
    {Op::kAtoms, "1f8c", "D:*o [ A Ua=UR69:64 Off ]", "suop9@90:87 susz@75:73 A/stride@79:78 cas=0", "", 90},
    {Op::kArrives, "19b0", "[ A Ua=UR69:64 Off ]", "arrive@71:70 sz@75:73 raw8@84:77", "72=0 31:24=255"},
    {Op::kQspc, "03aa", "Pu D [ A:*e Off ]", "e@72 space@74:73"},
    {Op::kCctl, "098f", "", "e=0 cache@80:78 cctl@90:87", "72=0 31:24=255 63:32=0"},
    {Op::kCctl, "098f", "[ A:*e Off=S63:32 ]", "e@72 cache@80:78 cctl@90:87"},
    {Op::kMembar, "0992", "", "sem@80:79 sco@78:76 mmio@72"},
    {Op::kErrbar, "09ab", ""},
    {Op::kCgaerrbar, "05ab", "", "", "", 90},
    {Op::kLdgdepbar, "09af", ""},
    {Op::kDepbar, "091a", "Sb Count=I43:38 List=I37:32:?0", "le@47", "47=1"},
};

const Row kTexture[] = {
    {Op::kTex, "0b60", "Pu:? D2:*x D:*x A:*x B:*x Bank Idx {dim@63:61} TexMask",
     "scr@60 f16rm@80:79 lod@89:87 aoffi@76 dc@78 cop@86:84 ndv@77 nodep@90", "59=0"},
    {Op::kTld, "0b66", "Pu:? D2:*x D:*x A:*x B:?255*x Bank Idx {dim@63:61} TexMask",
     "scr@60 f16rm@80:79 lod@89:87 aoffi@76 cop@86:84 ms@78 cl@77 nodep@90", "59=0"},
    {Op::kTld4, "0b63", "Pu:? D2:*x D:*x A:*x B:?255*x Bank Idx {dim@63:61} TexMask",
     "scr@60 comp@88:87 f16rm@80:79 toff@77:76 dc@78 cop@86:84 nodep@90", "59=0"},
    {Op::kTxd, "0b6c", "Pu:? D2:*x D:*x A:*x B:*x Bank Idx {dim@63:61} TexMask",
     "f16rm@80:79 lc@87 aoffi@76 cop@86:84 nodep@90", "59=0"},
    {Op::kTxq, "0b6f", "D2:*x D:*x A {query@63:62} Bank Idx TexMask", "nodep@90", "59=0"},
    {Op::kSuld, "0b99", "Pu:? D:*z [ A:*i ] Bank Idx",
     ".D ba@72 sdim@63:61 cop@86:84 sz128@75:73 mem@80:77 clamp@60:59 priv@76"},
    {Op::kSust, "0b9d", "[ A:*i ] B:*z Bank Idx",
     ".D ba@72 sdim@63:61 cop@86:84 sz128@75:73 mem@80:77 clamp@60:59 priv@76"},
};

}  // namespace

std::span<const Row> MemoryRows() { return kMemory; }
std::span<const Row> TextureRows() { return kTexture; }

}  // namespace sm89::sass
