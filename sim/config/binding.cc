#include "sim/config/binding.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"
#include "sim/base/types.h"

namespace sm89::settings {
namespace {

constexpr uint64_t kMaxUnitCycles = 10'000;

struct ClockField {
  std::string_view name;
  uint32_t ClockConfig::*khz;
};
constexpr std::array<ClockField, 4> kClocks = {{{"core", &ClockConfig::core_khz},
                                                {"noc", &ClockConfig::noc_khz},
                                                {"l2", &ClockConfig::l2_khz},
                                                {"dram", &ClockConfig::dram_khz}}};
constexpr DecimalRange kClockRange{3, 1'000, 10'000'000};  // 1 MHz to 10 GHz, whole kHz

struct TimingField {
  std::string_view key;
  uint32_t DramConfig::*member;
  uint32_t min;
  bool required;
};
// In the order of the form without names. The three last may be left out of the form with names.
constexpr std::array<TimingField, 14> kDramTiming = {{{"nbk", &DramConfig::banks, 1, true},
                                                      {"CCD", &DramConfig::ccd, 1, true},
                                                      {"RRD", &DramConfig::rrd, 1, true},
                                                      {"RCD", &DramConfig::rcd, 1, true},
                                                      {"RAS", &DramConfig::ras, 1, true},
                                                      {"RP", &DramConfig::rp, 1, true},
                                                      {"RC", &DramConfig::rc, 1, true},
                                                      {"CL", &DramConfig::cl, 1, true},
                                                      {"WL", &DramConfig::wl, 1, true},
                                                      {"CDLR", &DramConfig::cdlr, 0, true},
                                                      {"WR", &DramConfig::wr, 0, true},
                                                      {"nbkgrp", &DramConfig::bank_groups, 1, false},
                                                      {"CCDL", &DramConfig::ccdl, 0, false},
                                                      {"RTPL", &DramConfig::rtpl, 0, false}}};
// 190 ns at GDDR6X's clock: no DRAM takes longer for a command.
constexpr uint32_t kMaxDramTiming = 1000;

Problem InField(std::string_view field, const std::string& message) {
  return {absl::StrCat("field '", Av(field), "': ", message), "", {{"field", std::string(field)}}};
}

Outcome ReadClocks(std::string_view text, GpuConfig* gpu) {
  const auto pieces = Split(text, ':');
  if (pieces.size() != kClocks.size()) {
    return Problem{absl::StrCat(pieces.size(), " of ", kClocks.size(), " clock fields"), "", {}};
  }
  ClockConfig clocks;
  for (size_t i = 0; i < kClocks.size(); ++i) {
    uint64_t khz = 0;
    if (const Outcome bad = ReadDecimal(pieces[i], kClockRange, &khz))
      return InField(kClocks[i].name, bad->message);
    clocks.*kClocks[i].khz = static_cast<uint32_t>(khz);
  }
  gpu->clocks = clocks;
  return {};
}

std::string WriteClocks(const GpuConfig& gpu) {
  std::string out;
  for (const ClockField& clock : kClocks) {
    absl::StrAppend(&out, out.empty() ? "" : ":", WriteDecimal(gpu.clocks.*clock.khz, kClockRange.digits));
  }
  return out;
}

Outcome ReadThreads(std::string_view text, GpuConfig* gpu) {
  const auto pieces = Split(text, ':');
  if (pieces.size() != 2) return Problem{absl::StrCat(pieces.size(), " field(s) instead of 2"), "", {}};
  uint64_t threads = 0;
  uint64_t warp = 0;
  if (const Outcome bad = ReadUint(pieces[0], kWarpSize, 4096, &threads))
    return InField("threads", bad->message);
  if (const Outcome bad = ReadUint(pieces[1], kWarpSize, kWarpSize, &warp))
    return InField("warp size", bad->message);
  gpu->sm.max_threads = static_cast<uint32_t>(threads);
  return {};
}

Outcome ReadCarveouts(std::string_view text, GpuConfig* gpu) {
  SmConfig sm = gpu->sm;
  const auto pieces = Split(text, ',');
  if (pieces.size() > sm.shmem_carveouts_kib.size()) {
    return Problem{absl::StrCat("more than ", sm.shmem_carveouts_kib.size(), " sizes"), "", {}};
  }
  sm.shmem_carveouts_kib = {};
  sm.num_carveouts = static_cast<uint32_t>(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    uint64_t kib = 0;
    if (const Outcome bad = ReadUint(pieces[i], 0, 1024, &kib))
      return InField(absl::StrCat("size ", i + 1), bad->message);
    if (i > 0 && kib <= sm.shmem_carveouts_kib[i - 1]) return Problem{"the sizes do not rise", "", {}};
    sm.shmem_carveouts_kib[i] = static_cast<uint32_t>(kib);
  }
  gpu->sm = sm;
  return {};
}

std::string WriteCarveouts(const GpuConfig& gpu) {
  std::string out;
  for (uint32_t i = 0; i < gpu.sm.num_carveouts; ++i) {
    absl::StrAppend(&out, i == 0 ? "" : ",", gpu.sm.shmem_carveouts_kib[i]);
  }
  return out;
}

std::vector<const void*> CarveoutMembers(const GpuConfig& gpu) {
  return {&gpu.sm.shmem_carveouts_kib, &gpu.sm.num_carveouts};
}

constexpr std::string_view kNoRange = "none";

Outcome ReadRanges(std::string_view text, GpuConfig* gpu) {
  L2FeatureConfig features = gpu->l2.features;
  features.compressed = {};
  features.num_compressed = 0;
  if (text == kNoRange) {
    gpu->l2.features = features;
    return {};
  }
  for (const std::string_view piece : Split(text, ',')) {
    if (features.num_compressed == features.compressed.size()) {
      return Problem{absl::StrCat("more than ", features.compressed.size(), " ranges"), "", {}};
    }
    const std::string field = absl::StrCat("range ", features.num_compressed + 1);
    const auto ends = Split(piece, '-');
    if (ends.size() != 2) return InField(field, "not two addresses with '-' between them");
    AddressRange& range = features.compressed[features.num_compressed++];
    if (const Outcome bad = ReadUint(ends[0], 0, ~uint64_t{0}, &range.first)) {
      return InField(field, bad->message);
    }
    if (const Outcome bad = ReadUint(ends[1], 0, ~uint64_t{0}, &range.last)) {
      return InField(field, bad->message);
    }
    if (range.last < range.first) return InField(field, "it ends before it begins");
  }
  gpu->l2.features = features;
  return {};
}

std::string WriteRanges(const GpuConfig& gpu) {
  std::string out;
  const L2FeatureConfig& features = gpu.l2.features;
  for (uint32_t i = 0; i < features.num_compressed; ++i) {
    absl::StrAppend(&out, i == 0 ? "" : ",", "0x", absl::Hex(features.compressed[i].first), "-0x",
                    absl::Hex(features.compressed[i].last));
  }
  return out.empty() ? std::string(kNoRange) : out;
}

std::vector<const void*> RangeMembers(const GpuConfig& gpu) {
  return {&gpu.l2.features.compressed, &gpu.l2.features.num_compressed};
}

Outcome ReadTimingNumber(const TimingField& field, std::string_view text, DramConfig* dram) {
  uint64_t value = 0;
  if (const Outcome bad = ReadUint(text, field.min, kMaxDramTiming, &value))
    return InField(field.key, bad->message);
  dram->*field.member = static_cast<uint32_t>(value);
  return {};
}

Outcome ReadOrderedTiming(const std::vector<std::string_view>& pieces, DramConfig* dram) {
  if (pieces.size() != kDramTiming.size()) {
    return Problem{absl::StrCat(pieces.size(), " of ", kDramTiming.size(), " numbers"), "", {}};
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (Outcome bad = ReadTimingNumber(kDramTiming[i], pieces[i], dram)) return bad;
  }
  return {};
}

Outcome ReadNamedTiming(const std::vector<std::string_view>& pieces, DramConfig* dram) {
  std::array<bool, kDramTiming.size()> given{};
  for (const std::string_view piece : pieces) {
    const size_t equals = std::min(piece.find('='), piece.size());
    const std::string_view key = piece.substr(0, equals);
    const auto* field =
        std::find_if(kDramTiming.begin(), kDramTiming.end(), [&](const auto& f) { return f.key == key; });
    if (field == kDramTiming.end())
      return Problem{absl::StrCat("unknown field '", Av(Printable(key)), "'"), "", {}};
    if (equals == piece.size()) return InField(key, "no '=' and number");
    bool& seen = given[static_cast<size_t>(field - kDramTiming.begin())];
    if (seen) return InField(key, "given twice");
    seen = true;
    if (Outcome bad = ReadTimingNumber(*field, piece.substr(equals + 1), dram)) return bad;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i] && kDramTiming[i].required) return InField(kDramTiming[i].key, "missing");
  }
  return {};
}

Outcome ReadDramTiming(std::string_view text, GpuConfig* gpu) {
  std::string compact;  // a value may be quoted over several lines
  for (const char c : text) {
    if (c != ' ') compact += c == ';' ? ':' : c;
  }
  // What the form with names may leave out: one bank group, where the two gaps between columns are one.
  DramConfig dram = gpu->dram;
  dram.bank_groups = 1;
  dram.ccdl = 0;
  dram.rtpl = 0;
  const auto pieces = Split(compact, ':');
  const bool named = compact.find('=') != std::string::npos;
  if (Outcome bad = named ? ReadNamedTiming(pieces, &dram) : ReadOrderedTiming(pieces, &dram)) return bad;
  dram.ccdl = std::max(dram.ccdl, dram.ccd);
  gpu->dram = dram;
  return {};
}

std::string WriteDramTiming(const GpuConfig& gpu) {
  std::string out;
  for (const TimingField& field : kDramTiming) {
    absl::StrAppend(&out, out.empty() ? "" : ":", Av(field.key), "=", gpu.dram.*field.member);
  }
  return out;
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

}  // namespace

std::string UintRange(uint64_t min, uint64_t max) { return absl::StrCat(min, "..", max); }

std::string DecimalRangeText(const DecimalRange& range) {
  return absl::StrCat(WriteDecimal(range.min, range.digits), "..", WriteDecimal(range.max, range.digits),
                      ", at most ", range.digits, " place(s) behind the dot");
}

Outcome CheckPowerOfTwo(uint64_t value) {
  if (std::has_single_bit(value)) return {};
  return Problem{"not a power of two", "", {}};
}

std::string ChoiceRange(const std::vector<Choice>& choices) {
  std::string out;
  for (const Choice& choice : choices) {
    absl::StrAppend(&out, out.empty() ? "one of " : ", ", Av(choice.word), " (", Av(choice.meaning), ")");
  }
  return out;
}

Outcome ReadChoice(std::string_view text, const std::vector<Choice>& choices, uint32_t* out) {
  for (const Choice& choice : choices) {
    if (choice.word != text) continue;
    *out = choice.value;
    return {};
  }
  return Problem{"not one of the possible values", "", {}};
}

std::string WriteChoice(uint32_t value, const std::vector<Choice>& choices) {
  const auto it =
      std::find_if(choices.begin(), choices.end(), [&](const Choice& c) { return c.value == value; });
  SM89_ASSERT(it != choices.end(), "a configuration holds a value that no word of its setting stands for");
  return std::string(it->word);
}

Binding Timing(UnitTiming ExecConfig::*unit) {
  const auto read = [unit](std::string_view text, GpuConfig* gpu) -> Outcome {
    const auto pieces = Split(text, ',');
    if (pieces.size() != 2) return Problem{absl::StrCat(pieces.size(), " field(s) instead of 2"), "", {}};
    uint64_t latency = 0;
    uint64_t interval = 0;
    if (const Outcome bad = ReadUint(pieces[0], 1, kMaxUnitCycles, &latency))
      return InField("latency", bad->message);
    if (const Outcome bad = ReadUint(pieces[1], 1, kMaxUnitCycles, &interval))
      return InField("interval", bad->message);
    gpu->exec.*unit = {static_cast<uint32_t>(latency), static_cast<uint32_t>(interval)};
    return {};
  };
  const auto write = [unit](const GpuConfig& gpu) -> std::string {
    const UnitTiming& timing = gpu.exec.*unit;
    return absl::StrCat(timing.latency_cycles, ",", timing.interval_cycles);
  };
  const auto members = [unit](const GpuConfig& gpu) -> std::vector<const void*> {
    return {&(gpu.exec.*unit).latency_cycles, &(gpu.exec.*unit).interval_cycles};
  };
  return {SettingType::kList, absl::StrCat("latency,interval, each 1..", kMaxUnitCycles), read, write,
          members};
}

Binding NameBinding() {
  const auto read = [](std::string_view text, GpuConfig* gpu) -> Outcome {
    const bool fits =
        !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), IsNameCharacter);
    if (!fits) return Problem{"not a name", "", {}};
    gpu->name = std::string(text);
    return {};
  };
  const auto write = [](const GpuConfig& gpu) { return gpu.name; };
  return {SettingType::kString, "1..64 letters, digits, '.', '_' or '-'", read, write,
          MemberAt<&GpuConfig::name>};
}

Binding ClockDomains() {
  const auto members = [](const GpuConfig& gpu) {
    std::vector<const void*> all;
    for (const ClockField& clock : kClocks) all.push_back(&(gpu.clocks.*clock.khz));
    return all;
  };
  return {SettingType::kClockDomains, "core:noc:l2:dram, each 1..10000 with at most 3 places behind the dot",
          ReadClocks, WriteClocks, members};
}

Binding ThreadsAndWarpSize() {
  const auto write = [](const GpuConfig& gpu) { return absl::StrCat(gpu.sm.max_threads, ":", kWarpSize); };
  return {SettingType::kList, "threads:32, threads 32..4096", ReadThreads, write,
          MemberAt<&GpuConfig::sm, &SmConfig::max_threads>};
}

Binding CompressedRanges() {
  return {SettingType::kList, "'none', or up to 8 ranges FIRST-LAST of byte addresses with commas between",
          ReadRanges, WriteRanges, RangeMembers};
}

Binding Carveouts() {
  return {SettingType::kList, "1 to 10 rising sizes, each 0..1024, with commas between", ReadCarveouts,
          WriteCarveouts, CarveoutMembers};
}

Binding DramTiming() {
  const auto members = [](const GpuConfig& gpu) {
    std::vector<const void*> all;
    for (const TimingField& field : kDramTiming) all.push_back(&(gpu.dram.*field.member));
    return all;
  };
  return {
      SettingType::kList,
      "nbk=n:CCD=n:RRD=n:RCD=n:RAS=n:RP=n:RC=n:CL=n:WL=n:CDLR=n:WR=n[:nbkgrp=n][:CCDL=n][:RTPL=n], or the 14 "
      "numbers in this order, each up to 10000",
      ReadDramTiming, WriteDramTiming, members};
}

}  // namespace sm89::settings
