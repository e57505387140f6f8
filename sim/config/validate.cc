#include "sim/config/validate.h"

#include <algorithm>
#include <array>
#include <span>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/base/types.h"
#include "sim/config/cache_string.h"

namespace sm89::settings {
namespace {

// Bounds the memory that the model's tags take.
constexpr uint64_t kMaxL2Bytes = uint64_t{1} << 29;
constexpr uint32_t kMaxSms = 1024;
constexpr uint32_t kMaxSlices = 1024;
// A DRAM channel keeps its banks in the bits of a word.
constexpr uint32_t kMaxBanks = 64;
constexpr uint32_t kMaxBankGroups = 8;
// A sub-core keeps its warps in the bits of a word.
constexpr uint32_t kMaxWarpsOfSubCore = 32;
constexpr uint64_t kInstructionLineBytes = 128;
constexpr uint32_t kFawActivates = 4;  // the four activates of tFAW
constexpr uint64_t kSectorBits = uint64_t{kSectorBytes} * 8;

uint64_t Bytes(const CacheConfig& cache) { return uint64_t{cache.sets} * cache.line_bytes * cache.ways; }

class Rules {
 public:
  explicit Rules(const GpuConfig& gpu) : gpu_(gpu) {}

  std::vector<BrokenRule> Check() {
    CheckSm();
    CheckSharedMemory();
    CheckInstructionCaches();
    CheckConstantCaches();
    CheckL1();
    CheckL2();
    CheckNoc();
    CheckDram();
    CheckRefresh();
    CheckWatchdog();
    return std::move(broken_);
  }

 private:
  void Require(bool holds, std::vector<std::string_view> names, std::string message, std::string expected) {
    if (!holds) broken_.push_back({std::move(names), std::move(message), std::move(expected)});
  }

  void CheckSm() {
    const SmConfig& sm = gpu_.sm;
    Require(sm.num_sms <= kMaxSms, {"-gpgpu_n_clusters", "-gpgpu_n_cores_per_cluster"},
            absl::StrCat(sm.num_sms, " SMs in all"), absl::StrCat("at most ", kMaxSms, " SMs"));
    const uint32_t granule = sm.sub_cores * kWarpSize;
    Require(sm.max_threads % granule == 0, {"-gpgpu_shader_core_pipeline", "-gpgpu_num_sched_per_core"},
            absl::StrCat(sm.max_threads, " threads do not divide into warps of ", sm.sub_cores, " sub-cores"),
            absl::StrCat("threads that are a multiple of ", granule));
    Require(sm.max_warps <= sm.sub_cores * kMaxWarpsOfSubCore,
            {"-gpgpu_shader_core_pipeline", "-gpgpu_num_sched_per_core"},
            absl::StrCat(sm.max_warps, " warps for ", sm.sub_cores, " sub-core(s)"),
            absl::StrCat("at most ", kMaxWarpsOfSubCore, " warps a sub-core"));
    const uint32_t registers = sm.sub_cores * sm.register_alloc_unit;
    Require(sm.registers % registers == 0,
            {"-gpgpu_shader_registers", "-gpgpu_sm89_register_alloc_unit", "-gpgpu_num_sched_per_core"},
            absl::StrCat(sm.registers, " registers do not divide into allocation units of ", sm.sub_cores,
                         " sub-cores"),
            absl::StrCat("registers that are a multiple of ", registers));
  }

  uint32_t LargestCarveoutKib() const { return gpu_.sm.shmem_carveouts_kib[gpu_.sm.num_carveouts - 1]; }

  void CheckSharedMemory() {
    const SmConfig& sm = gpu_.sm;
    Require(LargestCarveoutKib() < sm.unified_l1_kib, {"-gpgpu_shmem_option", "-gpgpu_unified_l1d_size"},
            absl::StrCat("a carve-out of ", LargestCarveoutKib(), " KiB leaves no data cache in ",
                         sm.unified_l1_kib, " KiB"),
            absl::StrCat("carve-outs below ", sm.unified_l1_kib, " KiB"));
    const uint64_t most = uint64_t{LargestCarveoutKib()} * 1024;
    const uint64_t cta = uint64_t{sm.max_shmem_cta_bytes} + sm.reserved_shmem_cta_bytes;
    Require(sm.max_shmem_cta_bytes == 0 || cta <= most,
            {"-gpgpu_sm89_max_shmem_per_cta", "-gpgpu_shmem_option", "-gpgpu_sm89_reserved_shmem_per_cta"},
            absl::StrCat("the largest CTA takes ", cta, " bytes, the largest carve-out has ", most),
            "a CTA limit, with the reserved bytes, of no more than the largest carve-out");
  }

  // Whole sets: `bytes` is a multiple of ways x line.
  void RequireSets(uint64_t bytes, uint64_t ways, uint64_t line_bytes, std::vector<std::string_view> names) {
    const uint64_t row = ways * line_bytes;
    Require(bytes % row == 0, std::move(names),
            absl::StrCat(bytes, " bytes do not divide into sets of ", ways, " ways x ", line_bytes, " bytes"),
            absl::StrCat("a size that is a multiple of ", row, " bytes"));
  }

  void CheckInstructionCaches() {
    const FrontEndConfig& front = gpu_.front;
    RequireSets(uint64_t{front.l0_kib} * 1024, front.l0_ways, kInstructionLineBytes,
                {"-gpgpu_sm89_l0i_size", "-gpgpu_sm89_l0i_ways"});
    RequireSets(uint64_t{front.l1_kib} * 1024, front.l1_ways, kInstructionLineBytes,
                {"-gpgpu_sm89_l1i_size", "-gpgpu_sm89_l1i_ways"});
  }

  void CheckConstantCaches() {
    const ConstantConfig& constant = gpu_.constant;
    RequireSets(
        constant.l0_bytes, constant.l0_ways, constant.line_bytes,
        {"-gpgpu_sm89_constant_l0_size", "-gpgpu_sm89_constant_l0_ways", "-gpgpu_sm89_constant_line_bytes"});
    RequireSets(
        constant.l1_bytes, constant.l1_ways, constant.line_bytes,
        {"-gpgpu_sm89_constant_l1_size", "-gpgpu_sm89_constant_l1_ways", "-gpgpu_sm89_constant_line_bytes"});
    Require(constant.l1_miss_cycles >= constant.l0_miss_cycles,
            {"-gpgpu_sm89_constant_l1_miss_cycles", "-gpgpu_sm89_constant_l0_miss_cycles"},
            absl::StrCat("a miss of both caches takes ", constant.l1_miss_cycles,
                         " cycles, one that the SM's cache serves ", constant.l0_miss_cycles),
            absl::StrCat("at least ", constant.l0_miss_cycles));
  }

  void CheckL1() {
    const CacheConfig& cache = gpu_.l1.cache;
    Require(cache.present, {"-gpgpu_cache:dl1"}, "the model has no SM without an L1 data cache",
            "a cache, not none");
    if (!cache.present) return;
    Require(cache.sectored, {"-gpgpu_cache:dl1"}, "the L1 data cache has sectors", "type S");
    // With the largest carve-out, a way of every set must be left.
    const uint64_t way = uint64_t{cache.sets} * cache.line_bytes;
    const uint32_t left_kib = gpu_.sm.unified_l1_kib - std::min(LargestCarveoutKib(), gpu_.sm.unified_l1_kib);
    Require(left_kib == 0 || way <= uint64_t{left_kib} * 1024,
            {"-gpgpu_cache:dl1", "-gpgpu_shmem_option", "-gpgpu_unified_l1d_size"},
            absl::StrCat("one way of ", cache.sets, " sets has ", way,
                         " bytes, the largest carve-out leaves ", left_kib, " KiB"),
            "sets of which one way fits beside the largest carve-out");
    const uint64_t unified = uint64_t{gpu_.sm.unified_l1_kib} * 1024;
    Require(Bytes(cache) <= unified, {"-gpgpu_cache:dl1", "-gpgpu_unified_l1d_size"},
            absl::StrCat("sets x line x ways is ", Bytes(cache), " bytes"),
            absl::StrCat("at most the unified array's ", unified, " bytes"));
  }

  void CheckL2() {
    const CacheConfig& cache = gpu_.l2.cache;
    Require(gpu_.l2.slices <= kMaxSlices,
            {"-gpgpu_n_mem", "-gpgpu_n_sub_partition_per_mchannel", "-gpgpu_sm89_l2_slice_count"},
            absl::StrCat(gpu_.l2.slices, " L2 slices in all"),
            absl::StrCat("at most ", kMaxSlices, " slices"));
    Require(cache.present, {"-gpgpu_cache:dl2"}, "the model has no GPU without an L2", "a cache, not none");
    if (!cache.present) return;
    Require(cache.sectored, {"-gpgpu_cache:dl2"}, "the L2 has sectors", "type S");
    Require(gpu_.l2.features.interleave_bytes == kLineBytes || gpu_.l2.features.num_compressed == 0,
            {"-gpgpu_sm89_l2_interleave_bytes", "-gpgpu_sm89_l2_compression_ranges"},
            "lines are compressed where a slice has the whole of them", "an interleave of 128 bytes");
    Require(
        gpu_.l2.slices % gpu_.dram.channels == 0, {"-gpgpu_sm89_l2_slice_count", "-gpgpu_n_mem"},
        absl::StrCat(gpu_.l2.slices, " L2 slices do not divide over ", gpu_.dram.channels, " DRAM channels"),
        absl::StrCat("a multiple of ", gpu_.dram.channels));
    RequireSets(uint64_t{gpu_.l2.slice_capacity_kib} * 1024, cache.ways, cache.line_bytes,
                {"-gpgpu_sm89_l2_slice_capacity_kb", "-gpgpu_cache:dl2"});
    const uint64_t bytes = Bytes(cache) * gpu_.l2.slices;
    Require(bytes <= kMaxL2Bytes,
            {"-gpgpu_cache:dl2", "-gpgpu_n_mem", "-gpgpu_n_sub_partition_per_mchannel",
             "-gpgpu_sm89_l2_slice_count", "-gpgpu_sm89_l2_slice_capacity_kb"},
            absl::StrCat("the L2 has ", bytes, " bytes in all"),
            absl::StrCat("at most ", kMaxL2Bytes, " bytes"));
  }

  void CheckNoc() {
    const NocConfig& noc = gpu_.noc;
    const uint32_t mean = std::min(noc.request_latency_cycles, noc.reply_latency_cycles);
    const uint32_t deviation = (noc.latency_spread_cycles + 1) / 2;
    const uint32_t smallest = mean > deviation ? mean - deviation : 0;
    Require(smallest > 0,
            {"-gpgpu_sm89_noc_latency_spread", "-gpgpu_sm89_noc_request_latency",
             "-gpgpu_sm89_noc_reply_latency"},
            absl::StrCat("half the spread of ", noc.latency_spread_cycles, " leaves no latency"),
            absl::StrCat("a spread below ", 2 * mean));
    if (smallest == 0) return;
    Require(
        gpu_.run.window_cycles <= smallest,
        {"-gpgpu_sm89_window_cycles", "-gpgpu_sm89_noc_latency_spread", "-gpgpu_sm89_noc_request_latency",
         "-gpgpu_sm89_noc_reply_latency"},
        absl::StrCat("a window of ", gpu_.run.window_cycles, " cycles exceeds the smallest one-way latency"),
        absl::StrCat("a window of at most ", smallest, " cycles (latency less half the spread)"));
  }

  void CheckDram() {
    const DramConfig& dram = gpu_.dram;
    Require(
        dram.banks % dram.bank_groups == 0, {"-gpgpu_dram_timing_opt"},
        absl::StrCat(dram.banks, " banks (nbk) do not divide into ", dram.bank_groups, " groups (nbkgrp)"),
        "a multiple of nbkgrp");
    Require(dram.banks <= kMaxBanks && dram.bank_groups <= kMaxBankGroups, {"-gpgpu_dram_timing_opt"},
            absl::StrCat(dram.banks, " banks (nbk) in ", dram.bank_groups, " groups (nbkgrp)"),
            absl::StrCat("at most ", kMaxBanks, " banks and ", kMaxBankGroups, " groups"));
    Require(dram.rc >= dram.ras, {"-gpgpu_dram_timing_opt"},
            "the row cycle RC is below the row open time RAS", "RC >= RAS");
    Require(dram.refresh_ns < dram.refresh_interval_ns,
            {"-gpgpu_sm89_dram_refresh_time", "-gpgpu_sm89_dram_refresh_interval"},
            "a refresh takes as long as the interval between two",
            absl::StrCat("a refresh time below ", dram.refresh_interval_ns, " ns"));
    Require(dram.write_low_mark < dram.write_high_mark,
            {"-gpgpu_sm89_dram_write_low_mark", "-gpgpu_sm89_dram_write_high_mark"},
            absl::StrCat("writes end at ", dram.write_low_mark, " and begin at ", dram.write_high_mark),
            absl::StrCat("a low mark below ", dram.write_high_mark));
    Require(dram.write_high_mark <= dram.write_queue_entries,
            {"-gpgpu_sm89_dram_write_high_mark", "-gpgpu_sm89_dram_write_queue_entries"},
            absl::StrCat("a queue of ", dram.write_queue_entries, " writes never reaches the high mark of ",
                         dram.write_high_mark),
            absl::StrCat("a high mark of at most ", dram.write_queue_entries));
    const uint64_t bits = uint64_t{dram.channel_bits} * dram.data_rate_multiplier;
    Require(
        bits <= kSectorBits && kSectorBits % bits == 0,
        {"-gpgpu_dram_buswidth", "-dram_data_command_freq_ratio"},
        absl::StrCat("a channel moves ", bits, " bits a DRAM cycle; a 32-byte sector must take whole cycles"),
        absl::StrCat("width x ratio that divides ", kSectorBits, " bits"));
    Require(bits > kSectorBits || dram.ccd * bits >= kSectorBits,
            {"-gpgpu_dram_timing_opt", "-gpgpu_dram_buswidth", "-dram_data_command_freq_ratio"},
            absl::StrCat("a 32-byte sector takes ", kSectorBits / bits,
                         " cycles of the data bus, CCD allows one every ", dram.ccd),
            absl::StrCat("CCD of at least ", kSectorBits / bits));
  }

  // A refresh closes rows; a channel whose rows are not all opened and read before the next one starves.
  void CheckRefresh() {
    const DramConfig& dram = gpu_.dram;
    if (dram.refresh_ns >= dram.refresh_interval_ns || dram.bank_groups == 0) return;
    const uint64_t group = (dram.banks + dram.bank_groups - 1) / dram.bank_groups;
    struct Term {
      std::string_view name, what;
      uint64_t cycles;
    };
    const std::array<Term, 4> terms = {{
        {"-gpgpu_sm89_dram_rrdl", "RRDL", group * std::max(dram.rrdl, dram.rrd)},
        {"-gpgpu_sm89_dram_faw", "FAW",
         (dram.banks + kFawActivates - 1) / kFawActivates * uint64_t{dram.faw}},
        {"-gpgpu_dram_timing_opt", "RRD", uint64_t{dram.banks} * dram.rrd},
        {"-gpgpu_dram_timing_opt", "RC or RAS + RP", std::max(dram.rc, dram.ras + dram.rp)},
    }};
    const Term& longest = *std::max_element(terms.begin(), terms.end(),
                                            [](const Term& a, const Term& b) { return a.cycles < b.cycles; });
    const uint64_t column = std::max(dram.rcd, dram.rcdw);
    const uint64_t ns = (longest.cycles + column) * 1'000'000 / std::max<uint64_t>(gpu_.clocks.dram_khz, 1);
    const uint64_t room_ns = dram.refresh_interval_ns - dram.refresh_ns;
    Require(ns <= room_ns,
            {longest.name, "-gpgpu_sm89_dram_rcdw", "-gpgpu_sm89_dram_refresh_interval",
             "-gpgpu_sm89_dram_refresh_time"},
            absl::StrCat("to open the ", dram.banks, " banks of a channel and reach a column takes ", ns,
                         " ns (", Av(longest.what), "), between two refreshes are ", room_ns, " ns"),
            absl::StrCat("at most ", room_ns, " ns"));
  }

  // One access of memory on its longest way, nothing else under way: no sign of life until its reply.
  void CheckWatchdog() {
    const DramConfig& dram = gpu_.dram;
    const auto cycles_of_ns = [&](uint64_t ns) { return ns * gpu_.clocks.core_khz / 1'000'000 + 1; };
    const uint64_t commands = uint64_t{dram.rc} + dram.rp + std::max(dram.rcd, dram.rcdw) + dram.cl + dram.wl;
    const uint64_t commands_ns = commands * 1'000'000 / std::max<uint64_t>(gpu_.clocks.dram_khz, 1);
    struct Part {
      std::string_view name;
      uint64_t cycles;
    };
    const std::array<Part, 8> parts = {{
        {"-gpgpu_sm89_dram_base_latency", cycles_of_ns(dram.base_latency_ns_x10 / 10)},
        {"-gpgpu_sm89_dram_refresh_time", cycles_of_ns(dram.refresh_ns)},
        {"-gpgpu_dram_timing_opt", cycles_of_ns(commands_ns)},
        {"-gpgpu_sm89_noc_request_latency", gpu_.noc.request_latency_cycles},
        {"-gpgpu_sm89_noc_reply_latency",
         uint64_t{gpu_.noc.reply_latency_cycles} + gpu_.noc.latency_spread_cycles + gpu_.noc.crossing_cycles},
        {"-gpgpu_sm89_l2_latency", gpu_.l2.latency_cycles},
        {"-gpgpu_sm89_l2_atomic_latency", gpu_.l2.atomic_latency_cycles},
        {"-gpgpu_sm89_l2_atomic_interval", uint64_t{gpu_.l2.atomic_interval_x100} * kWarpSize / 100},
    }};
    uint64_t sum = 0;
    for (const Part& part : parts) sum += part.cycles;
    const Part& longest = *std::max_element(parts.begin(), parts.end(),
                                            [](const Part& a, const Part& b) { return a.cycles < b.cycles; });
    Require(gpu_.run.deadlock_cycles > sum, {"-gpgpu_sm89_deadlock_cycles", longest.name},
            absl::StrCat("the watchdog ends a run after ", gpu_.run.deadlock_cycles,
                         " cycles without progress, one memory access may take ", sum, ", ", longest.cycles,
                         " of them for ", Av(longest.name)),
            absl::StrCat("-gpgpu_sm89_deadlock_cycles above ", sum));
  }

  const GpuConfig& gpu_;
  std::vector<BrokenRule> broken_;
};

// What of a cache string the first model looks at, besides what the rules fix.
constexpr std::array<std::string_view, 2> kModelledL1 = {"geometry sets", "mshr entries"};
constexpr std::array<std::string_view, 3> kModelledL2 = {"geometry sets", "geometry ways", "mshr entries"};

void NoteCache(std::string_view setting, const CacheConfig& cache, const CacheConfig& usual,
               std::span<const std::string_view> modelled, std::vector<UnusedValue>* notes) {
  std::string fields;
  for (const std::string& field : DifferingFields(cache, usual)) {
    if (std::find(modelled.begin(), modelled.end(), field) != modelled.end()) continue;
    absl::StrAppend(&fields, fields.empty() ? "" : ", ", field);
  }
  if (fields.empty()) return;
  notes->push_back(
      {setting, absl::StrCat("not modelled, so without effect: ", fields, "; the model behaves as ",
                             WriteCacheString(usual), " does there")});
}

}  // namespace

std::vector<BrokenRule> CheckRules(const GpuConfig& gpu) { return Rules(gpu).Check(); }

std::vector<UnusedValue> UnusedValues(const GpuConfig& gpu) {
  const GpuConfig usual;
  std::vector<UnusedValue> notes;
  NoteCache("-gpgpu_cache:dl1", gpu.l1.cache, usual.l1.cache, kModelledL1, &notes);
  NoteCache("-gpgpu_cache:dl2", gpu.l2.cache, usual.l2.cache, kModelledL2, &notes);
  const ClockConfig& clocks = gpu.clocks;
  if (clocks.noc_khz != clocks.core_khz || clocks.l2_khz != clocks.core_khz) {
    notes.push_back(
        {"-gpgpu_clock_domains",
         "not modelled, so without effect: an interconnect or L2 clock other than the core clock"});
  }
  return notes;
}

}  // namespace sm89::settings
