// Rows of the settings table: the GPU's name, clocks, SM, execution units, run.
#include "sim/config/binding.h"
#include "sim/config/setting_row.h"
#include "sim/config/setting_sources.h"

namespace sm89::settings {
namespace {

constexpr std::string_view kPair = "cycles,cycles";  // latency and interval

}  // namespace

std::vector<RowSpec> NameRows() {
  return {
      {.name = "-gpgpu_sm89_name",
       .help = "Name of the modelled GPU, shown in reports.",
       .source = kLabel,
       .binding = NameBinding()},
  };
}

std::vector<RowSpec> ClockRows() {
  return {
      {.name = "-gpgpu_clock_domains",
       .unit = "MHz",
       .help = "Clocks of SM, interconnect, L2 and DRAM. The DRAM figure is the command clock: data move "
               "-dram_data_command_freq_ratio times a cycle.",
       .source = "core: boost clock of the NVIDIA Ada whitepaper; DRAM: 21 Gb/s over 4; interconnect and L2 "
                 "equal to "
                 "the core clock: assumption",
       .binding = ClockDomains()},
  };
}

std::vector<RowSpec> SmRows() {
  return {
      {.name = "-gpgpu_n_clusters",
       .unit = "clusters",
       .help = "Number of SM clusters; the GPU has clusters x -gpgpu_n_cores_per_cluster SMs.",
       .source = kWhitepaper,
       .binding = Uint<&GpuConfig::sm, &SmConfig::clusters>(1, 1024)},
      {.name = "-gpgpu_n_cores_per_cluster",
       .unit = "SMs",
       .help = "SMs a cluster.",
       .source = kModelChoice,
       .binding = Uint<&GpuConfig::sm, &SmConfig::sms_per_cluster>(1, 64)},
      {.name = "-gpgpu_num_sched_per_core",
       .aliases = {"-gpgpu_sm89_sub_cores"},
       .unit = "sub-cores",
       .help = "Sub-cores (warp schedulers) an SM; warp w belongs to sub-core w mod this.",
       .source = kGuide,
       .binding = PowerOfTwo<&GpuConfig::sm, &SmConfig::sub_cores>(1, 4)},
      {.name = "-gpgpu_shader_core_pipeline",
       .unit = "threads:threads",
       .help = "Resident threads an SM, and the warp size, which is 32 in this model.",
       .source = kGuide,
       .binding = ThreadsAndWarpSize()},
      {.name = "-gpgpu_shader_cta",
       .unit = "CTAs",
       .help = "Resident CTAs an SM.",
       .source = kGuide,
       .binding = Uint<&GpuConfig::sm, &SmConfig::max_ctas>(1, 128)},
      {.name = "-gpgpu_shader_registers",
       .unit = "registers",
       .help = "32-bit registers an SM.",
       .source = kGuide,
       .binding = Uint<&GpuConfig::sm, &SmConfig::registers>(1024, 1 << 20)},
      {.name = "-gpgpu_sm89_register_alloc_unit",
       .unit = "registers",
       .help = "A warp's registers are rounded up to a multiple of this.",
       .source = kOccupancy,
       .binding = PowerOfTwo<&GpuConfig::sm, &SmConfig::register_alloc_unit>(32, 4096)},
      {.name = "-gpgpu_scheduler",
       .help = "Warp scheduling policy of a sub-core.",
       .source = kHuerta,
       .binding = Enum<&GpuConfig::sm, &SmConfig::scheduler>({{"gty", 0, "greedy, then the youngest"},
                                                              {"lrr", 1, "loose round robin"},
                                                              {"gto", 2, "greedy, then the oldest"}})},
  };
}

std::vector<RowSpec> SharedMemoryRows() {
  return {
      {.name = "-gpgpu_sm89_max_shmem_per_cta",
       .unit = "bytes",
       .help = "Most shared memory that a CTA may ask for (opt-in maximum).",
       .source = kGuide,
       .binding = Uint<&GpuConfig::sm, &SmConfig::max_shmem_cta_bytes>(0, 1 << 20)},
      {.name = "-gpgpu_sm89_reserved_shmem_per_cta",
       .unit = "bytes",
       .help = "Shared memory that the system keeps for itself in each resident CTA.",
       .source = kGuide,
       .binding = Uint<&GpuConfig::sm, &SmConfig::reserved_shmem_cta_bytes>(0, 65536)},
      {.name = "-gpgpu_sm89_shmem_alloc_unit",
       .unit = "bytes",
       .help = "A CTA's shared memory is rounded up to a multiple of this.",
       .source = kOccupancy,
       .binding = PowerOfTwo<&GpuConfig::sm, &SmConfig::shmem_alloc_unit_bytes>(1, 65536)},
      {.name = "-gpgpu_shmem_option",
       .unit = "KiB",
       .help = "Sizes that shared memory can take of the unified L1 array; a kernel gets the smallest that "
               "holds its "
               "resident CTAs, the rest is L1 data cache.",
       .source = kGuide,
       .binding = Carveouts()},
      {.name = "-gpgpu_unified_l1d_size",
       .unit = "KiB",
       .help = "Size of the unified L1 data and shared memory array of an SM.",
       .source = kGuide,
       .binding = Uint<&GpuConfig::sm, &SmConfig::unified_l1_kib>(1, 1024)},
  };
}

std::vector<RowSpec> ExecRows() {
  using E = ExecConfig;
  return {
      {.name = "-trace_opcode_latency_initiation_sp",
       .unit = kPair,
       .help = "FP32 (FADD, FMUL, FFMA): cycles from issue to dependent issue, and cycles that a warp "
               "instruction keeps "
               "one of the two 16-lane half-pipes busy. Accel-Sim's figure excludes operand collection: its "
               "2 is about 4 here.",
       .source = "latency 4.08 measured on an RTX 4090 (public micro-benchmark log); interval: CUDA "
                 "programming guide",
       .binding = Timing(&E::fp32)},
      {.name = "-trace_opcode_latency_initiation_int",
       .unit = kPair,
       .help = "Integer ALU (IADD3, LOP3, ISETP): latency and interval of the half-pipe shared with FP32.",
       .source = "latency: Huerta et al. MICRO 2025; interval: CUDA programming guide (64 results/cycle/SM)",
       .binding = Timing(&E::integer)},
      {.name = "-gpgpu_sm89_timing_imad",
       .unit = kPair,
       .help = "Integer multiply-add: latency and interval of the FP32-only half-pipe.",
       .source = "4.2 and 2.02 measured on an RTX 4090 (public micro-benchmark log)",
       .binding = Timing(&E::imad)},
      {.name = "-gpgpu_sm89_timing_half",
       .unit = kPair,
       .help = "Packed half precision (HADD2, HFMA2): latency and interval.",
       .source = "latency: Huerta et al. MICRO 2025 (RTX A6000; 4.2 measured for HFMA2 on an RTX 4090); "
                 "interval 2.04 "
                 "measured on an RTX 4090",
       .binding = Timing(&E::half)},
      {.name = "-trace_opcode_latency_initiation_dp",
       .unit = kPair,
       .help = "FP64: latency, and interval of the unit that the whole SM shares.",
       .source = "54.0 cycles and 2 results/cycle/SM measured on an RTX 4090 (public micro-benchmark log)",
       .binding = Timing(&E::fp64)},
      {.name = "-trace_opcode_latency_initiation_sfu",
       .unit = kPair,
       .help = "Special functions (MUFU): latency and interval.",
       .source =
           "interval: 15.97 results/cycle/SM measured on an RTX 4090; latency: 17 of sm_86, 23.1 with the "
           "FMUL before it measured on an RTX 4090",
       .binding = Timing(&E::sfu)},
      {.name = "-trace_opcode_latency_initiation_tensor",
       .unit = kPair,
       .help = "Tensor core: latency and interval of a dense FP16 m16n8k16 with FP16 accumulation (2048 "
               "multiply-adds). Every other mode has a fixed ratio to its rate (configs/TENSOR_CORES.md); a "
               "latency is at least the interval and 1.",
       .source = "interval: 511.4 FMA/cycle/SM measured on an RTX 4090; latency: 24 on sm_86 (public table)",
       .binding = Timing(&E::tensor)},
  };
}

std::vector<RowSpec> OtherUnitRows() {
  using E = ExecConfig;
  return {
      {.name = "-gpgpu_sm89_timing_uniform",
       .unit = kPair,
       .help = "Uniform datapath: latency and interval.",
       .source = kHuerta,
       .binding = Timing(&E::uniform)},
      {.name = "-gpgpu_sm89_timing_branch",
       .unit = kPair,
       .help = "Branch unit: latency until the next instruction can issue, and interval.",
       .source = kAssumption,
       .binding = Timing(&E::branch)},
      {.name = "-gpgpu_sm89_timing_misc",
       .unit = kPair,
       .help = "CS2R, predicate moves and the like: latency and interval.",
       .source = kAssumption,
       .binding = Timing(&E::misc)},
      {.name = "-gpgpu_sm89_timing_texture",
       .unit = kPair,
       .help = "Texture and surface instructions: constant latency and interval, no texture cache.",
       .source = "assumption, after the public Accel-Sim RTX 3070 configuration",
       .binding = Timing(&E::texture)},
      {.name = "-gpgpu_sm89_tensor_fp32_accumulate_factor",
       .unit = "times",
       .help = "FP32 accumulation of FP16, BF16, TF32 and FP8 takes so many times the interval.",
       .source = "NVIDIA Ada whitepaper peak rates; 255.8 FMA/cycle/SM measured on an RTX 4090",
       .binding = Uint<&GpuConfig::exec, &E::tensor_fp32_accumulate_factor>(1, 4)},
      {.name = "-gpgpu_sm89_tc_fp8_enabled",
       .help = "0: a kernel with an FP8 tensor instruction (QMMA) is refused before anything runs.",
       .source = "FP8 came with the fourth generation: NVIDIA Ada whitepaper",
       .binding = Bool<&GpuConfig::exec, &E::tensor_fp8_enabled>()},
      {.name = "-gpgpu_sm89_tc_sparse_enabled",
       .help = "0: a kernel with a 2:4 sparse tensor instruction (HMMA.SP, IMMA.SP, QMMA.SP) is refused "
               "before anything runs.",
       .source = "2:4 sparsity at twice the rate: NVIDIA Ada whitepaper",
       .binding = Bool<&GpuConfig::exec, &E::tensor_sparse_enabled>()},
  };
}

std::vector<RowSpec> SharedUnitRows() {
  using E = ExecConfig;
  return {
      {.name = "-gpgpu_sm89_timing_convert",
       .unit = kPair,
       .help = "Conversions between formats (F2F, F2I, I2F, FRND): latency and interval.",
       .source = "interval: CUDA programming guide (16 results/cycle/SM); latency: assumption",
       .binding = Timing(&E::convert)},
      {.name = "-gpgpu_sm89_timing_integer_sfu",
       .unit = kPair,
       .help = "Integer functions of the special function unit (POPC, FLO, BREV): latency and interval.",
       .source = "assumption, as the conversions",
       .binding = Timing(&E::integer_sfu)},
      {.name = "-gpgpu_sm89_timing_special_register",
       .unit = kPair,
       .help = "S2R: latency and interval.",
       .source = kAssumption,
       .binding = Timing(&E::special_register)},
      {.name = "-gpgpu_sm89_timing_vote",
       .unit = kPair,
       .help = "VOTE, MATCH, REDUX and R2UR: latency and interval.",
       .source = kAssumption,
       .binding = Timing(&E::vote)},
      {.name = "-gpgpu_sm89_integer_shares_fp32",
       .help =
           "1: integer instructions run on FP32's second half-pipe, as on Ampere and Ada; 0: on a pipe of "
           "their own.",
       .source = kWhitepaper,
       .binding = Bool<&GpuConfig::exec, &E::integer_shares_fp32>()},
      {.name = "-gpgpu_sm89_fp64_shared",
       .help = "1: one FP64 unit for the SM, as on GeForce; 0: one in each sub-core.",
       .source = "2 results/cycle/SM measured on an RTX 4090 (public micro-benchmark log)",
       .binding = Bool<&GpuConfig::exec, &E::fp64_shared>()},
      {.name = "-gpgpu_sm89_imad_wide_issue_cycles",
       .unit = "cycles",
       .help = "IMAD.WIDE holds the issue port of its sub-core for so long.",
       .source = kHuertaModel,
       .binding = Uint<&GpuConfig::exec, &E::imad_wide_issue_cycles>(1, 64)},
      {.name = "-gpgpu_sm89_tensor_short_latency",
       .unit = "cycles",
       .help = "Latency of half-size tensor instructions (m16n8k8 of 16-bit types and the like).",
       .source = "17.7 measured on an H200",
       .binding = Uint<&GpuConfig::exec, &E::tensor_short_latency_cycles>(1, 10'000)},
      {.name = "-gpgpu_sm89_tensor_min_interval",
       .unit = "cycles",
       .help = "Least interval of a tensor instruction, whatever its shape.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::exec, &E::tensor_min_interval_cycles>(1, 1000)},
  };
}

std::vector<RowSpec> RunRows() {
  return {
      {.name = "-gpgpu_kernel_launch_latency",
       .unit = "cycles",
       .help = "From a kernel's turn in its stream to its first CTA.",
       .source = "public Accel-Sim RTX 3070 configuration; an L40 needs 1.6 us (about 4000 cycles) between "
                 "dependent kernels",
       .binding = Uint<&GpuConfig::run, &RunConfig::kernel_launch_latency_cycles>(0, 100'000'000)},
      {.name = "-gpgpu_TB_launch_latency",
       .unit = "cycles",
       .help = "From a free CTA slot to the first issue of the next CTA.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::run, &RunConfig::cta_launch_latency_cycles>(0, 1'000'000)},
      {.name = "-gpgpu_sm89_cta_launch_interval",
       .unit = "hundredths of a cycle",
       .help = "Between two CTAs that the GPU's work distributor launches.",
       .source = "1.2 cycles measured on an H200 with empty kernels; no measurement on Ada",
       .binding = Uint<&GpuConfig::run, &RunConfig::cta_launch_interval_hundredths>(0, 100'000)},
      {.name = "-gpgpu_max_concurrent_kernel",
       .unit = "kernels",
       .help = "Kernels that may be resident at a time.",
       .source = kGuide,
       .binding = Uint<&GpuConfig::run, &RunConfig::concurrent_kernels>(1, 1024)},
      {.name = "-gpgpu_sm89_window_cycles",
       .unit = "cycles",
       .help = "Look-ahead window in which SMs advance on their own; not above the smallest one-way latency "
               "of the interconnect. Up to half of it, the memory side runs beside the SMs. Kernel starts "
               "and CTA hand-outs are rounded up to a multiple of it; the "
               "number of threads changes nothing.",
       .source = kModelChoice,
       .binding = Uint<&GpuConfig::run, &RunConfig::window_cycles>(1, 100'000)},
      {.name = "-gpgpu_sm89_deadlock_cycles",
       .unit = "cycles",
       .help = "A run without any progress for so long ends with a report of what each warp waits for.",
       .source = kModelChoice,
       .binding = Uint<&GpuConfig::run, &RunConfig::deadlock_cycles>(10'000, 1'000'000'000'000)},
      {.name = "-gpgpu_sm89_control_bits",
       .help =
           "0: stall counts, counters and reuse bits of the machine code where a kernel has it, synthesised "
           "ones elsewhere; 1: synthesised ones for every kernel.",
       .source = kModelChoice,
       .binding = Uint<&GpuConfig::run, &RunConfig::control_bits>(0, 1)},
      {.name = "-gpgpu_sm89_timeline_interval",
       .unit = "cycles",
       .help = "Counter tracks of the timeline (--kineto): a sample at the first window border after so many "
               "cycles; 0 = none. A run longer than 8192 samples (1024 with SM tracks) has them this many "
               "cycles times a power of two apart. Changes no other result.",
       .source = kModelChoice,
       .binding = Uint<&GpuConfig::run, &RunConfig::timeline_interval_cycles>(0, 1'000'000'000)},
      {.name = "-gpgpu_sm89_timeline_sm_tracks",
       .help = "With -gpgpu_sm89_timeline_interval: the issue rate of each SM, too.",
       .source = kModelChoice,
       .binding = Bool<&GpuConfig::run, &RunConfig::timeline_sm_tracks>()},
  };
}

}  // namespace sm89::settings
