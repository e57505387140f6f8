// Rows of the settings table: what an L2 slice does beyond caching.
#include "sim/config/binding.h"
#include "sim/config/setting_row.h"
#include "sim/config/setting_sources.h"

namespace sm89::settings {

std::vector<RowSpec> L2FeatureRows() {
  using F = L2FeatureConfig;
  return {
      {.name = "-gpgpu_sm89_l2_interleave_bytes",
       .unit = "bytes",
       .help =
           "Neighbouring bytes that lie in one slice. With 64 a request for a whole line is split into one "
           "for each of two slices, which queue and travel for themselves.",
       .source = "assumption: a line; 64 is the project's description, (address >> 6) % slices",
       .binding = PowerOfTwo<&GpuConfig::l2, &L2Config::features, &F::interleave_bytes>(64, 128)},
      {.name = "-gpgpu_sm89_l2_prefetch_distance",
       .unit = "lines",
       .help =
           "Lines of its own that a slice fetches ahead of a stream of reads: all of them for global memory, "
           "from the first miss; a quarter for local memory, from the third line on. 0: no prefetcher.",
       .source =
           "no public source describes an L2 prefetcher of Ada that acts by itself: off; what it does when "
           "on is an assumption",
       .binding = Uint<&GpuConfig::l2, &L2Config::features, &F::prefetch_distance>(0, kMaxPrefetchDistance)},
      {.name = "-gpgpu_sm89_l2_compression_ranges",
       .help =
           "Addresses whose lines are stored compressed: DRAM moves fewer sectors of whole lines, the slice "
           "and the interconnect fewer of what is read.",
       .source = "compute data compression is opt-in by allocation (NVIDIA, Ampere and later): none",
       .binding = CompressedRanges()},
      {.name = "-gpgpu_sm89_l2_compression_ratio",
       .help =
           "How many times smaller lines of -gpgpu_sm89_l2_compression_ranges are, in whole sectors of 32 "
           "bytes (3 is as 2); traces hold no values to derive it from.",
       .source =
           "assumption; a line of constant data took 1.43 of 4 sectors on an RTX 3070 (2.8), random data 4",
       .binding = Uint<&GpuConfig::l2, &L2Config::features, &F::compression_ratio>(1, 4)},
      {.name = "-gpgpu_sm89_l2_decompression_cycles",
       .unit = "cycles",
       .help = "Added to a read of a compressed line.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::l2, &L2Config::features, &F::decompress_cycles>(0, 10'000)},
  };
}

}  // namespace sm89::settings
