#include "sim/sm/coalescer.h"

#include <algorithm>

#include "sim/base/assert.h"
#include "sim/link/mem_message.h"

namespace sm89 {
namespace {

constexpr uint32_t kBankBytes = 4;

struct LineList {
  LineAccess* lines;
  uint32_t* count;
};

// Merges lanes into lines, sectors and bytes.
class Merger {
 public:
  explicit Merger(LineList list) : list_(list) {}

  void Add(uint64_t address, uint32_t bytes) {
    while (bytes > 0) {
      const uint32_t in_sector = static_cast<uint32_t>(address % kSectorBytes);
      const uint32_t part = std::min(bytes, kSectorBytes - in_sector);
      AddInSector(address / kSectorBytes, in_sector, part);
      address += part;
      bytes -= part;
    }
  }

  void Finish() {
    for (uint32_t i = 0; i < *list_.count; ++i) {
      for (uint32_t s = 0; s < kSectorsPerLine; ++s) {
        const uint8_t bit = static_cast<uint8_t>(1u << s);
        LineAccess& line = list_.lines[i];
        if ((line.sector_mask & bit) != 0 && line.bytes[s] != ~uint32_t{0}) line.partial_mask |= bit;
      }
    }
  }

 private:
  void AddInSector(uint64_t sector, uint32_t first, uint32_t count) {
    const uint64_t line = sector / kSectorsPerLine;
    const uint32_t s = static_cast<uint32_t>(sector % kSectorsPerLine);
    // Neighbouring lanes usually touch the line of the lane before.
    if (*list_.count == 0 || list_.lines[last_].line != line) last_ = FindOrAdd(line);
    list_.lines[last_].sector_mask |= static_cast<uint8_t>(1u << s);
    const uint32_t mask = count == kSectorBytes ? ~uint32_t{0} : ((uint32_t{1} << count) - 1) << first;
    list_.lines[last_].bytes[s] |= mask;
  }

  uint32_t FindOrAdd(uint64_t line) {
    for (uint32_t i = 0; i < *list_.count; ++i) {
      if (list_.lines[i].line == line) return i;
    }
    SM89_ASSERT(*list_.count < kMaxLinesPerAccess, "more lines than lanes can touch");
    const uint32_t i = (*list_.count)++;
    list_.lines[i] = {.line = line};
    return i;
  }

  LineList list_;
  uint32_t last_ = 0;
};

// Where a lane's address lies: the instruction says it, of a generic one the kernel's windows.
inline LaneSpace Classify(const SmInst& code, const KernelCode& kernel, uint64_t address) {
  switch (code.space) {
    case MemSpace::kShared:
      return LaneSpace::kShared;
    case MemSpace::kLocal:
      return LaneSpace::kLocal;
    case MemSpace::kGeneric:
      if (kernel.shmem_base != 0 && address - kernel.shmem_base < kGenericWindowBytes)
        return LaneSpace::kShared;
      if (kernel.local_base != 0 && address - kernel.local_base < kGenericWindowBytes)
        return LaneSpace::kLocal;
      return LaneSpace::kGlobal;
    default:
      return LaneSpace::kGlobal;
  }
}

// Interleaved by thread in units of 4 bytes.
void AddLocal(Merger* merger, const LocalWindow& window, uint32_t lane, uint64_t offset, uint32_t bytes) {
  while (bytes > 0) {
    const uint32_t in_word = static_cast<uint32_t>(offset % 4);
    const uint32_t part = std::min(bytes, 4 - in_word);
    merger->Add(window.base + (offset / 4) * 128 + uint64_t{lane} * 4 + in_word, part);
    offset += part;
    bytes -= part;
  }
}

// Words a bank, over one group of lanes, equal ones once if they merge; the largest count is the number of
// passes. `note` gets each word's place, its pass, and whether an earlier one is the same.
template <typename Note>
uint32_t PassesOfGroup(const uint64_t* words, uint32_t num_words, bool merge, Note note) {
  std::array<uint8_t, kSharedBanks> depth{};
  std::array<std::array<uint64_t, kWarpSize>, kSharedBanks> seen;
  uint32_t passes = 0;
  for (uint32_t i = 0; i < num_words; ++i) {
    const uint32_t bank = static_cast<uint32_t>(words[i] % kSharedBanks);
    auto& list = seen[bank];
    uint8_t& n = depth[bank];
    const auto end = list.begin() + n;
    const auto same = merge ? std::find(list.begin(), end, words[i]) : end;
    note(i, static_cast<uint32_t>(same - list.begin()), same != end);
    if (same != end) continue;
    list[n++] = words[i];
    passes = std::max<uint32_t>(passes, n);
  }
  return passes;
}

// SharedPasses; `note` gets lane, word, pass, and whether a lower lane wants that word in that pass.
template <typename Note>
uint32_t WalkPasses(LaneMask mask, const uint64_t* offsets, uint64_t base, uint32_t width_bytes, bool merge,
                    uint32_t* minimum, Note note) {
  const uint32_t words_per_lane = std::max<uint32_t>(width_bytes / kBankBytes, 1);
  const uint32_t lanes_per_group = std::max<uint32_t>(kWarpSize / words_per_lane, 1);
  *minimum = 0;
  uint32_t passes = 0;
  std::array<uint64_t, kWarpSize * 4> words;
  uint32_t index = 0;
  for (uint32_t first = 0; first < kWarpSize; first += lanes_per_group) {
    uint32_t num_words = 0;
    const uint32_t before = passes;
    std::array<uint8_t, kWarpSize> lanes;  // of the group, those that are active
    uint32_t num_lanes = 0;
    for (uint32_t lane = first; lane < first + lanes_per_group; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      lanes[num_lanes++] = static_cast<uint8_t>(lane);
      const uint64_t word = (base + offsets[index++]) / kBankBytes;
      for (uint32_t w = 0; w < words_per_lane; ++w) words[num_words++] = word + w;
    }
    if (num_words == 0) continue;
    passes +=
        std::min<uint32_t>(PassesOfGroup(words.data(), num_words, merge,
                                         [&](uint32_t i, uint32_t pass, bool joins) {
                                           note(lanes[i / words_per_lane], words[i], before + pass, joins);
                                         }),
                           kWarpSize);
    ++*minimum;
  }
  return passes;
}

}  // namespace

uint32_t NumSectors(const CoalescedAccess& access) {
  uint32_t sectors = 0;
  for (const LineAccess& line : access.global()) sectors += CountSectors(line.sector_mask);
  for (const LineAccess& line : access.local()) sectors += CountSectors(line.sector_mask);
  return sectors;
}

uint32_t SharedPasses(LaneMask mask, const uint64_t* offsets, uint64_t base, uint32_t width_bytes, bool merge,
                      uint32_t* minimum) {
  return WalkPasses(mask, offsets, base, width_bytes, merge, minimum,
                    [](uint8_t, uint64_t, uint32_t, bool) {});
}

std::vector<LaneAddress> LaneAddresses(const SmInst& code, const DynInst& inst, const KernelCode& kernel) {
  std::vector<LaneAddress> addresses;
  if (inst.shape == nullptr) return addresses;
  uint32_t active = 0;
  for (LaneMask rest = inst.shape->mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint8_t>(__builtin_ctz(rest));
    const uint64_t address = inst.base + inst.shape->offsets[active++];
    if ((code.address_lanes >> lane & 1) == 0) continue;
    addresses.push_back({lane, Classify(code, kernel, address), address});
  }
  return addresses;
}

std::vector<BankWord> SharedBankWords(const SmInst& code, const DynInst& inst, const KernelCode& kernel) {
  std::vector<BankWord> words;
  LaneMask mask = 0;
  std::array<uint64_t, kWarpSize> addresses;
  uint32_t num_shared = 0;
  for (const LaneAddress& at : LaneAddresses(code, inst, kernel)) {
    if (at.space != LaneSpace::kShared) continue;
    mask |= LaneMask{1} << at.lane;
    addresses[num_shared++] = at.address;
  }
  uint32_t minimum = 0;
  WalkPasses(mask, addresses.data(), 0, code.width_bytes, !ModifiesMemory(code.mem_op), &minimum,
             [&](uint8_t lane, uint64_t word, uint32_t pass, bool joins) {
               words.push_back({word, pass, lane, static_cast<uint8_t>(word % kSharedBanks), joins});
             });
  return words;
}

namespace {

// What an atomic's lanes on one line, addresses ascending, take of the way to the L2. A packet holds each
// address once, so lanes of one address follow each other in packets of their own. A packet of one lane is
// one flit, any other one for each sector and one for the head (measured on an H200, tests/data/requests).
void CountLanesOfLine(std::span<const uint64_t> addresses, LineAccess* line) {
  std::array<uint8_t, kWarpSize> lanes_of{};  // by packet
  std::array<uint8_t, kWarpSize> sectors_of{};
  size_t run = 0;
  size_t packets = 0;
  for (size_t lane = 0; lane < addresses.size(); ++lane) {
    if (addresses[lane] != addresses[run]) run = lane;
    const size_t packet = lane - run;
    packets = std::max(packets, packet + 1);
    ++lanes_of[packet];
    sectors_of[packet] |= static_cast<uint8_t>(1u << addresses[lane] % kLineBytes / kSectorBytes);
  }
  line->lanes = static_cast<uint8_t>(addresses.size());
  line->same_address_lanes = static_cast<uint8_t>(packets);
  line->atomic_flits = 0;
  for (size_t p = 0; p < packets; ++p) {
    line->atomic_flits += lanes_of[p] == 1 ? 1 : static_cast<uint8_t>(CountSectors(sectors_of[p]) + 1);
  }
}

void CountAtomicLanes(const DynInst& inst, CoalescedAccess* out) {
  const std::vector<uint64_t>& offsets = inst.shape->offsets;
  std::array<uint64_t, kWarpSize> addresses;
  const auto end = std::transform(offsets.begin(), offsets.end(), addresses.begin(),
                                  [&](uint64_t offset) { return inst.base + offset; });
  std::sort(addresses.begin(), end);
  for (auto first = addresses.begin(); first != end;) {
    const uint64_t number = *first / kLineBytes;
    const auto behind = std::find_if(first, end, [&](uint64_t a) { return a / kLineBytes != number; });
    const auto lines_end = out->lines.begin() + out->num_lines;
    const auto line =
        std::find_if(out->lines.begin(), lines_end, [&](const LineAccess& l) { return l.line == number; });
    if (line != lines_end) CountLanesOfLine({first, behind}, &*line);
    first = behind;
  }
}

uint32_t PassesOf(const SmInst& code, const DynInst& inst, bool merge, uint32_t* minimum) {
  const AccessShape& shape = *inst.shape;
  return SharedPasses(shape.mask & code.address_lanes, shape.offsets.data(), inst.base, code.width_bytes,
                      merge, minimum);
}

}  // namespace

uint32_t SharedPassMemo::Passes(const SmInst& code, const DynInst& inst, bool merge, uint32_t* minimum) {
  const AccessShape& shape = *inst.shape;
  const uint64_t key = uint64_t{shape.id} | uint64_t{code.width_bytes} << 32 | uint64_t{code.matrices} << 40 |
                       inst.base % kBankBytes << 48 | uint64_t{merge} << 50;
  Entry& entry = entries_[shape.id % entries_.size()];
  if (entry.key != key) {
    const uint32_t passes = PassesOf(code, inst, merge, minimum);
    entry = {key, static_cast<uint16_t>(passes), static_cast<uint16_t>(*minimum)};
  }
  *minimum = entry.minimum;
  return entry.passes;
}

void Coalesce(const SmInst& code, const DynInst& inst, const KernelCode& kernel, const LocalWindow& local,
              SharedPassMemo* memo, CoalescedAccess* out) {
  out->Clear();
  SM89_ASSERT(inst.shape != nullptr, "an access without addresses");
  const AccessShape& shape = *inst.shape;
  // Lanes that read one word share its pass; read-modify-writes of one word follow each other.
  const bool merge = !ModifiesMemory(code.mem_op);
  if (code.space == MemSpace::kShared) {
    if (shape.strided && code.width_bytes == kBankBytes &&
        ((shape.stride == 0 && merge) || shape.stride == kBankBytes)) {
      out->shared_passes = out->shared_passes_min = 1;  // broadcast or one word a bank
      return;
    }
    uint32_t* const minimum = &out->shared_passes_min;
    out->shared_passes =
        memo != nullptr ? memo->Passes(code, inst, merge, minimum) : PassesOf(code, inst, merge, minimum);
    return;
  }
  Merger global({out->lines.data(), &out->num_lines});
  if (code.space == MemSpace::kGlobal && merge && shape.strided && shape.stride == code.width_bytes) {
    // Neighbouring lanes on neighbouring elements: one range.
    global.Add(inst.base, static_cast<uint32_t>(shape.offsets.size()) * code.width_bytes);
    global.Finish();
    return;
  }
  Merger local_merger({out->local_lines.data(), &out->num_local_lines});
  LaneMask shared_mask = 0;
  uint32_t num_shared = 0;
  std::array<uint64_t, kWarpSize> shared_addresses;
  uint32_t index = 0;
  for (LaneMask rest = shape.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint64_t address = inst.base + shape.offsets[index++];
    switch (Classify(code, kernel, address)) {
      case LaneSpace::kGlobal:
        global.Add(address, code.width_bytes);
        break;
      case LaneSpace::kLocal: {
        const uint64_t offset = code.space == MemSpace::kGeneric ? address - kernel.local_base : address;
        AddLocal(&local_merger, local, lane, offset, code.width_bytes);
        break;
      }
      case LaneSpace::kShared:
        shared_mask |= LaneMask{1} << lane;
        shared_addresses[num_shared++] = address;
        break;
    }
  }
  global.Finish();
  local_merger.Finish();
  if (!merge) CountAtomicLanes(inst, out);
  if (shared_mask != 0) {
    out->shared_passes = SharedPasses(shared_mask, shared_addresses.data(), 0, code.width_bytes, merge,
                                      &out->shared_passes_min);
  }
}

}  // namespace sm89
