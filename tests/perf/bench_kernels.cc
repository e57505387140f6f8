#include "tests/perf/bench_kernels.h"

#include <zlib.h>

#include <array>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sm89::perf {
namespace {

constexpr uint32_t kWarpSize = 32;
constexpr uint32_t kFullMask = 0xffffffff;
constexpr uint32_t kInstBytes = 16;
constexpr int kNone = -1;  // no destination register
// Three arrays of the device's global memory.
constexpr uint64_t kInputA = 0x7f4e00000000;
constexpr uint64_t kInputB = 0x7f4e10000000;
constexpr uint64_t kOutput = 0x7f4e20000000;
constexpr uint64_t kCopiedBytes = 4 << 20;  // of each input, by MemcpyHtoD
// Matrices are square, and a row of CTAs covers them.
constexpr uint64_t kMatrixSize = 1024;
constexpr uint64_t kCtasARow = 16;

using Sources = std::initializer_list<int>;
using LaneAddress = std::function<uint64_t(uint64_t lane)>;

// One warp's section of the text.
class WarpText {
 public:
  void Clear() {
    text_.clear();
    pc_ = 0;
    instructions_ = 0;
  }
  void Op(const char* opcode, int dest = kNone, Sources sources = {}, uint32_t mask = kFullMask) {
    Head(opcode, dest, sources, mask);
    Tail("0");
  }
  // Lane l accesses base + l * stride.
  void Strided(const char* opcode, int dest, Sources sources, uint32_t width_bytes, uint64_t base,
               uint64_t stride) {
    Head(opcode, dest, sources, kFullMask);
    Tail(absl::StrFormat("%u 1 0x%x %u", width_bytes, base, stride));
  }
  // The first lane's address, then each lane's difference to the one before.
  void Lanes(const char* opcode, int dest, Sources sources, uint32_t width_bytes,
             const LaneAddress& address) {
    Head(opcode, dest, sources, kFullMask);
    std::string list = absl::StrFormat("%u 2 0x%x", width_bytes, address(0));
    for (uint64_t lane = 1; lane < kWarpSize; ++lane) {
      absl::StrAppend(&list, " ", static_cast<int64_t>(address(lane) - address(lane - 1)));
    }
    Tail(list);
  }

  uint32_t pc() const { return pc_; }
  // What follows is the next iteration of a loop.
  void LoopTo(uint32_t pc) { pc_ = pc; }
  uint64_t instructions() const { return instructions_; }
  const std::string& text() const { return text_; }

 private:
  void Head(const char* opcode, int dest, Sources sources, uint32_t mask) {
    absl::StrAppend(&text_, absl::Hex(pc_, absl::kZeroPad4), " ", absl::Hex(mask, absl::kZeroPad8));
    if (dest == kNone) {
      absl::StrAppend(&text_, " 0 ", opcode, " ", sources.size());
    } else {
      absl::StrAppend(&text_, " 1 R", dest, " ", opcode, " ", sources.size());
    }
    for (const int source : sources) absl::StrAppend(&text_, " R", source);
    pc_ += kInstBytes;
    ++instructions_;
  }
  void Tail(const std::string& memory) { absl::StrAppend(&text_, " ", memory, " 0 \n"); }

  std::string text_;
  uint32_t pc_ = 0;
  uint64_t instructions_ = 0;
};

struct WarpPlace {
  uint64_t cta = 0;
  uint64_t warp = 0;
};

void WriteVecAdd(const BenchInput& input, const WarpPlace& at, WarpText* out) {
  const bool loops = input.kernel == BenchKernel::kStream;
  out->Op("MOV", 1);
  out->Op("S2R", 6);
  out->Op("S2R", 3);
  out->Op("IMAD", 6, {6, 3});
  out->Op("ISETP.GE.AND", kNone, {6});
  out->Op("EXIT", kNone, {}, 0);  // no thread is out of range
  out->Op("MOV", 7);
  out->Op("ULDC.64");
  const uint32_t top = out->pc();
  for (uint64_t i = 0; i < (loops ? input.iterations : 1); ++i) {
    out->LoopTo(top);
    const uint64_t offset = ((i * input.ctas + at.cta) * 8 + at.warp) * kWarpSize * 4;
    out->Op("IMAD.WIDE", 4, {6, 7});
    out->Op("IMAD.WIDE", 2, {6, 7});
    out->Strided("LDG.E", 4, {4}, 4, kInputA + offset, 4);
    out->Strided("LDG.E", 3, {2}, 4, kInputB + offset, 4);
    out->Op("IMAD.WIDE", 8, {6, 7});
    out->Op("FADD", 9, {4, 3});
    out->Strided("STG.E", kNone, {8, 9}, 4, kOutput + offset, 4);
    if (!loops) continue;
    out->Op("IADD3", 6, {6});
    out->Op("ISETP.GE.AND", kNone, {6});
    out->Op("BRA");
  }
  out->Op("EXIT");
}

constexpr int kGemmTile = 4;  // a thread's tile is 4 x 4
constexpr int kGemmAcc = 64;  // first accumulator register

// One step of the K loop on the tiles in shared memory: two loads and 16 multiply-adds.
void WriteGemmStep(uint64_t k, const WarpPlace& at, WarpText* out) {
  const auto a = [&](uint64_t lane) { return k * 256 + (at.warp * 2 + lane / 16) * 16; };
  const auto b = [&](uint64_t lane) { return 4096 + k * 256 + lane % 16 * 16; };
  out->Lanes("LDS.128", 32, {14}, 16, a);
  out->Lanes("LDS.128", 36, {15}, 16, b);
  for (int i = 0; i < kGemmTile; ++i) {
    for (int j = 0; j < kGemmTile; ++j) {
      const int acc = kGemmAcc + i * kGemmTile + j;
      out->Op("FFMA", acc, {32 + i, 36 + j, acc});
    }
  }
}

void WriteGemmTile(uint64_t tile, const WarpPlace& at, WarpText* out) {
  const uint64_t row = at.cta / kCtasARow * 64, column = at.cta % kCtasARow * 64;
  const auto a = [&](uint64_t lane) {
    return kInputA + ((row + at.warp * 8 + lane / 4) * kMatrixSize + tile * 16 + lane % 4 * 4) * 4;
  };
  const auto b = [&](uint64_t lane) {
    return kInputB + ((tile * 16 + at.warp * 2 + lane / 16) * kMatrixSize + column + lane % 16 * 4) * 4;
  };
  out->Op("IMAD.WIDE", 4, {10, 11});
  out->Op("IMAD.WIDE", 6, {12, 13});
  out->Lanes("LDG.E.128", 20, {4}, 16, a);
  out->Lanes("LDG.E.128", 24, {6}, 16, b);
  out->Strided("STS.128", kNone, {14, 20}, 16, at.warp * 512, 16);
  out->Strided("STS.128", kNone, {15, 24}, 16, 4096 + at.warp * 512, 16);
  out->Op("BAR.SYNC");
  for (uint64_t k = 0; k < 16; ++k) WriteGemmStep(k, at, out);
  out->Op("BAR.SYNC");
  out->Op("IADD3", 12, {12});
  out->Op("ISETP.GE.AND", kNone, {12});
  out->Op("BRA");
}

void WriteGemm(const BenchInput& input, const WarpPlace& at, WarpText* out) {
  out->Op("MOV", 1);
  out->Op("S2R", 2);
  out->Op("S2R", 3);
  for (int r = 10; r < 14; ++r) out->Op("IMAD", r, {2, 3});
  for (int r = 0; r < kGemmTile * kGemmTile; ++r) out->Op("CS2R", kGemmAcc + r);
  const uint32_t top = out->pc();
  for (uint64_t tile = 0; tile < input.iterations; ++tile) {
    out->LoopTo(top);
    WriteGemmTile(tile, at, out);
  }
  const uint64_t row = at.cta / kCtasARow * 64, column = at.cta % kCtasARow * 64;
  for (uint64_t i = 0; i < kGemmTile; ++i) {
    const auto c = [&](uint64_t lane) {
      return kOutput + ((row + at.warp * 8 + lane / 16 * 4 + i) * kMatrixSize + column + lane % 16 * 4) * 4;
    };
    out->Op("IMAD.WIDE", 4, {10, 11});
    out->Lanes("STG.E.128", kNone, {4, kGemmAcc + static_cast<int>(i) * kGemmTile}, 16, c);
  }
  out->Op("EXIT");
}

void WriteHmmaTile(uint64_t tile, const WarpPlace& at, WarpText* out) {
  const uint64_t row = at.cta / kCtasARow * 64 + at.warp * 16;
  for (uint64_t q = 0; q < 4; ++q) {
    const auto a = [&](uint64_t lane) {
      return kInputA + ((row + q * 4 + lane / 8) * kMatrixSize + tile * 32 + lane % 8 * 4) * 2;
    };
    out->Lanes("LDGSTS.E.BYPASS.128", 16, {4}, 16, a);
  }
  out->Op("LDGDEPBAR");
  out->Op("DEPBAR.LE");
  out->Op("BAR.SYNC");
  for (uint64_t k = 0; k < 4; ++k) {
    for (int q = 0; q < 4; ++q) {
      out->Strided("LDSM.16.M88.4", 20 + 4 * q, {15}, 2, k * 1024 + static_cast<uint64_t>(q) * 512, 16);
    }
    for (int q = 0; q < 16; ++q) {
      out->Op("HMMA.16816.F32", kGemmAcc + 2 * q, {20 + q % 4 * 4, 28, kGemmAcc + 2 * q});
    }
  }
  out->Op("BAR.SYNC");
  out->Op("IADD3", 12, {12});
  out->Op("BRA");
}

void WriteHmma(const BenchInput& input, const WarpPlace& at, WarpText* out) {
  for (int r = 1; r < 4; ++r) out->Op("S2R", r);
  for (int r = kGemmAcc; r < kGemmAcc + 32; ++r) out->Op("CS2R", r);
  const uint32_t top = out->pc();
  for (uint64_t tile = 0; tile < input.iterations; ++tile) {
    out->LoopTo(top);
    WriteHmmaTile(tile, at, out);
  }
  for (int q = 0; q < 4; ++q) {
    const uint64_t offset = (at.cta * 4 + at.warp) * kWarpSize * 64 + static_cast<uint64_t>(q) * 256;
    out->Strided("STG.E.64", kNone, {4, kGemmAcc + q}, 8, kOutput + offset, 8);
  }
  out->Op("EXIT");
}

// A well-mixed function of its argument (the finaliser of SplitMix64).
uint64_t Mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

void WriteGather(const BenchInput& input, const WarpPlace& at, WarpText* out) {
  constexpr uint64_t kWords = 1 << 12;  // 16 KiB: it is the trace that is large here
  out->Op("S2R", 6);
  const uint32_t top = out->pc();
  for (uint64_t i = 0; i < input.iterations; ++i) {
    out->LoopTo(top);
    const uint64_t first = ((at.cta * 8 + at.warp) * input.iterations + i) * kWarpSize;
    out->Op("IMAD.WIDE", 4, {6, 7});
    out->Lanes("LDG.E", 3, {4}, 4, [&](uint64_t lane) { return kInputA + Mix(first + lane) % kWords * 4; });
    out->Op("FADD", 9, {9, 3});
    out->Op("BRA");
  }
  out->Op("EXIT");
}

struct KernelShape {
  const char* name;
  uint32_t warps;  // a CTA
  uint32_t registers;
  uint32_t shared_bytes;
  void (*write)(const BenchInput& input, const WarpPlace& at, WarpText* out);
};

// In the order of BenchKernel.
constexpr KernelShape kShapes[] = {
    {"vecadd", 8, 16, 0, WriteVecAdd},  {"stream", 8, 16, 0, WriteVecAdd}, {"gemm", 8, 96, 8192, WriteGemm},
    {"hmma", 4, 112, 32768, WriteHmma}, {"gather", 8, 16, 0, WriteGather},
};

const KernelShape& ShapeOf(BenchKernel kernel) { return kShapes[static_cast<size_t>(kernel)]; }

std::string HeaderText(const BenchInput& input) {
  const KernelShape& shape = ShapeOf(input.kernel);
  const std::string name = shape.name;
  std::string text = absl::StrCat("-kernel name = _Z", name.size(), name, "PKfS0_Pfi\n-kernel id = 1\n");
  absl::StrAppend(&text, "-grid dim = (", input.ctas, ",1,1)\n");
  absl::StrAppend(&text, "-block dim = (", shape.warps * kWarpSize, ",1,1)\n");
  absl::StrAppend(&text, "-shmem = ", shape.shared_bytes, "\n-nregs = ", shape.registers, "\n");
  absl::StrAppend(&text, "-binary version = 89\n-cuda stream id = 0\n");
  absl::StrAppend(&text,
                  "-shmem base_addr = 0x00007f4e8e000000\n-local mem base_addr = 0x00007f4e8c000000\n");
  absl::StrAppend(&text, "-nvbit version = 1.5.5\n-accelsim tracer version = 4\n-enable lineinfo = 0\n\n");
  absl::StrAppend(&text,
                  "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] ");
  return absl::StrCat(text, "mem_width [adrrescompress?] [mem_addresses] immediate\n\n");
}

// A file that zlib writes, compressed or as it is.
class TextFile {
 public:
  TextFile(const std::string& path, bool gzip) : file_(gzopen(path.c_str(), gzip ? "wb1" : "wbT")) {
    if (file_ != nullptr) gzbuffer(file_, 1 << 17);
  }
  ~TextFile() {
    if (file_ != nullptr) gzclose(file_);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void Write(const std::string& text) {
    ok_ = ok_ && file_ != nullptr && gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) > 0;
  }
  // False unless everything was written.
  bool Close() {
    const bool closed = file_ != nullptr && gzclose(file_) == Z_OK;
    file_ = nullptr;
    return ok_ && closed;
  }

 private:
  gzFile file_;
  bool ok_ = true;
};

}  // namespace

std::span<const BenchInput> BenchInputs() {
  static const std::array<BenchInput, 4> inputs = {{{"gemm128", BenchKernel::kGemm, 128, 4},
                                                    {"vecadd512", BenchKernel::kVecAdd, 512, 1},
                                                    {"hmma128", BenchKernel::kHmma, 128, 8},
                                                    {"stream1024", BenchKernel::kStream, 1024, 8}}};
  return inputs;
}

const char* NameOf(BenchKernel kernel) { return ShapeOf(kernel).name; }

std::optional<BenchKernel> KernelByName(std::string_view name) {
  for (size_t i = 0; i < std::size(kShapes); ++i) {
    if (name == kShapes[i].name) return static_cast<BenchKernel>(i);
  }
  return std::nullopt;
}

uint64_t WarpInstructions(const BenchInput& input) {
  const KernelShape& shape = ShapeOf(input.kernel);
  WarpText warp;
  shape.write(input, {}, &warp);
  return warp.instructions() * shape.warps * input.ctas;
}

absl::Status WriteBenchTrace(const BenchInput& input, const std::string& folder, bool gzip) {
  const KernelShape& shape = ShapeOf(input.kernel);
  const std::string name = absl::StrCat("kernel-1.traceg", gzip ? ".gz" : "");
  const std::string path = absl::StrCat(folder, "/", name);
  TextFile file(path, gzip);
  file.Write(HeaderText(input));
  WarpText text;
  for (uint64_t cta = 0; cta < input.ctas; ++cta) {
    file.Write(absl::StrCat("\n#BEGIN_TB\n\nthread block = ", cta, ",0,0\n"));
    for (uint64_t warp = 0; warp < shape.warps; ++warp) {
      text.Clear();
      shape.write(input, {cta, warp}, &text);
      file.Write(absl::StrCat("\nwarp = ", warp, "\ninsts = ", text.instructions(), "\n"));
      file.Write(text.text());
    }
    file.Write("\n#END_TB\n");
  }
  if (!file.Close()) return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
  std::ofstream list(folder + "/kernelslist.g");
  for (const uint64_t base : {kInputA, kInputB}) {
    list << absl::StrFormat("MemcpyHtoD,0x%016x,%u\n", base, kCopiedBytes);
  }
  list << name << "\n";
  list.close();
  if (!list) return absl::UnavailableError(absl::StrCat(folder, "/kernelslist.g: cannot be written"));
  return absl::OkStatus();
}

}  // namespace sm89::perf
