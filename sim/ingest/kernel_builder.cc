#include "sim/ingest/kernel_builder.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/text_scan.h"

namespace sm89 {
namespace {

constexpr size_t kMissingCtasNamed = 8;

uint32_t WarpsOf(const Dim3& block) {
  return static_cast<uint32_t>((SaturatingVolume(block) + kWarpSize - 1) / kWarpSize);
}

bool IsSharedSide(std::span<const uint64_t> addresses) {
  return !addresses.empty() &&
         std::all_of(addresses.begin(), addresses.end(), [](uint64_t a) { return a < kSharedSideEnd; });
}

}  // namespace

KernelBuilder::KernelBuilder(const KernelInfo& header, CompactWriter& writer)
    : info_(header),
      writer_(writer),
      table_(writer),
      warps_a_cta_(WarpsOf(header.block)),
      warp_seen_(warps_a_cta_, false) {
  SM89_ASSERT(warps_a_cta_ > 0, "the header was checked");
}

absl::Status KernelBuilder::BeginCta(const Dim3& id, uint64_t line) {
  SM89_ASSERT(!in_cta_, "blocks do not nest");
  const Dim3& grid = info_.grid;
  if (id.x >= grid.x || id.y >= grid.y || id.z >= grid.z) {
    return Refuse(line, "thread block", FormatTriple(id),
                  absl::StrCat("inside the grid of ", FormatTriple(grid)),
                  "the thread block is outside the grid");
  }
  const uint64_t linear = (uint64_t{id.z} * grid.y + id.y) * grid.x + id.x;
  if (!ctas_.Insert(linear)) {
    return Refuse(line, "thread block", FormatTriple(id), "each block once",
                  "the thread block is there twice");
  }
  if (ctas_.num_runs() > kMaxCtaRunsAKernel) {
    return InputError(
        absl::StatusCode::kResourceExhausted,
        {.file = info_.file,
         .line = line,
         .field = "thread block",
         .expected = absl::StrCat("at most ", kMaxCtaRunsAKernel, " gaps in the order of blocks"),
         .message = "the thread blocks are too scattered"});
  }
  in_cta_ = true;
  cta_id_ = id;
  warp_sections_ = 0;
  std::fill(warp_seen_.begin(), warp_seen_.end(), false);
  return writer_.BeginCta(id);
}

absl::Status KernelBuilder::BeginWarp(uint64_t warp, uint64_t declared, uint64_t line) {
  SM89_ASSERT(in_cta_ && !in_warp_, "warps are inside a block and do not nest");
  if (warp >= warps_a_cta_) {
    return Refuse(line, "warp", absl::StrCat(warp),
                  absl::StrCat("0..", warps_a_cta_ - 1, " by the block's dimensions"),
                  "the warp number is out of range");
  }
  if (warp_seen_[warp]) {
    return Refuse(line, "warp", absl::StrCat(warp), "each warp once a block", "the warp is there twice");
  }
  warp_seen_[warp] = true;
  ++warp_sections_;
  in_warp_ = true;
  warp_ = static_cast<uint32_t>(warp);
  declared_ = declared;
  read_ = 0;
  exited_ = 0;
  past_exit_ = false;
  if (declared == 0) {
    ++info_.empty_warps;
    return absl::OkStatus();
  }
  return writer_.BeginWarp(warp_);
}

absl::Status KernelBuilder::Add(const ParsedInst& inst, uint64_t line) {
  ++read_;
  StaticUse& use = table_.use(inst.static_id);
  ++use.count;
  // Most masks are full; without the test every one costs a call (popcount is no baseline instruction).
  constexpr LaneMask kFull = ~LaneMask{0};
  info_.thread_instructions +=
      inst.mask == kFull ? kWarpSize : static_cast<uint64_t>(std::popcount(inst.mask));
  if (inst.mask == 0) ++info_.masked_off_instructions;
  if ((inst.mask & exited_) != 0) past_exit_ = true;
  if (use.is_exit) exited_ |= inst.mask;
  DynInstRecord record;
  record.static_id = inst.static_id;
  record.mask = inst.mask;
  record.addresses = std::span<const uint64_t>(inst.tail.addresses.data(), inst.tail.num_addresses);
  if (use.is_async_copy && IsSharedSide(record.addresses)) [[unlikely]] {
    if (async_shared_sides_++ == 0) first_shared_side_line_ = line;
    record.addresses = {};
  } else if (inst.tail.has_zero_address) [[unlikely]] {
    if (use.zero_address_uses++ == 0) use.first_zero_line = line;
  }
  return writer_.Add(record);
}

absl::Status KernelBuilder::EndWarp() {
  SM89_ASSERT(in_warp_ && read_ == declared_, "the caller compares the counts");
  in_warp_ = false;
  info_.warp_instructions += read_;
  if (past_exit_) ++info_.warps_past_exit;
  return declared_ == 0 ? absl::OkStatus() : writer_.EndWarp();
}

absl::Status KernelBuilder::EndCta() {
  SM89_ASSERT(in_cta_ && !in_warp_, "a block ends behind its last warp");
  in_cta_ = false;
  ++info_.num_ctas;
  info_.absent_warps += warps_a_cta_ - warp_sections_;
  return writer_.EndCta();
}

Fault KernelBuilder::TruncatedFault(const std::string& why, uint64_t line) const {
  Fault fault;
  fault.file = info_.file;
  fault.line = line;
  std::string where = "between blocks";
  if (in_cta_) {
    where = absl::StrCat("in block ", FormatTriple(cta_id_));
    fault.facts.push_back({"block", FormatTriple(cta_id_)});
  }
  if (in_warp_) {
    absl::StrAppend(&where, ", warp ", warp_, ", behind ", read_, " of ", declared_, " instructions");
    fault.facts.push_back({"warp", absl::StrCat(warp_)});
    fault.facts.push_back({"insts_read", absl::StrCat(read_)});
    fault.facts.push_back({"insts_declared", absl::StrCat(declared_)});
  }
  fault.message = absl::StrCat("the file is truncated ", where, " (", why, "); ", info_.num_ctas, " of ",
                               info_.grid_ctas, " blocks are complete");
  fault.facts.push_back({"blocks_complete", absl::StrCat(info_.num_ctas)});
  fault.facts.push_back({"blocks_expected", absl::StrCat(info_.grid_ctas)});
  return fault;
}

Fault KernelBuilder::CountFault(uint64_t read, uint64_t line) const {
  Fault fault;
  fault.file = info_.file;
  fault.line = line;
  fault.field = "insts";
  fault.value = absl::StrCat(declared_);
  fault.expected = absl::StrCat(read);
  fault.message = absl::StrCat("block ", FormatTriple(cta_id_), ", warp ", warp_, " declares ", declared_,
                               " instructions and has ", read);
  fault.facts = {{"block", FormatTriple(cta_id_)},
                 {"warp", absl::StrCat(warp_)},
                 {"insts_declared", absl::StrCat(declared_)},
                 {"insts_read", absl::StrCat(read)}};
  return fault;
}

Fault KernelBuilder::MissingCtasFault() const {
  std::string missing;
  for (const uint64_t id : ctas_.FirstMissing(info_.grid_ctas, kMissingCtasNamed)) {
    const Dim3& grid = info_.grid;
    const Dim3 place = {static_cast<uint32_t>(id % grid.x), static_cast<uint32_t>(id / grid.x % grid.y),
                        static_cast<uint32_t>(id / grid.x / grid.y)};
    absl::StrAppend(&missing, missing.empty() ? "" : ";", FormatTriple(place));
  }
  Fault fault;
  fault.file = info_.file;
  fault.field = "thread blocks";
  fault.value = absl::StrCat(ctas_.size());
  fault.expected = absl::StrCat(info_.grid_ctas);
  const bool all_named = info_.grid_ctas - ctas_.size() <= kMissingCtasNamed;
  fault.message = absl::StrCat("the file holds ", ctas_.size(), " of ", info_.grid_ctas,
                               " thread blocks, missing ", missing, all_named ? "" : " and more");
  fault.facts = {{"blocks", absl::StrCat(ctas_.size())},
                 {"grid_blocks", absl::StrCat(info_.grid_ctas)},
                 {"missing", missing}};
  return fault;
}

absl::Status KernelBuilder::Refuse(uint64_t line, std::string field, std::string value, std::string expected,
                                   std::string message) const {
  Fault fault;
  fault.file = info_.file;
  fault.line = line;
  fault.field = std::move(field);
  fault.value = std::move(value);
  fault.expected = std::move(expected);
  fault.message = std::move(message);
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

}  // namespace sm89
