#!/usr/bin/env python3
"""Writes probe.cu and probes.json: one kernel a PTX instruction, the same inputs for all of a class.

Each kernel has the signature (const u64* a, const u64* b, const u64* c, u64* out) and runs 512 threads in blocks of
256. Instructions of 32 bits read the low words. The file probe_host.cu runs them on a GPU and writes what came out;
tests/cases compares the emulator with it. Usage: make_probe.py OUTDIR
"""
import json, sys

PROBES = []  # (name, input class, body)


def probe(name, cls, body):
    PROBES.append((name, cls, body))


def op(name, cls, ptx, ins, out, pre=""):
    """An instruction with register operands. ins: PTX types of the sources; out: PTX type of the result."""
    size = lambda t: 64 if t.endswith("64") else 16 if t.endswith("16") else 32
    regs, loads = [], []
    for i, t in enumerate(ins):
        regs.append(f".reg .{'b' if t[0] == 'b' else t[0]}{size(t)} s{i};")
        src = f"%{i + 1}"
        if size(t) == 64:
            loads.append(f"mov.b64 s{i}, {src};")
        elif size(t) == 32:
            loads.append(f"{{.reg .b32 l,h; mov.b64 {{l,h}}, {src}; mov.b32 s{i}, l;}}")
        else:
            loads.append(f"{{.reg .b16 l,h; .reg .b32 w,v; mov.b64 {{w,v}}, {src}; mov.b32 {{l,h}}, w; mov.b16 s{i}, l;}}")
    regs.append(f".reg .{out[0] if out[0] != 'p' else 'b'}{size(out)} d;" if out != "pred" else ".reg .pred d;")
    args = ",".join(["d"] + [f"s{i}" for i in range(len(ins))])
    if out == "pred":
        store = "selp.b64 %0, 1, 0, d;"
    elif size(out) == 64:
        store = "mov.b64 %0, d;"
    elif size(out) == 32:
        store = "{.reg .b32 z,w; mov.b32 z, 0; mov.b32 w, d; mov.b64 %0, {w,z};}"
    else:
        store = "{.reg .b16 z; .reg .b32 w,v; mov.b16 z, 0; mov.b32 w, {d,z}; mov.b32 v, 0; mov.b64 %0, {w,v};}"
    text = "{" + " ".join(regs) + " " + " ".join(loads) + f" {pre}{ptx.replace('$', args)} " + store + "}"
    probe(name, cls, f'asm volatile("{text}" : "=l"(r) : "l"(x), "l"(y), "l"(z));')


def arith():
    for r in ("rn", "rm", "rp", "rz"):
        for o, n in (("add", 2), ("mul", 2), ("fma", 3)):
            for m in ("", ".ftz", ".sat", ".ftz.sat"):
                op(f"{o}_{r}{m.replace('.', '_')}_f32", "f32", f"{o}.{r}{m}.f32 $;", ["f32"] * n, "f32")
            op(f"{o}_{r}_f64", "f64", f"{o}.{r}.f64 $;", ["f64"] * n, "f64")
    for o in ("min", "max"):
        for m in ("", ".ftz", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
            op(f"{o}{m.replace('.', '_')}_f32", "f32", f"{o}{m}.f32 $;", ["f32"] * 2, "f32")
        op(f"{o}_f64", "f64", f"{o}.f64 $;", ["f64"] * 2, "f64")
        for t in ("f16x2", "bf16x2"):
            for m in ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
                if t == "bf16x2" or m != ".x":
                    op(f"{o}{m.replace('.', '_')}_{t}", t, f"{o}{m}.{t} $;", ["b32"] * 2, "b32")
    for c in "eq ne lt le gt ge equ neu ltu leu gtu geu num nan".split():
        op(f"setp_{c}_f32", "f32", f"setp.{c}.f32 $;", ["f32"] * 2, "pred")
        op(f"setp_{c}_ftz_f32", "f32", f"setp.{c}.ftz.f32 $;", ["f32"] * 2, "pred")
        op(f"setp_{c}_f64", "f64", f"setp.{c}.f64 $;", ["f64"] * 2, "pred")
        op(f"set_{c}_f16x2", "f16x2", f"set.{c}.f16x2.f16x2 $;", ["b32"] * 2, "b32")
    for o, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
        for m in ("", ".ftz", ".sat", ".ftz.sat"):
            op(f"{o}_rn{m.replace('.', '_')}_f16x2", "f16x2", f"{o}.rn{m}.f16x2 $;", ["b32"] * n, "b32")
        op(f"{o}_rn_f16", "f16x2", f"{o}.rn.f16 $;", ["b16"] * n, "b16")
    for o, n in (("add", 2), ("sub", 2), ("mul", 2)):  # through fma on sm_89
        op(f"{o}_bf16x2_by_fma", "bf16x2", {"add": "fma.rn.bf16x2 d,s0,s2,s1;", "sub": "fma.rn.bf16x2 d,s1,s2,s0;",
           "mul": "fma.rn.bf16x2 d,s0,s1,s2;"}[o], ["b32"] * 3, "b32")
    for t in ("f16x2", "bf16x2"):
        op(f"fma_rn_relu_{t}", t, f"fma.rn.relu.{t} $;", ["b32"] * 3, "b32")
        op(f"neg_{t}", t, f"neg.{t} $;", ["b32"], "b32")
        op(f"abs_{t}", t, f"abs.{t} $;", ["b32"], "b32")


def integer():
    for o in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
        for t in ("s32", "u32"):
            op(f"{o.replace('.', '_')}_{t}", "i32", f"{o}.{t} $;", [t] * 2, t)
        for t in ("s64", "u64"):
            op(f"{o.replace('.', '_')}_{t}", "i64", f"{o}.{t} $;", [t] * 2, t)
    for t in ("s32", "u32"):
        for o in ("mad.lo", "mad.hi"):
            op(f"{o.replace('.', '_')}_{t}", "i32", f"{o}.{t} $;", [t] * 3, t)
        op(f"mad_wide_{t}", "i32", f"mad.wide.{t} d,s0,s1,s2;", [t, t, t[0] + "64"], t[0] + "64")
        op(f"mul_wide_{t}", "i32", f"mul.wide.{t} $;", [t, t], t[0] + "64")
        op(f"div_{t}", "i32", f"div.{t} $;", [t] * 2, t)
        op(f"rem_{t}", "i32", f"rem.{t} $;", [t] * 2, t)
        op(f"sad_{t}", "i32", f"sad.{t} $;", [t] * 3, t)
        op(f"shr_{t}", "i32", f"shr.{t} $;", [t, "u32"], t)
        op(f"bfind_{t}", "i32", f"bfind.{t} $;", [t], "u32")
        op(f"bfind_shift_{t}", "i32", f"bfind.shiftamt.{t} $;", [t], "u32")
        op(f"bfe_{t}", "i32", f"bfe.{t} $;", [t, "u32", "u32"], t)
        for c in "eq ne lt le gt ge".split():
            op(f"setp_{c}_{t}", "i32", f"setp.{c}.{t} $;", [t] * 2, "pred")
            op(f"setp_{c}_{t[0]}64", "i64", f"setp.{c}.{t[0]}64 $;", [t[0] + "64"] * 2, "pred")
        for m in ("clamp", "wrap"):
            op(f"szext_{m}_{t}", "i32", f"szext.{m}.{t} $;", [t, "u32"], t)
        op(f"div_{t[0]}64", "i64", f"div.{t[0]}64 $;", [t[0] + "64"] * 2, t[0] + "64")
        op(f"rem_{t[0]}64", "i64", f"rem.{t[0]}64 $;", [t[0] + "64"] * 2, t[0] + "64")
    for m in ("clamp", "wrap"):
        op(f"bmsk_{m}", "i32", f"bmsk.{m}.b32 $;", ["u32", "u32"], "b32")
        op(f"shf_l_{m}", "i32", f"shf.l.{m}.b32 $;", ["b32", "b32", "u32"], "b32")
        op(f"shf_r_{m}", "i32", f"shf.r.{m}.b32 $;", ["b32", "b32", "u32"], "b32")
    op("shl_b32", "i32", "shl.b32 $;", ["b32", "u32"], "b32")
    op("shl_b64", "i64", "shl.b64 $;", ["b64", "u32"], "b64")
    op("shr_u64", "i64", "shr.u64 $;", ["u64", "u32"], "u64")
    op("shr_s64", "i64", "shr.s64 $;", ["s64", "u32"], "s64")
    op("popc_b32", "i32", "popc.b32 $;", ["b32"], "u32")
    op("popc_b64", "i64", "popc.b64 $;", ["b64"], "u32")
    op("clz_b32", "i32", "clz.b32 $;", ["b32"], "u32")
    op("clz_b64", "i64", "clz.b64 $;", ["b64"], "u32")
    op("brev_b32", "i32", "brev.b32 $;", ["b32"], "b32")
    op("brev_b64", "i64", "brev.b64 $;", ["b64"], "b64")
    op("abs_s32", "i32", "abs.s32 $;", ["s32"], "s32")
    op("abs_s64", "i64", "abs.s64 $;", ["s64"], "s64")
    op("neg_s64", "i64", "neg.s64 $;", ["s64"], "s64")
    op("bfi_b32", "i32", "bfi.b32 d,s0,s1,s2,11;", ["b32", "b32", "u32"], "b32")
    op("fns_b32", "i32", "fns.b32 d,s0,5,2;", ["b32"], "b32")
    for lut in (0x1B, 0x96, 0xCA, 0xE8, 0x3C):
        op(f"lop3_{lut:02x}", "i32", f"lop3.b32 d,s0,s1,s2,{lut};", ["b32"] * 3, "b32")
    for m in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        op(f"prmt{m.replace('.', '_')}", "i32", f"prmt.b32{m} $;", ["b32"] * 3, "b32")
    for a in "us":
        for b in "us":
            op(f"dp4a_{a}32_{b}32", "i32", f"dp4a.{a}32.{b}32 $;", ["b32"] * 3, "b32")
            for h in ("lo", "hi"):
                op(f"dp2a_{h}_{a}32_{b}32", "i32", f"dp2a.{h}.{a}32.{b}32 $;", ["b32"] * 3, "b32")
    for t in ("vabsdiff4.u32.u32.u32", "vabsdiff4.s32.s32.s32", "vabsdiff4.u32.u32.u32.add"):
        op(t.replace(".", "_"), "i32", t + " $;", [t.split(".")[1]] * 3, "b32" if False else t.split(".")[1])
    op("add_cc_u32", "i32", "add.cc.u32 d,s0,s1; addc.u32 d,d,s2;", ["u32"] * 3, "u32")
    op("sub_cc_u32", "i32", "sub.cc.u32 d,s0,s1; subc.u32 d,d,s2;", ["u32"] * 3, "u32")
    op("madc_u32", "i32", "mad.lo.cc.u32 d,s0,s1,s2; madc.hi.u32 d,s0,s1,s2;", ["u32"] * 3, "u32")
    op("mul128_hi", "i64", "mul.hi.u64 d,s0,s1; mad.lo.u64 d,d,s2,s0;", ["u64"] * 3, "u64")


def convert():
    for d in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
        for r in ("rni", "rmi", "rpi", "rzi"):
            wide = d[1:] == "64"
            out = d if d[1:] in ("32", "64") else ("s32" if d[0] == "s" else "u32")
            pre = f"cvt.{r}.{d}."
            for s, cls, st in (("f32", "f32", "f32"), ("f64", "f64", "f64"), ("f16", "f16x2", "b16")):
                if d[1:] in ("8", "16"):
                    body = f"{{.reg .b16 t; {pre.replace(d, d)}{s} t,s0; cvt.{'s' if d[0]=='s' else 'u'}32.{d} d,t;}}"
                    if d[1:] == "8":
                        body = f"cvt.{r}.{d}.{s} d,s0;"
                else:
                    body = f"{pre}{s} $;"
                op(f"cvt_{r}_{d}_{s}", cls, body, [st], out)
            op(f"cvt_{r}_ftz_{d}_f32", "f32", f"cvt.{r}.ftz.{d}.f32 d,s0;" if d[1:] != "16" else
               f"{{.reg .b16 t; cvt.{r}.ftz.{d}.f32 t,s0; cvt.{d[0]}32.{d} d,t;}}", ["f32"], out)
    for s, cls in (("s8", "i32"), ("u8", "i32"), ("s16", "i32"), ("u16", "i32"), ("s32", "i32"), ("u32", "i32"), ("s64", "i64"), ("u64", "i64")):
        for r in ("rn", "rm", "rp", "rz"):
            for d, out in (("f32", "f32"), ("f64", "f64"), ("f16", "b16")):
                st = s if s[1:] in ("32", "64") else "b16" if s[1:] == "16" else "b32"
                op(f"cvt_{r}_{d}_{s}", cls, f"cvt.{r}.{d}.{s} $;", [st], out)
    for r in ("rn", "rm", "rp", "rz"):
        op(f"cvt_{r}_f32_f64", "f64", f"cvt.{r}.f32.f64 $;", ["f64"], "f32")
        op(f"cvt_{r}_ftz_f32_f64", "f64", f"cvt.{r}.ftz.f32.f64 $;", ["f64"], "f32")
        op(f"cvt_{r}_f16_f64", "f64", f"cvt.{r}.f16.f64 $;", ["f64"], "b16")
        op(f"cvt_{r}_f16_f32", "f32", f"cvt.{r}.f16.f32 $;", ["f32"], "b16")
        for t, cls in (("f32", "f32"), ("f64", "f64")):
            op(f"rint_{r}i_{t}", cls, f"cvt.{r}i.{t}.{t} $;", [t], t)
        op(f"rint_{r}i_f16", "f16x2", f"cvt.{r}i.f16.f16 $;", ["b16"], "b16")
        op(f"rint_{r}i_ftz_f32", "f32", f"cvt.{r}i.ftz.f32.f32 $;", ["f32"], "f32")
    op("cvt_f64_f32", "f32", "cvt.f64.f32 $;", ["f32"], "f64")
    op("cvt_ftz_f64_f32", "f32", "cvt.ftz.f64.f32 $;", ["f32"], "f64")
    op("cvt_f32_f16", "f16x2", "cvt.f32.f16 $;", ["b16"], "f32")
    op("cvt_f64_f16", "f16x2", "cvt.f64.f16 $;", ["b16"], "f64")
    op("cvt_f32_bf16", "bf16x2", "cvt.f32.bf16 $;", ["b16"], "f32")
    for d, o in (("f16x2", "b32"), ("bf16x2", "b32")):
        for r in ("rn", "rz"):
            for m in ("", ".relu"):
                op(f"cvt_{r}{m.replace('.', '_')}_{d}_f32", "f32", f"cvt.{r}{m}.{d}.f32 $;", ["f32"] * 2, o)
                if d == "bf16x2" or m:
                    op(f"cvt_{r}{m.replace('.', '_')}_{d[:-2]}_f32", "f32", f"cvt.{r}{m}.{d[:-2]}.f32 $;", ["f32"], "b16")
    for t in ("e4m3x2", "e5m2x2"):
        for m in ("", ".relu"):
            op(f"cvt_satfinite{m.replace('.', '_')}_{t}_f32", "f32", f"cvt.rn.satfinite{m}.{t}.f32 $;", ["f32"] * 2, "b16")
            op(f"cvt_satfinite{m.replace('.', '_')}_{t}_f16x2", "f16x2", f"cvt.rn.satfinite{m}.{t}.f16x2 $;", ["b32"], "b16")
            op(f"cvt{m.replace('.', '_')}_f16x2_{t}", "i32", f"cvt.rn{m}.f16x2.{t} $;", ["b16"], "b32")
    op("cvt_rna_tf32", "f32", "cvt.rna.tf32.f32 $;", ["f32"], "b32")
    for d in ("s8", "u8", "s16", "u16"):
        for s in ("s32", "u32"):
            st = s
            op(f"cvt_sat_{d}_{s}", "i32", f"cvt.sat.{d}.{s} d,s0;" if d[1:] == "8" else
               f"{{.reg .b16 t; cvt.sat.{d}.{s} t,s0; cvt.{d[0]}32.{d} d,t;}}", [st], "s32" if d[0] == "s" else "u32")
    for k in ("s8.s32", "u8.s32", "s4.s32", "u4.s32", "s2.s32", "u2.s32"):
        d = k.split(".")[0]
        op(f"cvt_pack_{d}", "i32", f"cvt.pack.sat.{d}.s32.b32 $;", ["s32", "s32", "b32"], "b32")
    for d in ("s16", "u16"):
        op(f"cvt_pack_{d}", "i32", f"cvt.pack.sat.{d}.s32 $;", ["s32", "s32"], "b32")


def special():
    for f in ("sin", "cos", "ex2", "lg2", "rcp", "rsqrt", "sqrt"):
        for m in ("", ".ftz"):
            op(f"{f}_approx{m.replace('.', '_')}_f32", "f32", f"{f}.approx{m}.f32 $;", ["f32"], "f32")
    op("tanh_approx_f32", "f32", "tanh.approx.f32 $;", ["f32"], "f32")
    op("tanh_approx_f16x2", "f16x2", "tanh.approx.f16x2 $;", ["b32"], "b32")
    op("ex2_approx_f16x2", "f16x2", "ex2.approx.f16x2 $;", ["b32"], "b32")
    op("rcp_approx_ftz_f64", "f64", "rcp.approx.ftz.f64 $;", ["f64"], "f64")
    op("rsqrt_approx_ftz_f64", "f64", "rsqrt.approx.ftz.f64 $;", ["f64"], "f64")
    for r in ("rn", "rm", "rp", "rz"):
        op(f"div_{r}_f32", "f32", f"div.{r}.f32 $;", ["f32"] * 2, "f32")
        op(f"rcp_{r}_f32", "f32", f"rcp.{r}.f32 $;", ["f32"], "f32")
        op(f"sqrt_{r}_f32", "f32", f"sqrt.{r}.f32 $;", ["f32"], "f32")
        op(f"div_{r}_f64", "f64", f"div.{r}.f64 $;", ["f64"] * 2, "f64")
        op(f"sqrt_{r}_f64", "f64", f"sqrt.{r}.f64 $;", ["f64"], "f64")
    op("copysign_f32", "f32", "copysign.f32 $;", ["f32"] * 2, "f32")
    op("testp_subnormal", "f32", "testp.subnormal.f32 $;", ["f32"], "pred")


def warp():
    for m in ("up", "down", "bfly", "idx"):
        for c in (0x1F, 0x0, 0x181F, 0x1C03):
            op(f"shfl_{m}_{c:x}", "i32", f"{{.reg .pred p; .reg .b32 t; and.b32 t,s1,31; shfl.sync.{m}.b32 d|p,s0,t,{c},-1; @p xor.b32 d,d,0x5a5a5a5a;}}", ["b32", "b32"], "b32")
        op(f"shfl_{m}_var", "i32", f"{{.reg .pred p; shfl.sync.{m}.b32 d|p,s0,s1,s2,-1; @!p not.b32 d,d;}}", ["b32"] * 3, "b32")
    for v in ("all", "any", "uni"):
        op(f"vote_{v}", "i32", f"{{.reg .pred p,q; setp.lt.s32 p,s0,s1; vote.sync.{v}.pred q,p,-1; selp.b32 d,1,0,q;}}", ["s32"] * 2, "b32")
    op("vote_ballot", "i32", "{.reg .pred p; setp.lt.s32 p,s0,s1; vote.sync.ballot.b32 d,p,-1;}", ["s32"] * 2, "b32")
    op("match_any_b32", "i32", "{.reg .b32 t; and.b32 t,s0,7; match.any.sync.b32 d,t,-1;}", ["b32"], "b32")
    op("match_any_b64", "i64", "{.reg .b64 t; and.b64 t,s0,3; match.any.sync.b64 d,t,-1;}", ["b64"], "b32")
    op("match_all_b32", "i32", "{.reg .pred p; .reg .b32 t; and.b32 t,s0,1; match.all.sync.b32 d|p,t,-1; @p add.u32 d,d,1;}", ["b32"], "b32")
    for o in ("add.s32", "add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"):
        op(f"redux_{o.replace('.', '_')}", "i32", f"redux.sync.{o} d,s0,-1;", ["b32" if o[-3] == "b" else o.split(".")[1]], "b32" if o[-3] == "b" else o.split(".")[1])
    op("movmatrix", "i32", "movmatrix.sync.aligned.m8n8.trans.b16 d,s0;", ["b32"], "b32")
    # a divergent shuffle: the upper half of each warp only
    probe("shfl_divergent", "i32", "unsigned v = (unsigned)x; if (threadIdx.x & 16) v = __shfl_xor_sync(0xffff0000u, v, 5); else v = __shfl_down_sync(0x0000ffffu, v, 3); r = v;")


def atomics():
    rows = [("add.u32", 32, "i32"), ("add.u64", 64, "i64"), ("add.f32", 32, "f32"), ("add.f64", 64, "f64"),
            ("add.noftz.f16x2", 32, "f16x2"), ("min.s32", 32, "i32"), ("max.s32", 32, "i32"), ("min.u32", 32, "i32"),
            ("max.u32", 32, "i32"), ("min.s64", 64, "i64"), ("max.s64", 64, "i64"), ("min.u64", 64, "i64"), ("max.u64", 64, "i64"),
            ("inc.u32", 32, "i32"), ("dec.u32", 32, "i32"), ("and.b32", 32, "i32"), ("or.b32", 32, "i32"), ("xor.b32", 32, "i32"),
            ("and.b64", 64, "i64"), ("or.b64", 64, "i64"), ("xor.b64", 64, "i64"), ("exch.b32", 32, "i32"), ("exch.b64", 64, "i64")]
    for space in ("global", "shared"):
        for o, bits, cls in rows:
            if space == "shared" and o.startswith("add.noftz"):
                continue
            name = f"atom_{space}_{o.replace('.', '_')}"
            t = o.split(".")[-1]
            rc = {"f32": "f", "f64": "d"}.get(t, "r" if bits == 32 else "l")
            ct = {"f32": "float", "f64": "double"}.get(t, "unsigned" if bits == 32 else "unsigned long long")
            val = {"f32": "__uint_as_float((unsigned)y)", "f64": "__longlong_as_double(y)"}.get(t, f"({ct})y")
            cell = "out + i" if space == "global" else "cell + threadIdx.x"
            addr = "l" if space == "global" else "r"
            ptr = f"({cell})" if space == "global" else f"((unsigned)__cvta_generic_to_shared({cell}))"
            head = "__shared__ u64 cell[256];" if space == "shared" else ""
            mix = {"f32": "__float_as_uint(old)", "f64": "(u64)__double_as_longlong(old)"}.get(t, "old")
            probe(name, cls, f'{head} *({cell}) = x; __syncthreads(); {ct} old; asm volatile("atom.{space}.{o} %0,[%1],%2;" : "={rc}"(old) : "{addr}"({ptr}), "{rc}"({val}) : "memory"); __syncthreads(); r = *(volatile u64*)({cell}) + 0x9E3779B97F4A7C15ull * (u64)({mix});')
        for bits in (32, 64):
            cell = "out + i" if space == "global" else "cell + threadIdx.x"
            addr = "l" if space == "global" else "r"
            ptr = f"({cell})" if space == "global" else f"((unsigned)__cvta_generic_to_shared({cell}))"
            head = "__shared__ u64 cell[256];" if space == "shared" else ""
            ct, rc = ("unsigned", "r") if bits == 32 else ("unsigned long long", "l")
            probe(f"atom_{space}_cas_b{bits}", "i64", f'{head} *({cell}) = x; __syncthreads(); {ct} old; asm volatile("atom.{space}.cas.b{bits} %0,[%1],%2,%3;" : "={rc}"(old) : "{addr}"({ptr}), "{rc}"(({ct})(i % 3 ? x : y)), "{rc}"(({ct})z) : "memory"); __syncthreads(); r = *(volatile u64*)({cell}) + 0x9E3779B97F4A7C15ull * (u64)old;')


MMA = [  # name, mnemonic, A regs, B regs, C/D regs, types (of element), sparse
    ("f16_1688_f32", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, "f16", "f", 0),
    ("f16_16816_f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, "f16", "f", 0),
    ("f16_16816_f16", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, "f16", "h", 0),
    ("f16_1688_f16", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, "f16", "h", 0),
    ("bf16_1688_f32", "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, "bf16", "f", 0),
    ("bf16_16816_f32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, "bf16", "f", 0),
    ("tf32_1684_f32", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, "f32", "f", 0),
    ("tf32_1688_f32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, "f32", "f", 0),
    ("e4m3_16832_f32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, "fp8", "f", 0),
    ("e5m2_16832_f32", "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 2, 4, "fp8", "f", 0),
    ("e4m3e5m2_16832_f32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2, 4, "fp8", "f", 0),
    ("s8_8816", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 1, 1, 2, "int", "i", 0),
    ("u8_8816", "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32", 1, 1, 2, "int", "i", 0),
    ("s8_16816", "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 2, 1, 4, "int", "i", 0),
    ("u8s8_16832_sat", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 2, 4, "int", "i", 0),
    ("s8_16832", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, "int", "i", 0),
    ("s4_8832", "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 1, 1, 2, "int", "i", 0),
    ("s4_16832", "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32", 2, 1, 4, "int", "i", 0),
    ("u4s4_16864", "mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", 4, 2, 4, "int", "i", 0),
    ("b1_xor_88128", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 1, 1, 2, "int", "i", 0),
    ("b1_and_168128", "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 4, "int", "i", 0),
    ("b1_xor_168256", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 4, "int", "i", 0),
    ("sp_f16_16816_f32", "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2, 2, 4, "f16", "f", 1),
    ("sp_f16_16832_f32", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, "f16", "f", 1),
    ("sp_bf16_16832_f32", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 4, 4, 4, "bf16", "f", 1),
    ("sp_tf32_1688_f32", "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 2, 2, 4, "f32", "f", 2),
    ("sp_tf32_16816_f32", "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 4, "f32", "f", 2),
    ("sp_s8_16832", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 2, 2, 4, "int", "i", 1),
    ("sp_s8_16864", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", 4, 4, 4, "int", "i", 1),
    ("sp_s4_168128", "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32", 4, 4, 4, "int", "i", 1),
    ("sp_e4m3_16864_f32", "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", 4, 4, 4, "fp8", "f", 1),
]


def mma():
    """Fragments come from a and b as 32-bit words at (block * 8 + register) * 32 + lane; the accumulator from c."""
    for name, ptx, na, nb, nd, cls, acc, sparse in MMA:
        n = nd + na + nb + nd
        regs = [f"%{i}" for i in range(n + 1)]
        brace = lambda lo, hi: "{" + ",".join(regs[lo:hi]) + "}"
        asm = f"{ptx} {brace(0, nd)}, {brace(nd, nd + na)}, {brace(nd + na, nd + na + nb)}, {brace(nd + na + nb, n)}"
        if sparse:
            asm += f", %{n}, 0x0"
        rc = "f" if acc == "f" else "r"
        d = ",".join(f'"={rc}"(d[{i}])' for i in range(nd))
        ins = [f'"r"(a32[{i}])' for i in range(na)] + [f'"r"(b32[{i}])' for i in range(nb)] + [f'"{rc}"(c32[{i}])' for i in range(nd)]
        if sparse:
            ins.append('"r"(meta)')
        # every pair of kept positions that the format allows, another one in each nibble
        allowed = "0xED9C84u" if sparse == 1 else "0xE4E4E4u"
        meta = f"unsigned meta = 0; for (int k = 0; k < 8; ++k) meta |= (({allowed} >> ((lane * 5 + k * 3 + w) % 6 * 4)) & 15u) << (4 * k);" if sparse else ""
        ct = "float" if acc == "f" else "unsigned"
        conv = "__uint_as_float" if acc == "f" else ""
        back = "__float_as_uint" if acc == "f" else ""
        body = f'''unsigned a32[8], b32[8]; {ct} c32[4], d[4] = {{}};
  for (int k = 0; k < 8; ++k) {{ a32[k] = ((const unsigned*)a)[(w * 8 + k) * 32 + lane]; b32[k] = ((const unsigned*)b)[(w * 8 + k) * 32 + lane]; }}
  for (int k = 0; k < 4; ++k) c32[k] = {conv}(((const unsigned*)c)[(w * 8 + k) * 32 + lane]);
  {meta}
  asm volatile("{asm};" : {d} : {",".join(ins)});
  for (int k = 0; k < {nd}; ++k) ((unsigned*)out)[(w * 4 + k) * 32 + lane] = {back}(d[k]);'''
        PROBES.append(("mma_" + name, "mma_" + cls, body))
    body = '''double av = __longlong_as_double(a[i]), bv = __longlong_as_double(b[i]), c0 = __longlong_as_double(c[i]), c1 = __longlong_as_double(c[511 - i]), d0, d1;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%4,%5};" : "=d"(d0), "=d"(d1) : "d"(av), "d"(bv), "d"(c0), "d"(c1));
  r = (u64)__double_as_longlong(d0) + 0x9E3779B97F4A7C15ull * (u64)__double_as_longlong(d1);'''
    probe("mma_f64_884", "f64", body)


def main():
    outdir = sys.argv[1]
    arith(); integer(); convert(); special(); warp(); atomics(); mma()
    with open(f"{outdir}/probe.cu", "w") as f:
        f.write("// Written by make_probe.py: one kernel a PTX instruction.\n#include <cstdint>\ntypedef unsigned long long u64;\n")
        for name, cls, body in PROBES:
            is_mma = cls.startswith("mma_")
            f.write(f'extern "C" __global__ void {name}(const u64* a, const u64* b, const u64* c, u64* out) {{\n')
            if is_mma:
                f.write(f"  int lane = threadIdx.x & 31, w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;\n  {body}\n}}\n")
            else:
                f.write(f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  u64 x = a[i], y = b[i], z = c[i], r;\n  (void)x; (void)y; (void)z;\n  {body}\n  out[i] = r;\n}}\n")
    with open(f"{outdir}/probes.json", "w") as f:
        json.dump([{"kernel": n, "inputs": c} for n, c, _ in PROBES], f, indent=0)
    print(len(PROBES), "probes")


main()
