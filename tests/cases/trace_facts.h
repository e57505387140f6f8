// The facts that expect.txt files state about an accepted trace, computed from the compact file by means of
// their own, so that a fault in the simulator's coalescer cannot hide here.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/ingest/ingest.h"
#include "sim/isa/decoded_inst.h"
#include "sim/trace/compact_reader.h"
#include "tests/support/expect_file.h"

namespace sm89::testing {

// Counts of memory work, in sectors of 32 bytes or in accesses (executed instructions with a lane).
struct MemoryWork {
  uint64_t global_sectors = 0;
  uint64_t global_load_sectors = 0;
  uint64_t global_store_sectors = 0;
  uint64_t local_sectors = 0;
  uint64_t global_insts = 0;
  uint64_t local_insts = 0;
  uint64_t shared_accesses = 0;
};

// An executed instruction: what it is, where its lanes go.
struct ExecutedInst {
  StaticInst inst;
  std::map<int, uint64_t> lanes;
  uint64_t sectors = 0;
};

inline std::map<int, uint64_t> LaneAddresses(const DynInst& inst) {
  std::map<int, uint64_t> lanes;
  if (inst.shape == nullptr) return lanes;
  size_t i = 0;
  for (LaneMask left = inst.mask; left != 0; left &= left - 1) {
    lanes[std::countr_zero(left)] = inst.base + inst.shape->offsets.at(i++);
  }
  return lanes;
}

inline uint64_t GlobalSectors(const std::map<int, uint64_t>& lanes, uint32_t width_bytes) {
  std::set<uint64_t> sectors;
  for (const auto& [lane, address] : lanes) {
    for (uint32_t byte = 0; byte < width_bytes; ++byte) sectors.insert((address + byte) / kSectorBytes);
  }
  return sectors.size();
}

// Local memory is interleaved by thread: word w of lane l lies at word 32 * w + l.
inline uint64_t LocalSectors(const std::map<int, uint64_t>& lanes, uint32_t width_bytes) {
  std::set<uint64_t> sectors;
  for (const auto& [lane, address] : lanes) {
    for (uint32_t byte = 0; byte < width_bytes; byte += 4) {
      const uint64_t word = (address + byte) / 4 * kWarpSize + static_cast<uint64_t>(lane);
      sectors.insert(word * 4 / kSectorBytes);
    }
  }
  return sectors.size();
}

inline void AppendItem(const std::string& item, std::string* list) {
  if (!list->empty()) list->append(",");
  list->append(item);
}

class TraceFacts {
 public:
  TraceFacts(IngestResult result, std::shared_ptr<CompactReader> reader)
      : result_(std::move(result)), reader_(std::move(reader)), work_(result_.info.kernels.size()) {
    for (uint32_t kernel = 0; kernel < work_.size(); ++kernel) ReadKernel(kernel);
  }

  // As expect.txt writes the fact; nothing for a key that is not known here.
  std::optional<std::string> Get(const std::string& key) const {
    if (key.starts_with("pc")) return PcFact(key);
    for (const auto& lookup : {&TraceFacts::ListFact, &TraceFacts::KernelFact, &TraceFacts::WorkFact}) {
      if (std::optional<std::string> value = (this->*lookup)(key)) return value;
    }
    return std::nullopt;
  }

 private:
  void ReadKernel(uint32_t kernel) {
    DecodeOptions options;
    options.binary_version = result_.info.kernels[kernel].binary_version;
    const DecodedKernel decoded = DecodeKernel(reader_->StaticTable(kernel), options);
    for (const StaticInst& inst : reader_->StaticTable(kernel)) immediates_ += inst.has_immediate ? 1 : 0;
    uint64_t executed = 0;
    for (uint64_t index = 0; index < reader_->NumCtas(kernel); ++index) {
      const auto cta = reader_->OpenCta(kernel, index);
      ASSERT_TRUE(cta.ok()) << cta.status();
      for (uint32_t warp = 0; warp < (*cta)->num_warps(); ++warp) {
        const std::unique_ptr<WarpCursor> cursor = (*cta)->OpenWarp(warp);
        if (cursor == nullptr) continue;
        ++warps_with_work_;
        DynInst inst;
        for (; cursor->Next(&inst); ++executed) Execute(kernel, decoded, inst);
        EXPECT_TRUE(cursor->status().ok()) << cursor->status();
      }
    }
    EXPECT_EQ(executed, result_.info.kernels[kernel].warp_instructions);
  }

  // Generic accesses belong to the window that the lane's address is in, whichever window is lower.
  MemSpace SpaceOf(const KernelInfo& kernel, MemSpace space, const std::map<int, uint64_t>& lanes) const {
    if (space != MemSpace::kGeneric || lanes.empty()) return space;
    constexpr uint64_t kWindowBytes = uint64_t{16} << 20;
    const uint64_t address = lanes.begin()->second;
    const auto inside = [&](uint64_t base) {
      return base != 0 && address >= base && address - base < kWindowBytes;
    };
    if (inside(kernel.shmem_base)) return MemSpace::kShared;
    return inside(kernel.local_base) ? MemSpace::kLocal : MemSpace::kGlobal;
  }

  void Execute(uint32_t kernel, const DecodedKernel& decoded, const DynInst& inst) {
    const DecodedInst& what = decoded.insts.at(inst.static_id);
    ExecutedInst executed;
    executed.inst = reader_->StaticTable(kernel)[inst.static_id];
    executed.lanes = LaneAddresses(inst);
    MemoryWork& work = work_[kernel];
    const MemSpace space = SpaceOf(result_.info.kernels[kernel], what.space, executed.lanes);
    if (!executed.lanes.empty() && space == MemSpace::kGlobal) {
      executed.sectors = GlobalSectors(executed.lanes, what.width_bytes);
      work.global_sectors += executed.sectors;
      ++work.global_insts;
      (what.mem_op == MemOp::kStore ? work.global_store_sectors : work.global_load_sectors) +=
          executed.sectors;
    } else if (!executed.lanes.empty() && space == MemSpace::kLocal) {
      executed.sectors = LocalSectors(executed.lanes, what.width_bytes);
      work.local_sectors += executed.sectors;
      ++work.local_insts;
    } else if (!executed.lanes.empty() && space == MemSpace::kShared) {
      ++work.shared_accesses;
    }
    if (kernel == 0) executed_[executed.inst.pc] = std::move(executed);
  }

  // pc10_lane31, pc10_sectors, pc10_imm, pc10_source_line
  std::optional<std::string> PcFact(const std::string& key) const {
    const size_t underscore = key.find('_');
    const auto it =
        executed_.find(static_cast<uint32_t>(std::stoul(key.substr(2, underscore - 2), nullptr, 16)));
    if (it == executed_.end()) return "not executed";
    const ExecutedInst& executed = it->second;
    const std::string what = key.substr(underscore + 1);
    if (what == "sectors") return std::to_string(executed.sectors);
    if (what == "imm") return std::to_string(executed.inst.immediate);
    if (what == "source_line") return std::to_string(executed.inst.source_line);
    if (!what.starts_with("lane")) return std::nullopt;
    const auto lane = executed.lanes.find(std::stoi(what.substr(4)));
    return lane == executed.lanes.end() ? "no address" : std::to_string(lane->second);
  }

  std::optional<std::string> ListFact(const std::string& key) const {
    uint64_t h2d_count = 0;
    uint64_t h2d_bytes = 0;
    uint64_t d2h_count = 0;
    std::string ignored;
    for (const TraceCommand& command : result_.info.commands) {
      if (command.kind == CommandKind::kMemcpyHtoD) {
        ++h2d_count;
        h2d_bytes += command.bytes;
      }
      if (command.kind == CommandKind::kMemcpyDtoH) ++d2h_count;
      if (command.kind == CommandKind::kIgnored) AppendItem(std::to_string(command.line), &ignored);
    }
    if (key == "commands") return std::to_string(result_.info.commands.size());
    if (key == "h2d_count") return std::to_string(h2d_count);
    if (key == "h2d_bytes") return std::to_string(h2d_bytes);
    if (key == "d2h_count") return std::to_string(d2h_count);
    if (key == "ignored_lines") return ignored;
    return std::nullopt;
  }

  std::optional<std::string> KernelFact(const std::string& key) const {
    const std::vector<KernelInfo>& kernels = result_.info.kernels;
    uint64_t blocks = 0;
    uint64_t warp_insts = 0;
    uint64_t thread_insts = 0;
    std::set<uint64_t> streams;
    std::string stream_ids;
    for (const KernelInfo& kernel : kernels) {
      blocks += kernel.num_ctas;
      warp_insts += kernel.warp_instructions;
      thread_insts += kernel.thread_instructions;
      if (streams.insert(kernel.stream_id).second) {
        AppendItem(std::to_string(kernel.stream_id), &stream_ids);
      }
    }
    const KernelInfo& first = kernels.front();
    if (key == "kernels") return std::to_string(kernels.size());
    if (key == "blocks") return std::to_string(blocks);
    if (key == "warps") return std::to_string(warps_with_work_);
    if (key == "warp_insts") return std::to_string(warp_insts);
    if (key == "thread_insts") return std::to_string(thread_insts);
    if (key == "streams") return std::to_string(streams.size());
    if (key == "stream_ids") return stream_ids;
    if (key == "kernel_name") return first.name;
    if (key == "tracer") return first.tracer_version;
    if (key == "warps_per_block")
      return std::to_string((SaturatingVolume(first.block) + kWarpSize - 1) / kWarpSize);
    if (key == "empty_warps") return std::to_string(first.empty_warps);
    if (key == "absent_warps") return std::to_string(first.absent_warps);
    if (key == "immediates") return std::to_string(immediates_);
    return std::nullopt;
  }

  std::optional<std::string> WorkFact(const std::string& key) const {
    static const std::map<std::string, uint64_t MemoryWork::*> kMembers = {
        {"global_sectors", &MemoryWork::global_sectors},
        {"global_load_sectors", &MemoryWork::global_load_sectors},
        {"global_store_sectors", &MemoryWork::global_store_sectors},
        {"local_sectors", &MemoryWork::local_sectors},
        {"global_insts", &MemoryWork::global_insts},
        {"local_insts", &MemoryWork::local_insts},
        {"shared_accesses", &MemoryWork::shared_accesses},
    };
    constexpr std::string_view kPerKernel = "per_kernel_";
    const bool per_kernel = key.starts_with(kPerKernel);
    const auto member = kMembers.find(per_kernel ? key.substr(kPerKernel.size()) : key);
    if (member == kMembers.end()) return std::nullopt;
    uint64_t sum = 0;
    for (const MemoryWork& work : work_) {
      if (per_kernel && work.*member->second != work_.front().*member->second)
        return "differs between kernels";
      sum += work.*member->second;
    }
    return std::to_string(per_kernel ? work_.front().*member->second : sum);
  }

  IngestResult result_;
  std::shared_ptr<CompactReader> reader_;
  std::vector<MemoryWork> work_;
  std::map<uint32_t, ExecutedInst> executed_;
  uint64_t immediates_ = 0;
  uint64_t warps_with_work_ = 0;
};

}  // namespace sm89::testing
