// The GPGPU-Sim cache string: geometry,policy,mshr,miss queue[,data port].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/gpu_config.h"
#include "sim/config/text_value.h"

namespace sm89::settings {

inline constexpr std::string_view kCachePattern =
    "<N|S>:sets:line bytes:ways,<L|F>:<R|B|T|E|L>:<m|f|s>:<N|W|F|L>:<H|P|C|L|X>,<A|S|F|T>:entries:merges,"
    "miss queue[:result fifo][,data port bytes], or none";

// Reads `text` into `cache`, every member of it. A fault names the group and the field.
Outcome ReadCacheString(std::string_view text, CacheConfig* cache);

// The full form, all 15 fields; "none" for an absent cache.
std::string WriteCacheString(const CacheConfig& cache);

// "group field" of each field in which two caches that are present differ.
std::vector<std::string> DifferingFields(const CacheConfig& a, const CacheConfig& b);

// Addresses of every member that the string stands for.
std::vector<const void*> CacheMembers(const CacheConfig& cache);

}  // namespace sm89::settings
