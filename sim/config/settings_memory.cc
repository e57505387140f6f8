// Rows of the settings table: L1 and shared memory, interconnect, L2, DRAM.
#include "sim/config/binding.h"
#include "sim/config/setting_row.h"
#include "sim/config/setting_sources.h"

namespace sm89::settings {
namespace {

constexpr uint64_t kMaxCycles = 100'000;
constexpr uint64_t kMaxDramClocks = 1000;  // as in the timing string (binding.cc)
constexpr std::string_view kMeanHit =
    "an L2 hit of 284.8 cycles in all (public RTX 4090 log); how it divides: assumption";

}  // namespace

std::vector<RowSpec> L1Rows() {
  return {
      {.name = "-gpgpu_cache:dl1",
       .help = "L1 data cache: sets, MSHRs and their order. How many ways a kernel sees follows from what "
               "its shared-memory "
               "carve-out leaves of -gpgpu_unified_l1d_size.",
       .source = "size: CUDA programming guide; MSHRs: public Accel-Sim RTX 3070 configuration",
       .binding = Cache<&GpuConfig::l1, &L1Config::cache>()},
      {.name = "-gpgpu_l1_latency",
       .aliases = {"-gpgpu_sm89_l1_latency"},
       .unit = "cycles",
       .help = "L1 hit of a 32-bit load: issue to dependent issue.",
       .source =
           "36.0 for a chase of 64-bit pointers on an RTX 4090 (public log), two of them for the second "
           "word; 40 to 44.5 with other test codes",
       .binding = Uint<&GpuConfig::l1, &L1Config::latency_cycles>(1, kMaxCycles)},
      {.name = "-gpgpu_smem_latency",
       .aliases = {"-gpgpu_sm89_shmem_latency"},
       .unit = "cycles",
       .help = "Shared-memory load without bank conflict: issue to dependent issue.",
       .source = "Huerta et al., MICRO 2025 (RTX A6000); a pointer chase measures 30 on an RTX 4090",
       .binding = Uint<&GpuConfig::l1, &L1Config::shmem_latency_cycles>(1, kMaxCycles)},
      {.name = "-gpgpu_shmem_num_banks",
       .unit = "banks",
       .help = "Shared-memory banks of 4 bytes.",
       .source = kGuide,
       .binding = PowerOfTwo<&GpuConfig::l1, &L1Config::shmem_banks>(32, 32)},
      {.name = "-gpgpu_sm89_mem_request_interval",
       .unit = "cycles",
       .help =
           "The SM's shared memory unit accepts one warp instruction in so many cycles, from any sub-core.",
       .source = "derived from 63 and 128 B/cycle/SM for 32- and 64-bit loads measured on an RTX 4090",
       .binding = Uint<&GpuConfig::l1, &L1Config::request_interval_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_l1_sectors_per_cycle",
       .unit = "sectors/cycle",
       .help = "32-byte sectors that the L1 looks up and moves in a cycle.",
       .source = "117.8 B/cycle/SM measured on an RTX 4090 (public micro-benchmark log)",
       .binding = Uint<&GpuConfig::l1, &L1Config::sectors_per_cycle>(1, 32)},
      {.name = "-gpgpu_sm89_mem_queue_entries",
       .unit = "instructions",
       .help = "Memory instructions that a sub-core queues before the address unit.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L1Config::queue_entries>(1, 16)},
  };
}

std::vector<RowSpec> MemoryPipelineRows() {
  return {
      {.name = "-gpgpu_sm89_ldgsts_latency",
       .unit = "cycles",
       .help = "LDGSTS (cp.async) that hits the L1: issue to data in shared memory.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L1Config::ldgsts_latency_cycles>(1, kMaxCycles)},
      {.name = "-gpgpu_sm89_address_cycles",
       .unit = "cycles",
       .help = "Address unit of a sub-core: busy for one memory instruction.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L1Config::address_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_l1_miss_detect_cycles",
       .unit = "cycles",
       .help = "From the shared memory unit to a request on its way to the L2.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::l1, &L1Config::miss_detect_cycles>(0, 10'000)},
      {.name = "-gpgpu_sm89_l1_fill_cycles",
       .unit = "cycles",
       .help = "From a reply's arrival at the SM to dependent issue.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::l1, &L1Config::fill_cycles>(0, 10'000)},
      {.name = "-gpgpu_sm89_shuffle_latency",
       .unit = "cycles",
       .help = "Warp shuffle: issue to dependent issue.",
       .source = "assumption, as a shared-memory load",
       .binding = Uint<&GpuConfig::l1, &L1Config::shuffle_latency_cycles>(1, kMaxCycles)},
      {.name = "-gpgpu_sm89_shuffle_register_cycles",
       .unit = "cycles",
       .help = "What SHFL takes longer when its lane comes from a register.",
       .source = "26 against 24 cycles measured on an H200",
       .binding = Uint<&GpuConfig::l1, &L1Config::shuffle_register_cycles>(0, 1000)},
      {.name = "-gpgpu_sm89_shuffle_interval",
       .unit = "cycles",
       .help = "Warp shuffle: the SM's shared data path is busy.",
       .source = "CUDA programming guide (32 results/cycle/SM for 8.6 and 8.9), one path an SM: assumption",
       .binding = Uint<&GpuConfig::l1, &L1Config::shuffle_interval_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_membar_cta_cycles",
       .unit = "cycles",
       .help = "Memory fence at CTA scope: stall of the warp.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L1Config::membar_cta_cycles>(0, kMaxCycles)},
      {.name = "-gpgpu_sm89_membar_gpu_cycles",
       .unit = "cycles",
       .help = "Memory fence at GPU scope: stall of the warp.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L1Config::membar_gpu_cycles>(0, kMaxCycles)},
      {.name = "-gpgpu_sm89_membar_sys_cycles",
       .unit = "cycles",
       .help = "Memory fence at system scope: stall of the warp.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L1Config::membar_sys_cycles>(0, kMaxCycles)},
  };
}

std::vector<RowSpec> MemoryStepRows() {
  using L = L1Config;
  return {
      {.name = "-gpgpu_sm89_uniform_address_cycles",
       .unit = "cycles",
       .help = "Address unit of a sub-core: busy for an instruction whose address is in a uniform register.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L::uniform_address_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_shmem_address_cycles",
       .unit = "cycles",
       .help = "Address unit of a sub-core: busy for a shared-memory instruction.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L::shmem_address_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_wide_load_cycles",
       .unit = "cycles",
       .help = "Global and local loads wider than 32 bits: added for each further register of a lane.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L::wide_load_cycles>(0, 1000)},
      {.name = "-gpgpu_sm89_shmem_wide_load_cycles",
       .unit = "cycles",
       .help = "Shared-memory loads of 128 bits: added for each further pass.",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L::shmem_wide_load_cycles>(0, 1000)},
      {.name = "-gpgpu_sm89_ldsm_matrix_cycles",
       .unit = "cycles",
       .help = "LDSM: added for each further matrix.",
       .source = "published RTX A6000 model of Huerta et al., MICRO 2025; measured on an H200",
       .binding = Uint<&GpuConfig::l1, &L::ldsm_matrix_cycles>(0, 1000)},
      {.name = "-gpgpu_sm89_shmem_atomic_cycles",
       .unit = "cycles",
       .help = "Shared-memory atomic: a round, in which each address that lanes share takes one of them.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::l1, &L::shmem_atomic_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_shmem_atomic_latency",
       .unit = "cycles",
       .help = "Shared-memory atomic: its result comes later than a load's by these.",
       .source = "measured on an H200; no measurement on Ada",
       .binding = Uint<&GpuConfig::l1, &L::shmem_atomic_latency_cycles>(0, 1000)},
      {.name = "-gpgpu_sm89_read_release_cycles",
       .unit = "cycles",
       .help = "Memory instruction of 32 bits: issue to its source registers read (write after read).",
       .source = kHuerta,
       .binding = Uint<&GpuConfig::l1, &L::read_release_cycles>(1, 1000)},
      {.name = "-gpgpu_sm89_l1_volatile_hits",
       .help = "Volatile loads (LD.STRONG.SYS) are served by the L1 where it has the line; else by the L2.",
       .source =
           "1,536 B/cycle for volatile loads of an RTX 4090 is what its L2 gives (public micro-benchmark); "
           "on an H200 they hit",
       .binding = Bool<&GpuConfig::l1, &L::volatile_hits>()},
      {.name = "-gpgpu_sm89_barrier_cycles",
       .unit = "cycles",
       .help = "From the last arrival that the SM has taken to the first issue behind the barrier.",
       .source = "12 + 2 cycles a warp, measured on an H200; no measurement on Ada",
       .binding = Uint<&GpuConfig::l1, &L::barrier_cycles>(1, 10'000)},
      {.name = "-gpgpu_sm89_barrier_arrival_cycles",
       .unit = "cycles",
       .help = "Between two warps whose arrival at a barrier an SM takes.",
       .source = "12 + 2 cycles a warp, measured on an H200; no measurement on Ada",
       .binding = Uint<&GpuConfig::l1, &L1Config::barrier_arrival_cycles>(0, 1000)},
  };
}

std::vector<RowSpec> NocRows() {
  return {
      {.name = "-gpgpu_sm89_noc_request_latency",
       .unit = "cycles",
       .help = "SM to L2 slice, mean of an idle interconnect.",
       .source = kMeanHit,
       .binding = Uint<&GpuConfig::noc, &NocConfig::request_latency_cycles>(1, 10'000)},
      {.name = "-gpgpu_sm89_noc_reply_latency",
       .unit = "cycles",
       .help = "L2 slice to SM, mean of an idle interconnect.",
       .source = kMeanHit,
       .binding = Uint<&GpuConfig::noc, &NocConfig::reply_latency_cycles>(1, 10'000)},
      {.name = "-gpgpu_sm89_noc_latency_spread",
       .unit = "cycles",
       .help = "Largest deviation of the round trip from its mean over all pairs of SM and slice; half of it "
               "is each way's.",
       .source = "L2 hits of 222 to 339 cycles measured on an L40, same die (arXiv 2606.22588)",
       .binding = Uint<&GpuConfig::noc, &NocConfig::latency_spread_cycles>(0, 10'000)},
      {.name = "-gpgpu_sm89_noc_crossing_latency",
       .unit = "cycles",
       .help =
           "Round trip between an SM and a slice of different halves of the die, beyond one within a half.",
       .source =
           "derived from the rank-1 term's 11 % of the variance, standard deviation 20 cycles (L40, arXiv "
           "2606.22588)",
       .binding = Uint<&GpuConfig::noc, &NocConfig::crossing_cycles>(0, 10'000)},
      {.name = "-gpgpu_sm89_noc_sm_request_bytes",
       .unit = "bytes/cycle",
       .help =
           "Width of an SM's port to the interconnect. A write takes 32 bytes a sector, and 32 more if bytes "
           "of a sector are left out; an atomic a packet for each lane of one address.",
       .source = "measured on an H200 (tests/data/requests); no measurement on Ada",
       .binding = PowerOfTwo<&GpuConfig::noc, &NocConfig::sm_request_bytes>(8, 1024)},
      {.name = "-gpgpu_sm89_noc_sm_port_bytes",
       .unit = "bytes/cycle",
       .help = "Width of an SM's port from the interconnect.",
       .source = "assumption, as NVIDIA states for A100; one CTA of an RTX 4090 reads 18 B/cycle from the L2",
       .binding = PowerOfTwo<&GpuConfig::noc, &NocConfig::sm_port_bytes>(8, 1024)},
      {.name = "-gpgpu_sm89_noc_slice_port_bytes",
       .unit = "bytes/cycle",
       .help = "Width of a slice's port to the interconnect.",
       .source = "assumption: 1946 to 2290 B/cycle measured over 48 slices exceed 32 a slice",
       .binding = PowerOfTwo<&GpuConfig::noc, &NocConfig::slice_port_bytes>(8, 1024)},
      {.name = "-gpgpu_sm89_noc_packet_bytes",
       .unit = "bytes",
       .help = "What a packet without data (a read request, an acknowledgement) takes of a port.",
       .source = "assumption; Accel-Sim sends 8 bytes beside the data",
       .binding = Uint<&GpuConfig::noc, &NocConfig::packet_bytes>(1, 1024)},
      {.name = "-gpgpu_sm89_noc_gpc_ports",
       .unit = "ports",
       .help = "Ports that SMs share, an even number of SMs each; 0 = none.",
       .source = kWhitepaper,
       .binding = Uint<&GpuConfig::noc, &NocConfig::gpc_ports>(0, 1024)},
      {.name = "-gpgpu_sm89_noc_gpc_port_sectors",
       .unit = "sectors",
       .help =
           "32-byte sectors that cross a shared port, each direction, in -gpgpu_sm89_noc_gpc_port_cycles.",
       .source =
           "derived: 1965 B/cycle read from the L2 by 11 GPCs of an RTX 4090 (1850 to 1965 in four public "
           "measurements); one of its CTAs reads 18 B/cycle, so that an SM's own port is not what holds all "
           "to 15",
       .binding = Uint<&GpuConfig::noc, &NocConfig::gpc_port_sectors>(1, 1024)},
      {.name = "-gpgpu_sm89_noc_gpc_port_cycles",
       .unit = "cycles",
       .help = "Time in which -gpgpu_sm89_noc_gpc_port_sectors cross a shared port.",
       .source = "with -gpgpu_sm89_noc_gpc_port_sectors",
       .binding = Uint<&GpuConfig::noc, &NocConfig::gpc_port_cycles>(1, 1024)},
  };
}

std::vector<RowSpec> L2SliceRows() {
  return {
      {.name = "-gpgpu_cache:dl2",
       .help = "One L2 slice; the L2 has channels x slices a channel of them. Its sets give way to "
               "-gpgpu_sm89_l2_slice_capacity_kb.",
       .source =
           "72 MiB: NVIDIA Ada whitepaper; 48 slices: public profiler counters; ways and MSHRs: assumption",
       .binding = Cache<&GpuConfig::l2, &L2Config::cache>()},
      {.name = "-gpgpu_n_sub_partition_per_mchannel",
       .aliases = {"-gpgpu_sm89_slices_per_channel"},
       .unit = "slices",
       .help = "L2 slices a DRAM channel; gives way to -gpgpu_sm89_l2_slice_count.",
       .source = "48 slices: public profiler counters of an RTX 4090",
       .binding = Uint<&GpuConfig::l2, &L2Config::slices_per_channel>(1, 32)},
      {.name = "-gpgpu_sm89_l2_slice_count",
       .unit = "slices",
       .help = "L2 slices of the GPU, a multiple of its DRAM channels; 0 = channels x "
               "-gpgpu_n_sub_partition_per_mchannel.",
       .source = "48 slices: public profiler counters of an RTX 4090",
       .binding = Uint<&GpuConfig::l2, &L2Config::slice_count>(0, 1024)},
      {.name = "-gpgpu_sm89_l2_slice_capacity_kb",
       .unit = "KiB",
       .help = "Data of one L2 slice; its sets follow from it, line and ways from -gpgpu_cache:dl2. 0 = as "
               "that says.",
       .source = "72 MiB (NVIDIA Ada whitepaper) in 48 slices",
       .binding = Uint<&GpuConfig::l2, &L2Config::slice_capacity_kib>(0, 1 << 19)},
      {.name = "-gpgpu_memory_partition_indexing",
       .aliases = {"-gpgpu_sm89_l2_hash"},
       .help = "How a line's slice is chosen; each works for any number of slices. 2 takes the place of "
               "GPGPU-Sim's polynomial hash, which loads 48 slices unevenly.",
       .source = "assumption: NVIDIA's hash is not public; that it is even over 48 slices is known",
       .binding = Enum<&GpuConfig::l2, &L2Config::hash>(
           {{"0", 1, "line number modulo slices"},
            {"1", 2, "exclusive-or of the address, reduced without bias"},
            {"2", 0, "even over all slices for every stride"}})},
  };
}

std::vector<RowSpec> L2TimingRows() {
  return {
      {.name = "-gpgpu_sm89_l2_latency",
       .unit = "cycles",
       .help = "Tag and data of a slice, without the interconnect.",
       .source = "assumption; with the interconnect, hits measure 273 to 296 on RTX 4090s",
       .binding = Uint<&GpuConfig::l2, &L2Config::latency_cycles>(1, 10'000)},
      {.name = "-gpgpu_sm89_l2_atomic_latency",
       .unit = "cycles",
       .help = "Added to a hit by a read-modify-write.",
       .source = "307.2 for an atomic against 286.6 for a load measured on an RTX 4090 (public "
                 "micro-benchmark log), 6 of them for the IMAD.WIDE of its index",
       .binding = Uint<&GpuConfig::l2, &L2Config::atomic_latency_cycles>(0, 10'000)},
      {.name = "-gpgpu_sm89_l2_atomic_interval",
       .unit = "cycles",
       .help = "Between two operations of atomics on one address, and two packets of one operation each.",
       .source =
           "derived from 62 G atomicAdd/s on one address, which the compiler makes one a warp, at 2520 MHz "
           "(public RTX 4090 figure)",
       .binding = Decimal<&GpuConfig::l2, &L2Config::atomic_interval_x100>({2, 0, 1'000'000})},
      {.name = "-gpgpu_sm89_l2_atomic_lanes",
       .unit = "operations/cycle",
       .help = "Atomic operations on different addresses, a slice.",
       .source = "assumption: a sector of 32-bit words",
       .binding = Uint<&GpuConfig::l2, &L2Config::atomic_lanes_per_cycle>(1, 1024)},
      {.name = "-gpgpu_sm89_l2_sectors_per_cycle",
       .unit = "sectors/cycle",
       .help = "32-byte sectors that a slice's data array reads.",
       .source = "assumption: 1946 to 2290 B/cycle measured over 48 slices exceed one a slice",
       .binding = Uint<&GpuConfig::l2, &L2Config::sectors_per_cycle>(1, 64)},
      {.name = "-gpgpu_sm89_l2_write_sector_cycles",
       .unit = "cycles",
       .help = "A slice's data array is busy for each 32 bytes of a write or an atomic's packet, their mask "
               "included.",
       .source =
           "derived: twice a read's share of 1965 B/cycle over 48 slices, since a profile of an RTX 4090 "
           "gives peaks of 5,089 GB/s for reads and 2,544 for writes; 1.13 measured on an H200",
       .binding = Decimal<&GpuConfig::l2, &L2Config::write_sector_hundredths>({2, 0, 100'000})},
      {.name = "-gpgpu_sm89_l2_slice_bandwidth",
       .unit = "GB/s",
       .help = "Most that a slice's data array reads and writes on average; 0 = no bound but "
               "-gpgpu_sm89_l2_sectors_per_cycle.",
       .source = "no measurement shows such a bound; the article behind RTX4090_ARTICLE gives 128",
       .binding = Decimal<&GpuConfig::l2, &L2Config::slice_gb_per_s_x10>({1, 0, 1'000'000})},
      {.name = "-gpgpu_sm89_l2_queue_entries",
       .unit = "requests",
       .help = "Requests on their way to a slice or waiting at it; one more waits in its SM, with what is "
               "behind it.",
       .source = "assumption: two a cycle over the request's way, and 64 waiting",
       .binding = Uint<&GpuConfig::l2, &L2Config::queue_entries>(1, 65'536)},
      {.name = "-gpgpu_perf_sim_memcpy",
       .help = "A host-to-device copy leaves its last lines in the L2.",
       .source = "behaviour of Accel-Sim, here with full 64-bit addresses",
       .binding = Bool<&GpuConfig::l2, &L2Config::memcpy_fills>()},
  };
}

std::vector<RowSpec> DramRows() {
  using D = DramConfig;
  return {
      {.name = "-gpgpu_n_mem",
       .unit = "channels",
       .help = "Independent DRAM channels.",
       .source = "12 GDDR6X devices of two 16-bit channels: NVIDIA Ada whitepaper, Micron briefs",
       .binding = Uint<&GpuConfig::dram, &D::channels>(1, 256)},
      {.name = "-gpgpu_dram_buswidth",
       .unit = "bytes",
       .help = "Width of a channel. A sector keeps its data bus for 256 bits / width / "
               "-dram_data_command_freq_ratio cycles.",
       .source = "Micron GDDR6X brief",
       .binding = Scaled<&GpuConfig::dram, &D::channel_bits>(8, 1, 128)},
      {.name = "-dram_data_command_freq_ratio",
       .unit = "transfers/cycle",
       .help =
           "Transfers in a cycle of the DRAM clock; channels x width x this x clock is the peak bandwidth.",
       .source = "21 Gb/s a pin (NVIDIA Ada whitepaper) over 5250.5 MHz",
       .binding = PowerOfTwo<&GpuConfig::dram, &D::data_rate_multiplier>(1, 16)},
      {.name = "-gpgpu_dram_timing_opt",
       .unit = "DRAM clock cycles",
       .help = "Banks, bank groups and timing of a channel.",
       .source = kGddr6,
       .binding = DramTiming()},
      {.name = "-gpgpu_sm89_dram_row_bytes",
       .unit = "bytes",
       .help = "Row (page) of a bank.",
       .source = kAssumption,
       .binding = PowerOfTwo<&GpuConfig::dram, &D::row_bytes>(128, 65536)},
      {.name = "-gpgpu_frfcfs_dram_sched_queue_size",
       .unit = "requests",
       .help = "Requests among which a channel looks for an open row (first ready, first come first served).",
       .source = kAccelSim,
       .binding = Uint<&GpuConfig::dram, &D::scheduler_window>(1, 64)},
      {.name = "-gpgpu_sm89_dram_base_latency",
       .unit = "ns",
       .help = "Fixed part of an access: controller and PHY, whatever the DRAM clock.",
       .source = "derived: between what 255.7 ns for a random access and 541.5 to 560.9 cycles for sectors "
                 "in a row, "
                 "measured on RTX 4090s, leave without an L2 hit and the rows opened",
       .binding = Decimal<&GpuConfig::dram, &D::base_latency_ns_x10>({1, 0, 1'000'000})},
      {.name = "-gpgpu_sm89_dram_refresh_interval",
       .unit = "ns",
       .help = "Time in which every bank is refreshed once.",
       .source = kGddr6,
       .binding = Uint<&GpuConfig::dram, &D::refresh_interval_ns>(100, 1'000'000)},
      {.name = "-gpgpu_sm89_dram_refresh_time",
       .unit = "ns",
       .help = "Time that a refresh keeps its banks.",
       .source = kGddr6,
       .binding = Uint<&GpuConfig::dram, &D::refresh_ns>(0, 100'000)},
      {.name = "-gpgpu_sm89_dram_refresh_banks",
       .unit = "banks",
       .help = "Banks refreshed together, in turns; 0 = all.",
       .source = "derived: 952.6 of 1008 GB/s read on an RTX 4090; a refresh of all banks leaves 93.7 %, of "
                 "one after "
                 "the other 99 %",
       .binding = Uint<&GpuConfig::dram, &D::refresh_banks>(0, 64)},
  };
}

std::vector<RowSpec> DramCommandRows() {
  using D = DramConfig;
  return {
      {.name = "-gpgpu_sm89_dram_faw",
       .unit = "DRAM clock cycles",
       .help = "Time in which at most four rows are opened; 0 = no limit.",
       .source = kGddr6,
       .binding = Uint<&GpuConfig::dram, &D::faw>(0, kMaxDramClocks)},
      {.name = "-gpgpu_sm89_dram_rrdl",
       .unit = "DRAM clock cycles",
       .help = "Between two activates of one bank group; 0 = as RRD.",
       .source = kGddr6,
       .binding = Uint<&GpuConfig::dram, &D::rrdl>(0, kMaxDramClocks)},
      {.name = "-gpgpu_sm89_dram_rcdw",
       .unit = "DRAM clock cycles",
       .help = "Activate to write; 0 = as RCD.",
       .source = kGddr6,
       .binding = Uint<&GpuConfig::dram, &D::rcdw>(0, kMaxDramClocks)},
      {.name = "-gpgpu_sm89_dram_turn_round",
       .unit = "DRAM clock cycles",
       .help = "Data bus idle between a read's data and a write's.",
       .source = "GDDR6: a write command follows a read by the read latency and a clock (as in Ramulator 2)",
       .binding = Uint<&GpuConfig::dram, &D::turn_round>(0, kMaxDramClocks)},
      {.name = "-gpgpu_sm89_dram_write_queue_entries",
       .unit = "writes",
       .help = "Write-backs of a line that a channel takes; its slices hold back requests that would add to "
               "them.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::dram, &D::write_queue_entries>(1, 65'536)},
      {.name = "-gpgpu_sm89_dram_write_high_mark",
       .unit = "writes",
       .help = "So many waiting writes go before the reads.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::dram, &D::write_high_mark>(1, 65'536)},
      {.name = "-gpgpu_sm89_dram_write_low_mark",
       .unit = "writes",
       .help = "So many waiting writes let the reads go on.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::dram, &D::write_low_mark>(0, 65'536)},
  };
}

}  // namespace sm89::settings
