#include "sim/config/cache_string.h"

#include <array>
#include <bit>
#include <span>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/base/types.h"

namespace sm89::settings {
namespace {

// One field: a letter out of `letters`, or a number when `letters` is empty.
struct Field {
  std::string_view name;
  std::string_view letters;
  char CacheConfig::*letter = nullptr;
  uint32_t CacheConfig::*number = nullptr;
  uint32_t min = 1;
  uint32_t max = 1;
};

struct Group {
  std::string_view name;
  size_t required;  // fields that must be there; the others are optional
  std::span<const Field> fields;
};

// "type" has neither target: it sets `sectored`.
constexpr std::array<Field, 4> kGeometry = {{
    {"type", "NS"},
    {"sets", "", nullptr, &CacheConfig::sets, 1, 1u << 20},
    {"line bytes", "", nullptr, &CacheConfig::line_bytes, 32, 1024},
    {"ways", "", nullptr, &CacheConfig::ways, 1, 4096},
}};
constexpr std::array<Field, 5> kPolicy = {{
    {"replacement", "LF", &CacheConfig::replacement},
    {"write policy", "RBTEL", &CacheConfig::write_policy},
    {"allocation", "mfs", &CacheConfig::allocate},
    {"write allocation", "NWFL", &CacheConfig::write_allocate},
    {"set index", "HPCLX", &CacheConfig::set_index},
}};
constexpr std::array<Field, 3> kMshr = {{
    {"kind", "ASFT", &CacheConfig::mshr_kind},
    {"entries", "", nullptr, &CacheConfig::mshr_entries, 1, 4096},
    {"merges", "", nullptr, &CacheConfig::mshr_merges, 1, 4096},
}};
constexpr std::array<Field, 2> kMissQueue = {{
    {"entries", "", nullptr, &CacheConfig::miss_queue_entries, 1, 65536},
    {"result fifo", "", nullptr, &CacheConfig::result_fifo_entries, 0, 65536},
}};
constexpr std::array<Field, 1> kDataPort = {{
    {"bytes", "", nullptr, &CacheConfig::data_port_bytes, 0, 1024},
}};
constexpr std::array<Group, 5> kGroups = {{
    {"geometry", 4, kGeometry},
    {"policy", 5, kPolicy},
    {"mshr", 3, kMshr},
    {"miss queue", 1, kMissQueue},
    {"data port", 1, kDataPort},
}};
constexpr size_t kRequiredGroups = 4;

Problem At(const Group& group, std::string_view field, const std::string& message) {
  Problem problem;
  problem.message = absl::StrCat("group '", Av(group.name), "', field '", Av(field), "': ", message);
  problem.expected = kCachePattern;
  problem.facts = {{"group", std::string(group.name)}, {"field", std::string(field)}};
  return problem;
}

Problem InGroup(const Group& group, const std::string& message) {
  return {absl::StrCat("group '", Av(group.name), "': ", message),
          std::string(kCachePattern),
          {{"group", std::string(group.name)}}};
}

Outcome ReadField(const Group& group, const Field& field, std::string_view text, CacheConfig* cache) {
  if (field.letters.empty()) {
    uint64_t value = 0;
    if (const Outcome bad = ReadUint(text, field.min, field.max, &value))
      return At(group, field.name, bad->message);
    cache->*field.number = static_cast<uint32_t>(value);
    return {};
  }
  if (text.size() != 1 || field.letters.find(text[0]) == std::string_view::npos) {
    return At(group, field.name,
              absl::StrCat("'", Av(Printable(text)), "' is not one of the letters ", Av(field.letters)));
  }
  if (field.letter != nullptr) {
    cache->*field.letter = text[0];
  } else {
    cache->sectored = text[0] == 'S';
  }
  return {};
}

Outcome ReadGroup(const Group& group, std::string_view text, CacheConfig* cache) {
  const auto pieces = Split(text, ':');
  if (pieces.size() > group.fields.size()) {
    return InGroup(group, absl::StrCat(pieces.size(), " fields instead of ", group.fields.size()));
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (Outcome bad = ReadField(group, group.fields[i], pieces[i], cache)) return bad;
  }
  if (pieces.size() < group.required) return At(group, group.fields[pieces.size()].name, "missing");
  return {};
}

Outcome CheckGeometry(const CacheConfig& cache) {
  if (!std::has_single_bit(cache.line_bytes)) return At(kGroups[0], "line bytes", "not a power of two");
  if (cache.sectored && cache.line_bytes != kLineBytes) {
    return At(kGroups[0], "line bytes",
              absl::StrCat("a sectored line has ", kSectorsPerLine, " sectors of ", kSectorBytes,
                           " bytes, so ", kLineBytes));
  }
  if (cache.line_bytes % cache.data_port_bytes != 0) {
    return At(kGroups[4], "bytes", "does not divide the line");
  }
  return {};
}

}  // namespace

Outcome ReadCacheString(std::string_view text, CacheConfig* cache) {
  CacheConfig read;
  if (text == "none") {
    read.present = false;
    *cache = read;
    return {};
  }
  const auto groups = Split(text, ',');
  for (size_t i = 0; i < groups.size() && i < kGroups.size(); ++i) {
    if (Outcome bad = ReadGroup(kGroups[i], groups[i], &read)) return bad;
  }
  if (groups.size() < kRequiredGroups) return InGroup(kGroups[groups.size()], "missing");
  if (groups.size() > kGroups.size()) {
    return InGroup(kGroups.back(),
                   absl::StrCat(groups.size() - kGroups.size(), " field(s) too many behind the last one"));
  }
  // As in GPGPU-Sim: no width, or 0, is a port as wide as the line.
  if (read.data_port_bytes == 0) read.data_port_bytes = read.line_bytes;
  if (Outcome bad = CheckGeometry(read)) return bad;
  *cache = read;
  return {};
}

std::string WriteCacheString(const CacheConfig& cache) {
  if (!cache.present) return "none";
  std::string out;
  for (const Group& group : kGroups) {
    if (!out.empty()) out += ',';
    for (const Field& field : group.fields) {
      if (&field != &group.fields.front()) out += ':';
      if (field.number != nullptr) {
        absl::StrAppend(&out, cache.*field.number);
      } else {
        out += field.letter != nullptr ? cache.*field.letter : (cache.sectored ? 'S' : 'N');
      }
    }
  }
  return out;
}

std::vector<std::string> DifferingFields(const CacheConfig& a, const CacheConfig& b) {
  std::vector<std::string> names;
  for (const Group& group : kGroups) {
    for (const Field& field : group.fields) {
      const bool same = field.number != nullptr   ? a.*field.number == b.*field.number
                        : field.letter != nullptr ? a.*field.letter == b.*field.letter
                                                  : a.sectored == b.sectored;
      if (!same) names.push_back(absl::StrCat(Av(group.name), " ", Av(field.name)));
    }
  }
  return names;
}

std::vector<const void*> CacheMembers(const CacheConfig& cache) {
  std::vector<const void*> members = {&cache.present, &cache.sectored};
  for (const Group& group : kGroups) {
    for (const Field& field : group.fields) {
      if (field.number != nullptr) members.push_back(&(cache.*field.number));
      if (field.letter != nullptr) members.push_back(&(cache.*field.letter));
    }
  }
  return members;
}

}  // namespace sm89::settings
