// Rows of the settings table: instruction supply, constants, register file, address translation.
#include "sim/config/binding.h"
#include "sim/config/setting_row.h"
#include "sim/config/setting_sources.h"

namespace sm89::settings {
namespace {

constexpr uint64_t kMaxCycles = 10'000;
constexpr std::string_view kH100Constants =
    "2 KB and 64-byte lines measured on an H100 (MT4G); published RTX A6000 model of Huerta et al.";

}  // namespace

std::vector<RowSpec> FetchRows() {
  using F = FrontEndConfig;
  return {
      {.name = "-gpgpu_sm89_perfect_icache",
       .help = "1: every instruction fetch hits the sub-core's L0 instruction cache.",
       .source = kModelChoice,
       .binding = Bool<&GpuConfig::front, &F::perfect_icache>()},
      {.name = "-gpgpu_sm89_ibuffer_entries",
       .unit = "instructions",
       .help = "Instruction buffer of a warp; a sub-core fetches one instruction a cycle.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::front, &F::ibuffer_entries>(1, 16)},
      {.name = "-gpgpu_sm89_fetch_decode_cycles",
       .unit = "cycles",
       .help = "From a fetch that hits the L0 instruction cache to an instruction that may issue.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::front, &F::fetch_decode_cycles>(1, 100)},
      {.name = "-gpgpu_sm89_branch_redirect_cycles",
       .unit = "cycles",
       .help = "From a taken branch's issue to its target's, when the caches hold the target; a longer stall "
               "count hides it.",
       .source = "10, exact, from loops measured on an H200; no measurement on Ada",
       .binding = Uint<&GpuConfig::front, &F::branch_redirect_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_convergence_cycles",
       .unit = "cycles",
       .help = "From BSYNC to the warp's next issue.",
       .source = "divergence loops measured on an H200; no measurement on Ada",
       .binding = Uint<&GpuConfig::front, &F::convergence_cycles>(1, 1000)},
  };
}

std::vector<RowSpec> InstructionCacheRows() {
  using F = FrontEndConfig;
  return {
      {.name = "-gpgpu_sm89_l0i_size",
       .unit = "KiB",
       .help = "L0 instruction cache of a sub-core, 128-byte lines.",
       .source = "published RTX A6000 model of Huerta et al.; an RTX 3060 measures 16 KiB",
       .binding = Uint<&GpuConfig::front, &F::l0_kib>(1, 1024)},
      {.name = "-gpgpu_sm89_l0i_ways",
       .unit = "ways",
       .help = "Associativity of the L0 instruction cache.",
       .source = kHuertaModel,
       .binding = Uint<&GpuConfig::front, &F::l0_ways>(1, 8192)},
      {.name = "-gpgpu_sm89_l1i_size",
       .unit = "KiB",
       .help = "L1 instruction cache of an SM, 128-byte lines.",
       .source = "published RTX A6000 model of Huerta et al.; measurements on sm_86 contradict each other "
                 "(24 to 60 KiB by latency)",
       .binding = Uint<&GpuConfig::front, &F::l1_kib>(1, 4096)},
      {.name = "-gpgpu_sm89_l1i_ways",
       .unit = "ways",
       .help = "Associativity of the L1 instruction cache.",
       .source = kHuertaModel,
       .binding = Uint<&GpuConfig::front, &F::l1_ways>(1, 8192)},
      {.name = "-gpgpu_sm89_l0i_miss_cycles",
       .unit = "cycles",
       .help = "From an L0 miss to its line out of the L1 instruction cache: 39 there, 39 back.",
       .source = "published RTX A6000 model of Huerta et al.; an RTX 3070 measures 78",
       .binding = Uint<&GpuConfig::front, &F::l0_miss_cycles>(1, kMaxCycles)},
      {.name = "-gpgpu_sm89_l0i_fill_interval",
       .unit = "cycles",
       .help = "Between two lines that one L0 instruction cache receives.",
       .source = kHuertaModel,
       .binding = Uint<&GpuConfig::front, &F::l0_fill_interval_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_l1i_miss_cycles",
       .unit = "cycles",
       .help = "From an L1 instruction miss to its line out of the L2, beyond -gpgpu_sm89_l0i_miss_cycles.",
       .source = "assumption: about an L2 hit",
       .binding = Uint<&GpuConfig::front, &F::l1_miss_cycles>(0, kMaxCycles)},
      {.name = "-gpgpu_sm89_l1i_fill_interval",
       .unit = "cycles",
       .help = "Between two lines that the L1 instruction cache receives.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::front, &F::l1_fill_interval_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_stream_buffer_lines",
       .unit = "lines",
       .help = "Lines that a sub-core's stream buffer prefetches behind an L0 miss, one a cycle; 0 = none.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::front, &F::stream_buffer_lines>(0, 64)},
  };
}

std::vector<RowSpec> ConstantCacheRows() {
  using C = ConstantConfig;
  return {
      {.name = "-gpgpu_sm89_perfect_constant_cache",
       .help = "1: every constant operand hits the sub-core's constant cache.",
       .source = kModelChoice,
       .binding = Bool<&GpuConfig::constant, &C::perfect_l0>()},
      {.name = "-gpgpu_sm89_constant_l0_size",
       .unit = "bytes",
       .help = "Constant cache of a sub-core for operands of fixed-latency instructions.",
       .source = kHuertaModel,
       .binding = Uint<&GpuConfig::constant, &C::l0_bytes>(32, 65536)},
      {.name = "-gpgpu_sm89_constant_l0_ways",
       .unit = "ways",
       .help = "Its associativity.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::constant, &C::l0_ways>(1, 2048)},
      {.name = "-gpgpu_sm89_constant_l1_size",
       .unit = "bytes",
       .help = "Constant cache of an SM.",
       .source = kH100Constants,
       .binding = Uint<&GpuConfig::constant, &C::l1_bytes>(32, 1 << 20)},
      {.name = "-gpgpu_sm89_constant_l1_ways",
       .unit = "ways",
       .help = "Its associativity.",
       .source = kHuertaModel,
       .binding = Uint<&GpuConfig::constant, &C::l1_ways>(1, 2048)},
      {.name = "-gpgpu_sm89_constant_line_bytes",
       .unit = "bytes",
       .help = "Line of both constant caches.",
       .source = kH100Constants,
       .binding = PowerOfTwo<&GpuConfig::constant, &C::line_bytes>(32, 1024)},
  };
}

std::vector<RowSpec> ConstantTimingRows() {
  using C = ConstantConfig;
  return {
      {.name = "-gpgpu_sm89_constant_l0_miss_cycles",
       .unit = "cycles",
       .help = "Constant operand that misses the sub-core's cache and hits the SM's: delay of its "
               "instruction.",
       .source = kHuertaModel,
       .binding = Uint<&GpuConfig::constant, &C::l0_miss_cycles>(0, kMaxCycles)},
      {.name = "-gpgpu_sm89_constant_l1_miss_cycles",
       .unit = "cycles",
       .help = "Constant operand that misses both caches: delay of its instruction.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::constant, &C::l1_miss_cycles>(0, kMaxCycles)},
      {.name = "-gpgpu_sm89_constant_miss_switch_cycles",
       .unit = "cycles",
       .help = "The scheduler waits so long for the constant of the warp that it issued last before it "
               "takes another.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::constant, &C::miss_switch_cycles>(0, 1000)},
      {.name = "-gpgpu_sm89_ldc_immediate_cycles",
       .unit = "cycles",
       .help = "LDC at an immediate address that hits: issue to dependent issue.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::constant, &C::ldc_immediate_cycles>(1, kMaxCycles)},
      {.name = "-gpgpu_sm89_ldc_register_cycles",
       .unit = "cycles",
       .help = "LDC at an address in a register that hits: issue to dependent issue.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::constant, &C::ldc_register_cycles>(1, kMaxCycles)},
  };
}

std::vector<RowSpec> RegisterFileRows() {
  using R = RegisterFileConfig;
  return {
      {.name = "-gpgpu_sm89_register_banks",
       .unit = "banks",
       .help = "Register-file banks of a sub-core; register r is in bank r mod this.",
       .source = kHuerta,
       .binding = PowerOfTwo<&GpuConfig::registers, &R::banks>(1, 4)},
      {.name = "-gpgpu_sm89_register_read_ports",
       .unit = "reads/cycle",
       .help = "Warp-wide reads that a bank serves in a cycle; 0 = no limit.",
       .source = "Huerta et al., MICRO 2025; an FFMA of three registers takes 2.03 cycles on an RTX 4090",
       .binding = Uint<&GpuConfig::registers, &R::read_ports>(0, 8)},
      {.name = "-gpgpu_sm89_register_read_window",
       .unit = "cycles",
       .help = "Cycles in which a fixed-latency instruction reads its operands; one that does not fit waits.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::registers, &R::read_window_cycles>(1, 16)},
      {.name = "-gpgpu_sm89_register_reuse_cache",
       .help = "1: operands whose reuse bit is set are kept for the next reader of the same slot; 0: none "
               "are.",
       .source = kHuerta,
       .binding = Bool<&GpuConfig::registers, &R::reuse_cache>()},
  };
}

std::vector<RowSpec> TlbRows() {
  using T = TlbConfig;
  return {
      {.name = "-gpgpu_sm89_tlb_entries",
       .unit = "pages",
       .help = "Pages that an SM's translation buffer holds; 0 = every page.",
       .source = "16 entries: public TLB test on Turing and Ampere; a chase on an RTX 4090 bends at 32 MB",
       .binding = Uint<&GpuConfig::tlb, &T::entries>(0, 4096)},
      {.name = "-gpgpu_sm89_tlb_page_size",
       .unit = "KiB",
       .help = "Size of a page.",
       .source = "assumption: 32 MB over 16 entries",
       .binding = PowerOfTwo<&GpuConfig::tlb, &T::page_kib>(4, 1 << 20)},
      {.name = "-gpgpu_sm89_tlb_miss_cycles",
       .unit = "cycles",
       .help = "Added to an access whose page the SM's translation buffer does not hold.",
       .source = "measured on an RTX 3060; 0.6 to 10 cycles on an RTX 4090 and an L40",
       .binding = Uint<&GpuConfig::tlb, &T::miss_cycles>(0, kMaxCycles)},
  };
}

}  // namespace sm89::settings
