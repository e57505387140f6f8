// The resolved configuration of one simulated GPU: plain structs, defaults = RTX 4090 as the hardware is.
// settings.cc binds every member to exactly one setting (name, unit, range, help, source); parser, docs,
// --help, validation, JSON and digest are derived from that table. The few members marked "derived" follow
// from others when a configuration has been read.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace sm89 {

// Cache geometry and policy, the GPGPU-Sim cache string taken apart. Sizes in entries unless named.
struct CacheConfig {
  bool present = true;
  bool sectored = true;
  uint32_t sets = 0;
  uint32_t line_bytes = 128;
  uint32_t ways = 0;
  char replacement = 'L';   // L LRU, F FIFO
  char write_policy = 'T';  // R read-only, B write-back, T write-through, E write-evict, L local-WB/global-WT
  char allocate = 'm';      // m on miss, f on fill, s streaming
  char write_allocate = 'N';  // N none, W write-allocate, F fetch-on-write, L lazy-fetch-on-read
  char set_index = 'L';       // H Fermi, P polynomial, C custom, L linear, X xor
  char mshr_kind = 'A';       // A associative, S sector-associative, F texture FIFO, T sector texture FIFO
  uint32_t mshr_entries = 0;
  uint32_t mshr_merges = 0;
  uint32_t miss_queue_entries = 0;
  uint32_t result_fifo_entries = 0;
  uint32_t data_port_bytes = 0;

  friend bool operator==(const CacheConfig&, const CacheConfig&) = default;
};

// Clock domains in kHz, so that arithmetic stays in integers.
struct ClockConfig {
  uint32_t core_khz = 2'520'000;
  uint32_t noc_khz = 2'520'000;
  uint32_t l2_khz = 2'520'000;
  uint32_t dram_khz = 5'250'500;

  friend bool operator==(const ClockConfig&, const ClockConfig&) = default;
};

struct UnitTiming {
  uint32_t latency_cycles = 0;   // issue to dependent issue
  uint32_t interval_cycles = 0;  // between two issues to the unit, a sub-core

  friend bool operator==(const UnitTiming&, const UnitTiming&) = default;
};

// One row for each ExecUnit that has a pipeline (memory is in L1Config). A sub-core has two 16-lane
// half-pipes: FP32 may use either, INT only the shared one, IMAD only the other; each is busy for
// `interval_cycles` a warp instruction.
struct ExecConfig {
  UnitTiming fp32{4, 2};
  UnitTiming integer{4, 2};
  UnitTiming imad{4, 2};
  UnitTiming half{5, 2};
  UnitTiming fp64{54, 16};  // interval of the unit that the whole SM shares (2 lanes)
  UnitTiming sfu{17, 8};
  UnitTiming tensor{24, 16};  // FP16 m16n8k16 with FP16 accumulation: other modes in fixed ratios to it
  UnitTiming uniform{4, 2};
  UnitTiming branch{4, 2};
  UnitTiming misc{6, 2};
  UnitTiming convert{12, 8};           // F2F F2I I2F FRND and the like: the SFU's conversion path
  UnitTiming integer_sfu{12, 8};       // POPC FLO BREV on the SFU
  UnitTiming special_register{20, 2};  // S2R
  UnitTiming vote{12, 2};              // VOTE MATCH REDUX R2UR
  UnitTiming texture{200, 8};
  bool integer_shares_fp32 = true;      // the integer half-pipe is FP32's second one (Ampere, Ada)
  bool fp64_shared = true;              // one FP64 unit for the SM (GeForce); else one in each sub-core
  uint32_t imad_wide_issue_cycles = 2;  // IMAD.WIDE holds the issue port
  // Latency of a tensor instruction: that of its shape class, at least its interval + 1.
  uint32_t tensor_short_latency_cycles = 17;  // m16n8k8 of 16-bit types and the like
  uint32_t tensor_min_interval_cycles = 1;
  uint32_t tensor_fp32_accumulate_factor = 2;  // GeForce: FP32 accumulation halves the rate
  bool tensor_fp8_enabled = true;              // false: code with FP8 modes is refused
  bool tensor_sparse_enabled = true;           // false: code with 2:4 sparse modes is refused

  friend bool operator==(const ExecConfig&, const ExecConfig&) = default;
};

// Instruction supply of a sub-core and its SM.
struct FrontEndConfig {
  bool perfect_icache = false;
  uint32_t ibuffer_entries = 3;      // a warp
  uint32_t fetch_decode_cycles = 2;  // L0 hit to an instruction that may issue
  uint32_t l0_kib = 32;              // a sub-core
  uint32_t l0_ways = 32;
  uint32_t l1_kib = 128;  // an SM
  uint32_t l1_ways = 16;
  uint32_t l0_miss_cycles = 78;          // L0 miss to its line from L1I: 39 there, 39 back
  uint32_t l0_fill_interval_cycles = 1;  // between two lines into one L0
  uint32_t l1_miss_cycles = 240;         // L1I miss to its line from the L2, beyond l0_miss_cycles
  uint32_t l1_fill_interval_cycles = 4;  // between two lines into the L1I
  uint32_t stream_buffer_lines = 8;      // prefetched behind an L0 miss; 0 = no prefetcher
  uint32_t branch_redirect_cycles = 10;  // taken branch's issue to its target's, lines present
  uint32_t convergence_cycles = 13;      // BSYNC's issue to the warp's next one

  friend bool operator==(const FrontEndConfig&, const FrontEndConfig&) = default;
};

// Constant operands and LDC.
struct ConstantConfig {
  bool perfect_l0 = false;
  uint32_t l0_bytes = 512;  // a sub-core, fixed-latency operands
  uint32_t l0_ways = 2;
  uint32_t l1_bytes = 2048;  // an SM
  uint32_t l1_ways = 8;
  uint32_t line_bytes = 64;
  uint32_t l0_miss_cycles = 11;     // L0 miss that hits the SM's L1
  uint32_t l1_miss_cycles = 79;     // and one that does not: cold miss, measured
  uint32_t miss_switch_cycles = 4;  // the scheduler waits so long for a greedy warp's constant
  uint32_t ldc_immediate_cycles = 26;
  uint32_t ldc_register_cycles = 29;

  friend bool operator==(const ConstantConfig&, const ConstantConfig&) = default;
};

// Register file of a sub-core.
struct RegisterFileConfig {
  uint32_t banks = 2;
  uint32_t read_ports = 1;  // a bank and cycle; 0 = unlimited
  uint32_t read_window_cycles = 3;
  bool reuse_cache = true;

  friend bool operator==(const RegisterFileConfig&, const RegisterFileConfig&) = default;
};

// Page translation as an SM sees it.
struct TlbConfig {
  uint32_t entries = 16;  // 0 = perfect
  uint32_t page_kib = 2048;
  uint32_t miss_cycles = 8;

  friend bool operator==(const TlbConfig&, const TlbConfig&) = default;
};

struct SmConfig {
  uint32_t clusters = 128;
  uint32_t sms_per_cluster = 1;
  uint32_t num_sms = 128;  // derived: clusters x sms_per_cluster
  uint32_t sub_cores = 4;
  uint32_t max_threads = 1536;
  uint32_t max_ctas = 24;
  uint32_t max_warps = 48;  // derived: max_threads / 32
  uint32_t registers = 65536;
  uint32_t register_alloc_unit = 256;     // registers a warp
  uint32_t max_shmem_cta_bytes = 101376;  // 99 KiB
  uint32_t reserved_shmem_cta_bytes = 1024;
  uint32_t shmem_alloc_unit_bytes = 128;
  std::array<uint32_t, 10> shmem_carveouts_kib{0, 8, 16, 32, 64, 100};
  uint32_t num_carveouts = 6;
  uint32_t unified_l1_kib = 128;
  uint32_t scheduler = 0;  // 0 greedy-then-youngest (CGGTY), 1 loose round robin, 2 oldest

  friend bool operator==(const SmConfig&, const SmConfig&) = default;
};

struct L1Config {
  CacheConfig cache{true, true, 4, 128, 256, 'L', 'T', 's', 'N', 'L', 'A', 384, 48, 16, 0, 32};
  uint32_t latency_cycles = 34;  // 32-bit hit, issue to dependent issue
  uint32_t shmem_latency_cycles = 24;
  uint32_t shmem_banks = 32;
  uint32_t request_interval_cycles = 2;  // memory instructions accepted by the SM's shared unit
  uint32_t sectors_per_cycle = 4;
  uint32_t queue_entries = 4;  // a sub-core's memory queue
  uint32_t ldgsts_latency_cycles = 39;
  uint32_t address_cycles = 4;       // address unit, a memory instruction, a sub-core
  uint32_t miss_detect_cycles = 14;  // shared unit to a request on its way to the L2
  uint32_t fill_cycles = 12;         // reply at the SM to dependent issue
  uint32_t shuffle_latency_cycles = 24;
  uint32_t shuffle_register_cycles = 2;  // more when the lane is in a register
  uint32_t shuffle_interval_cycles = 2;  // data path, an SHFL
  uint32_t membar_cta_cycles = 53;
  uint32_t membar_gpu_cycles = 186;
  uint32_t membar_sys_cycles = 2900;
  uint32_t uniform_address_cycles = 2;  // address unit, uniform or shared address
  uint32_t shmem_address_cycles = 2;
  uint32_t wide_load_cycles = 2;             // result return a further register of a lane: 64 B a cycle
  uint32_t shmem_wide_load_cycles = 1;       // shared memory, 128-bit loads a further pass
  uint32_t ldsm_matrix_cycles = 2;           // LDSM, a further matrix
  uint32_t shmem_atomic_cycles = 4;          // a round of a shared atomic's lanes at one address
  uint32_t shmem_atomic_latency_cycles = 6;  // result of a shared atomic, beyond a load's
  uint32_t read_release_cycles = 9;          // WAR: issue to sources read, 32-bit load
  uint32_t barrier_cycles = 12;              // last arrival taken to the first issue behind BAR
  uint32_t barrier_arrival_cycles = 2;       // between two arrivals that an SM takes
  bool volatile_hits = false;                // volatile loads (.STRONG.SYS) may hit

  friend bool operator==(const L1Config&, const L1Config&) = default;
};

struct NocConfig {
  uint32_t request_latency_cycles = 95;  // SM to slice, unloaded
  uint32_t reply_latency_cycles = 94;    // slice to SM, unloaded
  uint32_t latency_spread_cycles = 58;   // +/- over the SM x slice table (L40: 222..339)
  uint32_t crossing_cycles = 13;   // round trip to a slice of the other half, beyond one of the own half
  uint32_t sm_request_bytes = 32;  // a cycle, SM to crossbar
  uint32_t sm_port_bytes = 64;     // a cycle, crossbar to SM
  uint32_t slice_port_bytes = 64;
  uint32_t packet_bytes = 8;       // of a port, taken by a packet without data
  uint32_t gpc_ports = 11;         // ports that SMs share; 0 = none
  uint32_t gpc_port_sectors = 28;  // through one of them and each direction in gpc_port_cycles
  uint32_t gpc_port_cycles = 5;

  friend bool operator==(const NocConfig&, const NocConfig&) = default;
};

// Addresses from `first` to `last`, both included.
struct AddressRange {
  uint64_t first = 0;
  uint64_t last = 0;

  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

inline constexpr uint32_t kMaxPrefetchDistance = 16;

// What a slice may do beyond caching; all off by default.
struct L2FeatureConfig {
  uint32_t interleave_bytes = 128;  // neighbouring addresses of one slice: 128, or 64 (half a line)
  uint32_t prefetch_distance = 0;   // lines of its own that a slice fetches ahead of a stream; 0 = off
  uint32_t compression_ratio = 2;   // of lines in `compressed`
  uint32_t decompress_cycles = 10;
  std::array<AddressRange, 8> compressed{};
  uint32_t num_compressed = 0;

  friend bool operator==(const L2FeatureConfig&, const L2FeatureConfig&) = default;
};

struct L2Config {
  CacheConfig cache{true, true, 768, 128, 16, 'L', 'B', 'm', 'L', 'L', 'A', 192, 4, 32, 0, 32};  // a slice
  uint32_t slices_per_channel = 2;
  uint32_t slice_count = 0;                // of the GPU; 0: DRAM channels x slices_per_channel
  uint32_t slice_capacity_kib = 0;         // sets of `cache` follow from it; 0: the cache string's sets
  uint32_t slices = 48;                    // derived from the two above
  uint32_t latency_cycles = 60;            // tag + data of a slice
  uint32_t hash = 0;                       // SliceHash: 0 even for every stride, 1 modulo, 2 XOR fold
  uint32_t atomic_latency_cycles = 14;     // added to a hit by a read-modify-write
  uint32_t atomic_interval_x100 = 130;     // between two operations on one address, hundredths of a cycle
  uint32_t atomic_lanes_per_cycle = 8;     // operations on different addresses, a slice
  uint32_t sectors_per_cycle = 2;          // data array of a slice
  uint32_t write_sector_hundredths = 156;  // of a cycle, a slice's data array, 32 bytes written
  uint32_t slice_gb_per_s_x10 = 0;         // bound on a slice's data; 0 = none but the two above
  uint32_t queue_entries = 256;            // requests on their way to a slice or waiting at it
  L2FeatureConfig features;
  bool memcpy_fills = true;  // MemcpyHtoD leaves its last lines in L2

  friend bool operator==(const L2Config&, const L2Config&) = default;
};

struct DramConfig {
  uint32_t channels = 24;
  uint32_t channel_bits = 16;         // with data_rate_multiplier: how long a sector keeps the data bus
  uint32_t data_rate_multiplier = 4;  // transfers a dram clock: 5250.5 MHz x 4 = 21 Gb/s
  uint32_t banks = 16;
  uint32_t bank_groups = 4;
  uint32_t row_bytes = 2048;
  uint32_t scheduler_window = 64;      // FR-FCFS
  uint32_t base_latency_ns_x10 = 860;  // controller and PHY, fixed part, tenths of a nanosecond
  // Timing in DRAM clock cycles.
  uint32_t ccd = 4, ccdl = 12, rrd = 24, rcd = 82, ras = 160, rp = 82, rc = 238, cl = 72, wl = 18;
  uint32_t cdlr = 28, wr = 82, rtpl = 12;
  uint32_t faw = 88;                    // four activates; 0 = no limit
  uint32_t rrdl = 0;                    // two activates of one bank group; 0 = as rrd
  uint32_t rcdw = 48;                   // activate to write; 0 = as rcd
  uint32_t turn_round = 16;             // data bus idle between a read's data and a write's
  uint32_t refresh_interval_ns = 1900;  // every bank once in this time
  uint32_t refresh_ns = 120;
  uint32_t refresh_banks = 0;          // refreshed together; 0 = all
  uint32_t write_queue_entries = 128;  // write-backs that a channel takes before its slices hold requests
  uint32_t write_high_mark = 48;       // writes waiting: they go first until write_low_mark are left
  uint32_t write_low_mark = 16;

  friend bool operator==(const DramConfig&, const DramConfig&) = default;
};

struct RunConfig {
  uint32_t kernel_launch_latency_cycles = 5000;
  uint32_t cta_launch_latency_cycles = 50;        // a slot becomes free to the next CTA's first issue
  uint32_t cta_launch_interval_hundredths = 120;  // of a cycle, between two CTAs, the whole GPU
  uint32_t window_cycles = 32;           // look-ahead window; never above the smallest one-way latency
  uint64_t deadlock_cycles = 1'000'000;  // no progress at all for so long ends the run
  uint32_t concurrent_kernels = 128;
  // 0: control bits of the machine code where there is some, else synthesised ones; 1: always synthesised.
  uint32_t control_bits = 0;
  // Counters of the timeline: sampled once so many cycles have passed; 0 = never.
  uint32_t timeline_interval_cycles = 0;
  bool timeline_sm_tracks = false;  // each SM's issue rate, too

  friend bool operator==(const RunConfig&, const RunConfig&) = default;
};

// The reordering stage (shader execution reordering for compute kernels): a research model.
struct SerConfig {
  bool enabled = false;
  uint32_t latency_cycles = 4;
  uint32_t transfer_cycles = 2;    // operands to another warp's lanes or another sub-core
  uint32_t max_reorder_depth = 8;  // warps that a decision looks at
  uint32_t policy = 0;             // 0 static, 1 guided by the run-time profile
  uint32_t aggressiveness_percent = 100;
  uint32_t profile_interval_cycles = 252'000;

  friend bool operator==(const SerConfig&, const SerConfig&) = default;
};

struct GpuConfig {
  std::string name = "RTX4090";
  ClockConfig clocks;
  SmConfig sm;
  FrontEndConfig front;
  ConstantConfig constant;
  RegisterFileConfig registers;
  ExecConfig exec;
  L1Config l1;
  TlbConfig tlb;
  NocConfig noc;
  L2Config l2;
  DramConfig dram;
  SerConfig ser;
  RunConfig run;

  friend bool operator==(const GpuConfig&, const GpuConfig&) = default;
};

}  // namespace sm89
