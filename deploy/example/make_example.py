#!/usr/bin/env python3
"""Writes the bundled example: a small Accel-Sim trace set (tracer version 5, sm_89) of seven launches.

usage: make_example.py [FOLDER]         write kernelslist.g and kernel-N.traceg.xz (default: this folder)
       make_example.py --check [FOLDER] say whether the files hold what this script writes; exit code 1 if not

The instruction sequences follow what ptxas makes of such kernels; the addresses are computed, not traced.
Standard library only; the same text on every machine (compressed bytes may differ between liblzma versions,
so --check compares what is inside).
"""

import lzma
import pathlib
import sys

FULL = 0xFFFFFFFF
WARP = 32

# Device buffers, as cudaMalloc places them.
VEC_A, VEC_B, VEC_C = 0x7F4E00000000, 0x7F4E00200000, 0x7F4E00400000
MAT_A, MAT_B, MAT_C = 0x7F4E01000000, 0x7F4E01200000, 0x7F4E01400000
HALF_A, HALF_B, FLOAT_C = 0x7F4E02000000, 0x7F4E02200000, 0x7F4E02400000
REDUCE_IN, REDUCE_OUT = 0x7F4E03000000, 0x7F4E03200000
STREAM_X, STREAM_Y = 0x7F4E04000000, 0x7F4E04200000


def lanes_of(mask):
    return [lane for lane in range(WARP) if mask >> lane & 1]


def encode_addresses(mask, address_of):
    """The tracer's three ways to write the addresses of the active lanes."""
    lanes = lanes_of(mask)
    if not lanes:
        return "1 0x0 0"
    addresses = [address_of(lane) for lane in lanes]
    deltas = [b - a for a, b in zip(addresses, addresses[1:])]
    contiguous = lanes == list(range(lanes[0], lanes[0] + len(lanes)))
    if len(lanes) >= 2 and contiguous and len(set(deltas)) == 1:
        return f"1 0x{addresses[0]:x} {deltas[0]}"
    return " ".join(["2", f"0x{addresses[0]:x}"] + [str(d) for d in deltas])


class Warp:
    """The lines of one warp. Going back to an earlier pc repeats a loop's instructions."""

    def __init__(self):
        self.lines = []
        self.pc = 0

    def put(self, opcode, dest=None, sources=(), mask=FULL, imm=0, width=0, address=None):
        fields = [f"{self.pc:04x}", f"{mask:08x}"]
        fields += ["0"] if dest is None else ["1", f"R{dest}"]
        fields += [opcode, str(len(sources))] + [f"R{s}" for s in sources] + [str(width)]
        if width:
            fields.append(encode_addresses(mask, address))
        self.lines.append(" ".join(fields + [str(imm)]) + " ")
        self.pc += 16


def prologue(w):
    w.put("IMAD.MOV.U32", 1, (255, 255))
    w.put("S2R", 0)
    w.put("S2R", 3)
    w.put("IMAD", 0, (0, 3))


def guarded_exit(w, outside):
    """@P0 EXIT for the lanes past the end; returns the lanes that go on."""
    w.put("ISETP.GE.AND", None, (0,))
    w.put("EXIT", mask=outside)
    return FULL & ~outside


def past_end(first, count):
    return sum(1 << lane for lane in range(WARP) if first + lane >= count)


def vector_add(cta, warp, count=100_000):
    first = cta[0] * 256 + warp * WARP
    w = Warp()
    prologue(w)
    mask = guarded_exit(w, past_end(first, count))
    if mask == 0:
        return w.lines
    w.put("IMAD.MOV.U32", 9, (255, 255), mask, imm=4)
    w.put("ULDC.64", mask=mask)
    w.put("IMAD.WIDE", 4, (0, 9), mask)
    w.put("IMAD.WIDE", 2, (0, 9), mask)
    w.put("LDG.E", 4, (4,), mask, width=4, address=lambda lane: VEC_A + 4 * (first + lane))
    w.put("LDG.E", 3, (2,), mask, width=4, address=lambda lane: VEC_B + 4 * (first + lane))
    w.put("IMAD.WIDE", 6, (0, 9), mask)
    w.put("FADD", 9, (4, 3), mask)
    w.put("STG.E", None, (6, 9), mask, width=4, address=lambda lane: VEC_C + 4 * (first + lane))
    w.put("EXIT", mask=mask)
    return w.lines


def sgemm_tiled(cta, warp, n=256, depth=64):
    """C = A x B in FP32: 64 x 64 tiles a CTA, 16 deep, 4 x 4 results a thread."""
    bx, by, _ = cta
    w = Warp()
    prologue(w)
    for r in range(10, 16):
        w.put("IMAD", r, (0, 3))
    for i in range(8):
        w.put("CS2R", 64 + 2 * i)
    loop = w.pc
    tiles = depth // 16
    for t in range(tiles):
        w.pc = loop
        thread = lambda lane: warp * WARP + lane
        w.put("IMAD.WIDE", 4, (10, 11))
        w.put("IMAD.WIDE", 6, (12, 13))
        w.put("LDG.E.128", 20, (4,), width=16, address=lambda lane: MAT_A + 4 * (
            (by * 64 + thread(lane) // 4) * depth + t * 16 + thread(lane) % 4 * 4))
        w.put("LDG.E.128", 24, (6,), width=16, address=lambda lane: MAT_B + 4 * (
            (t * 16 + thread(lane) // 16) * n + bx * 64 + thread(lane) % 16 * 4))
        w.put("STS.128", None, (14, 20), width=16, address=lambda lane: thread(lane) * 16)
        w.put("STS.128", None, (15, 24), width=16, address=lambda lane: 4096 + thread(lane) * 16)
        w.put("BAR.SYNC.DEFER_BLOCKING")
        for k in range(16):
            w.put("LDS.128", 32, (14,), width=16, address=lambda lane: k * 256 + thread(lane) // 16 * 16)
            w.put("LDS.128", 36, (15,), width=16, address=lambda lane: 4096 + k * 256 + lane % 16 * 16)
            for i in range(4):
                for j in range(4):
                    acc = 64 + 4 * i + j
                    w.put("FFMA", acc, (32 + i, 36 + j, acc))
        w.put("BAR.SYNC.DEFER_BLOCKING")
        w.put("IADD3", 12, (12,), imm=16)
        w.put("ISETP.GE.AND", None, (12,), imm=depth)
        w.put("BRA", mask=FULL if t + 1 < tiles else 0)
    for i in range(4):
        w.put("IMAD.WIDE", 4, (10, 11))
        w.put("STG.E.128", None, (4, 64 + 4 * i), width=16, address=lambda lane: MAT_C + 4 * (
            (by * 64 + thread(lane) // 16 * 4 + i) * n + bx * 64 + lane % 16 * 4))
    w.put("EXIT")
    return w.lines


def hgemm_tensor(cta, warp, n=256, depth=128):
    """FP16 in, FP32 out on the tensor cores: 64 x 64 tiles a CTA of four warps, 32 deep, cp.async copies."""
    bx, by, _ = cta
    warp_m, warp_n = warp // 2, warp % 2
    row_bytes = 64 + 16  # 32 halves and a pad that keeps LDSM free of bank conflicts
    b_row_bytes = 128 + 16
    b_tile = 64 * row_bytes
    w = Warp()
    prologue(w)
    for i in range(16):
        w.put("CS2R", 64 + 2 * i)
    loop = w.pc
    tiles = depth // 32
    for t in range(tiles):
        w.pc = loop
        for half in range(2):
            row = lambda lane: half * 32 + warp * 8 + lane // 4
            w.put("LDGSTS.E.BYPASS.128", None, (16, 4), width=16, address=lambda lane: HALF_A + 2 * (
                (by * 64 + row(lane)) * depth + t * 32 + lane % 4 * 8))
        for half in range(2):
            row = lambda lane: half * 16 + warp * 4 + lane // 8
            w.put("LDGSTS.E.BYPASS.128", None, (17, 6), width=16, address=lambda lane: HALF_B + 2 * (
                (t * 32 + row(lane)) * n + bx * 64 + lane % 8 * 8))
        w.put("LDGDEPBAR")
        w.put("DEPBAR.LE", imm=0)
        w.put("BAR.SYNC.DEFER_BLOCKING")
        for k in range(2):
            for m in range(2):
                w.put("LDSM.16.M88.4", 20 + 4 * m, (14,), width=2, address=lambda lane: (
                    warp_m * 32 + m * 16 + lane % 16) * row_bytes + k * 32 + lane // 16 * 16)
            for j in range(2):
                w.put("LDSM.16.MT88.4", 28 + 4 * j, (15,), width=2, address=lambda lane: b_tile + (
                    k * 16 + lane % 16) * b_row_bytes + (warp_n * 32 + j * 16 + lane // 16 * 8) * 2)
            for m in range(2):
                for j in range(4):
                    acc = 64 + 16 * m + 4 * j
                    w.put("HMMA.16816.F32", acc, (20 + 4 * m, 28 + 2 * j, acc))
        w.put("BAR.SYNC.DEFER_BLOCKING")
        w.put("IADD3", 12, (12,), imm=32)
        w.put("ISETP.GE.AND", None, (12,), imm=depth)
        w.put("BRA", mask=FULL if t + 1 < tiles else 0)
    for m in range(2):
        for j in range(4):
            for half in range(2):
                row = lambda lane: by * 64 + warp_m * 32 + m * 16 + half * 8 + lane // 4
                column = lambda lane: bx * 64 + warp_n * 32 + j * 8 + lane % 4 * 2
                w.put("STG.E.64", None, (4, 64 + 16 * m + 4 * j + 2 * half), width=8,
                      address=lambda lane: FLOAT_C + 4 * (row(lane) * n + column(lane)))
    w.put("EXIT")
    return w.lines


def reduce_divergent(cta, warp, count=60_000, ctas=48):
    """Sum of every third value squared and of the others: lanes part, join, and fold through shuffles."""
    w = Warp()
    prologue(w)
    w.put("IMAD.MOV.U32", 9, (255, 255), imm=4)
    w.put("CS2R.32", 8)
    loop = w.pc
    after = loop + 16 * 13
    first = cta[0] * 256 + warp * WARP
    while True:
        w.pc = loop
        inside = FULL & ~past_end(first, count)
        thirds = sum(1 << lane for lane in lanes_of(inside) if (first + lane) % 3 == 0)
        others = inside & ~thirds
        w.put("ISETP.GE.AND", None, (0,), imm=count)
        w.put("BRA", mask=FULL & ~inside)
        if inside == 0:
            break
        w.put("IMAD.WIDE", 4, (0, 9), inside)
        w.put("LDG.E", 6, (4,), inside, width=4, address=lambda lane: REDUCE_IN + 4 * (first + lane))
        w.put("BSSY", mask=inside)
        w.put("BRA", mask=others)
        then = w.pc
        if thirds:
            w.put("FFMA", 8, (6, 6, 8), thirds)
            w.put("MUFU.RCP", 7, (6,), thirds)
            w.put("BRA", mask=thirds)
        w.pc = then + 16 * 3
        if others:
            w.put("FADD", 8, (8, 6), others)
        w.pc = then + 16 * 4
        w.put("BSYNC", mask=thirds)
        if others:
            w.pc -= 16
            w.put("BSYNC", mask=others)
        w.put("IADD3", 0, (0,), inside, imm=256 * ctas)
        w.put("BRA", mask=inside)
        first += 256 * ctas
        if inside != FULL:  # the lanes that went on meet the end of the loop by themselves
            w.pc = loop
            w.put("ISETP.GE.AND", None, (0,), inside, imm=count)
            w.put("BRA", mask=inside)
            break
    w.pc = after
    for step in (16, 8, 4, 2, 1):
        w.put("SHFL.DOWN", None, (9, 8), imm=step)  # tracers list the destination as the first source
        w.put("FADD", 8, (8, 9))
    w.put("STS", None, (10, 8), 1, width=4, address=lambda lane: warp * 4)
    w.put("BAR.SYNC.DEFER_BLOCKING")
    w.put("ISETP.NE.AND", None, (11,))
    w.put("EXIT", mask=0 if warp == 0 else FULL)
    if warp == 0:
        w.put("LDS", 8, (10,), 0xFF, width=4, address=lambda lane: lane * 4)
        for step in (4, 2, 1):
            w.put("SHFL.DOWN", None, (9, 8), 0xFF, imm=step)
            w.put("FADD", 8, (8, 9), 0xFF)
        w.put("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", None, (2, 8), 1, width=4, address=lambda lane: REDUCE_OUT)
        w.put("EXIT")
    return w.lines


def saxpy_on(base):
    def saxpy(cta, warp):
        first = cta[0] * 128 + warp * WARP
        w = Warp()
        prologue(w)
        w.put("IMAD.MOV.U32", 9, (255, 255), imm=4)
        w.put("IMAD.WIDE", 4, (0, 9))
        for part in range(4):  # four values a thread, 128 KiB apart
            w.put("LDG.E.CONSTANT", 16 + part, (4,), width=4,
                  address=lambda lane: base + part * 0x20000 + 4 * (first + lane))
        for part in range(4):
            w.put("FFMA", 16 + part, (16 + part, 10, 11))
            w.put("STG.E", None, (4, 16 + part), width=4,
                  address=lambda lane: base + part * 0x20000 + 4 * (first + lane))
        w.put("EXIT")
        return w.lines
    return saxpy


# name, function, grid, threads a CTA, shared bytes, registers, stream
KERNELS = [
    ("vector_add(float const*, float const*, float*, int)", vector_add, (391, 1, 1), 256, 0, 16, 0),
    ("sgemm_tiled(float const*, float const*, float*, int, int)", sgemm_tiled, (4, 4, 1), 256, 8192, 96, 0),
    ("hgemm_tensor(__half const*, __half const*, float*, int, int)", hgemm_tensor, (4, 4, 1), 128, 9728, 104,
     0),
    ("reduce_divergent(float const*, float*, int)", reduce_divergent, (48, 1, 1), 256, 32, 20, 0),
    ("saxpy(float, float*)", saxpy_on(STREAM_X), (64, 1, 1), 128, 0, 24, 17),
    ("saxpy(float, float*)", saxpy_on(STREAM_Y), (64, 1, 1), 128, 0, 24, 18),
    ("vector_add(float const*, float const*, float*, int)", vector_add, (391, 1, 1), 256, 0, 16, 0),
]

# VEC_B was made on the device: its first reader finds it in DRAM.
COPIES = [(VEC_A, 400_000), (MAT_A, 65_536), (MAT_B, 65_536), (HALF_A, 65_536),
          (HALF_B, 65_536), (REDUCE_IN, 240_000), (STREAM_X, 524_288), (STREAM_Y, 524_288)]


def kernel_text(number, kernel):
    name, body, grid, threads, shared, registers, stream = kernel
    out = [f"""-kernel name = {name}
-kernel id = {number}
-grid dim = ({grid[0]},{grid[1]},{grid[2]})
-block dim = ({threads},1,1)
-shmem = {shared}
-nregs = {registers}
-binary version = 89
-cuda stream id = {stream}
-shmem base_addr = 0x00007f4e8e000000
-local mem base_addr = 0x00007f4e8c000000
-nvbit version = none, written by make_example.py
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width \
[adrrescompress?] [mem_addresses] immediate
"""]
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                out.append(f"\n#BEGIN_TB\n\nthread block = {x},{y},{z}\n")
                for warp in range(threads // WARP):
                    lines = body((x, y, z), warp)
                    out.append(f"\nwarp = {warp}\ninsts = {len(lines)}\n" + "\n".join(lines) + "\n")
                out.append("\n#END_TB\n")
    return "".join(out)


def files():
    """Name and text of every file; kernels without the .xz of their names."""
    names = [f"kernel-{i}.traceg" for i in range(1, len(KERNELS) + 1)]
    commands = [f"MemcpyHtoD,0x{address:016x},{size}" for address, size in COPIES]
    commands += [name + ".xz" for name in names]
    yield "kernelslist.g", "\n".join(commands) + "\n"
    for i, (name, kernel) in enumerate(zip(names, KERNELS), 1):
        yield name, kernel_text(i, kernel)


def path_of(folder, name):
    return folder / (name if name.endswith(".g") else name + ".xz")


def write(folder):
    total = 0
    for name, text in files():
        data = text.encode()
        if not name.endswith(".g"):
            data = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
        path_of(folder, name).write_bytes(data)
        total += len(data)
    print(f"{len(KERNELS)} kernels, {total} bytes in {folder}")


def check(folder):
    wrong = []
    for name, text in files():
        try:
            data = path_of(folder, name).read_bytes()
            if not name.endswith(".g"):
                data = lzma.decompress(data)
        except (OSError, lzma.LZMAError) as error:
            wrong.append(f"{name}: {error}")
            continue
        if data != text.encode():
            wrong.append(f"{name}: differs from what this script writes")
    print("\n".join(wrong) or "the example is up to date")
    return 1 if wrong else 0


def main(arguments):
    checking = "--check" in arguments
    folders = [a for a in arguments if a != "--check"]
    folder = pathlib.Path(folders[0]) if folders else pathlib.Path(__file__).resolve().parent
    if checking:
        return check(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
