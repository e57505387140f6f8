#include "sim/debug/history.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"

namespace sm89::debug {
namespace {

constexpr uint32_t kUniforms = emu::RegisterView::kNumUniform;
constexpr uint32_t kPredicates = emu::RegisterView::kNumPredicates;

// Keeps the registers of one CTA of those that run.
class HistorySink : public emu::TraceSink {
 public:
  // `make_room` says how many bytes the history may take, of those asked for.
  HistorySink(const emu::Emulator& emulator, uint64_t cta, uint64_t max_bytes, uint64_t reserved_bytes,
              CtaHistory* history, std::function<uint64_t(uint64_t)> make_room)
      : emulator_(emulator),
        cta_(cta),
        max_bytes_(max_bytes),
        reserved_bytes_(reserved_bytes),
        history_(*history),
        make_room_(std::move(make_room)) {}

  void BeginCta(uint64_t cta) override { wanted_ = cta == cta_; }
  void Record(uint32_t warp, uint32_t, LaneMask, std::span<const uint64_t>) override {
    if (!wanted_ || !status().ok()) return;
    history_.Note(warp, emulator_.registers(warp));
    if (history_.bytes() > room_) room_ = make_room_(history_.bytes());
  }
  void EndCta(uint64_t) override {}
  absl::Status status() const override {
    if (history_.bytes() <= room_) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(
        "the registers of CTA number ", cta_, " behind each of its instructions take more than ",
        max_bytes_ >> 20, " MiB, the limit (--history-mib)",
        reserved_bytes_ == 0 ? "" : absl::StrCat(", with ", reserved_bytes_, " bytes for register watches")));
  }

 private:
  const emu::Emulator& emulator_;
  const uint64_t cta_;
  const uint64_t max_bytes_;
  const uint64_t reserved_bytes_;
  CtaHistory& history_;
  const std::function<uint64_t(uint64_t)> make_room_;
  uint64_t room_ = 0;
  bool wanted_ = false;
};

}  // namespace

// General registers lane by lane, then uniform ones, predicates (a bit a lane), uniform predicates.
CtaHistory::Place CtaHistory::PlaceOf(RegFile file, uint32_t index) const {
  const uint32_t general = num_registers_ * kWarpSize;
  switch (file) {
    case RegFile::kGeneral:
      return {index * kWarpSize, kWarpSize};
    case RegFile::kUniform:
      return {general + index, 1};
    case RegFile::kPredicate:
      return {general + kUniforms + index, 1};
    case RegFile::kUniformPredicate:
      return {general + kUniforms + kPredicates + index, 1};
  }
  return {};
}

uint32_t CtaHistory::NumWords() const { return num_registers_ * kWarpSize + kUniforms + 2 * kPredicates; }

void CtaHistory::Keep(Warp* warp, const Place& place, const uint32_t* now) {
  uint32_t* const last = warp->last.data() + place.first;
  if (std::memcmp(last, now, place.words * sizeof(uint32_t)) == 0) return;
  std::copy(now, now + place.words, last);
  warp->changes.push_back({place.first, warp->values.size()});
  warp->values.insert(warp->values.end(), now, now + place.words);
}

void CtaHistory::Note(uint32_t warp_index, const emu::RegisterView& registers) {
  if (warp_index >= warps_.size()) warps_.resize(warp_index + 1);
  Warp& warp = warps_[warp_index];
  const uint64_t before = warp.Bytes();
  if (warp.last.empty()) warp.last.assign(NumWords(), 0);
  for (uint32_t r = 0; r < num_registers_; ++r) {
    Keep(&warp, PlaceOf(RegFile::kGeneral, r), registers.general.data() + size_t{r} * kWarpSize);
  }
  for (uint32_t r = 0; r < kUniforms; ++r) {
    Keep(&warp, PlaceOf(RegFile::kUniform, r), &registers.uniform[r]);
  }
  for (uint32_t p = 0; p < kPredicates; ++p) {
    Keep(&warp, PlaceOf(RegFile::kPredicate, p), &registers.predicates[p]);
    const uint32_t uniform = registers.uniform_predicates[p] ? 1 : 0;
    Keep(&warp, PlaceOf(RegFile::kUniformPredicate, p), &uniform);
  }
  warp.ends.push_back(warp.changes.size());
  bytes_ += warp.Bytes() - before;
}

uint64_t CtaHistory::Warp::Bytes() const {
  return ends.capacity() * sizeof(uint64_t) + changes.capacity() * sizeof(Change) +
         (values.capacity() + last.capacity()) * sizeof(uint32_t);
}

void CtaHistory::Seal() {
  bytes_ = 0;
  for (Warp& warp : warps_) {
    warp.ends.shrink_to_fit();
    warp.changes.shrink_to_fit();
    warp.values.shrink_to_fit();
    std::vector<uint32_t>().swap(warp.last);
    bytes_ += warp.Bytes();
  }
}

RegisterValue CtaHistory::ValueOf(RegFile file, const uint32_t* words) {
  RegisterValue value;
  if (file == RegFile::kPredicate) {
    for (int lane = 0; lane < kWarpSize; ++lane) value.lanes[lane] = *words >> lane & 1;
  } else {
    std::copy(words, words + (file == RegFile::kGeneral ? kWarpSize : 1), value.lanes.begin());
  }
  return value;
}

RegisterValue CtaHistory::At(uint32_t warp_index, uint64_t instructions, RegFile file, uint32_t index) const {
  if (warp_index >= warps_.size() || instructions == 0) return {};
  const Warp& warp = warps_[warp_index];
  SM89_ASSERT(instructions <= warp.ends.size(), "more instructions than the warp executes");
  const uint32_t first = PlaceOf(file, index).first;
  for (uint64_t change = warp.ends[instructions - 1]; change != 0; --change) {
    const Change& c = warp.changes[change - 1];
    if (c.first == first) return ValueOf(file, warp.values.data() + c.value);
  }
  return {};
}

std::vector<uint64_t> CtaHistory::Changes(uint32_t warp_index, RegFile file, uint32_t index,
                                          LaneMask lanes) const {
  std::vector<uint64_t> numbers;
  if (warp_index >= warps_.size()) return numbers;
  const Warp& warp = warps_[warp_index];
  const uint32_t first = PlaceOf(file, index).first;
  RegisterValue before;
  uint64_t change = 0;
  for (uint64_t number = 0; number < warp.ends.size(); ++number) {
    for (; change < warp.ends[number]; ++change) {
      if (warp.changes[change].first != first) continue;
      const RegisterValue now = ValueOf(file, warp.values.data() + warp.changes[change].value);
      bool other = false;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const bool looked_at = IsUniform(file) || (lanes >> lane & 1) != 0;
        other = other || (looked_at && now.lanes[lane] != before.lanes[lane]);
      }
      if (other) numbers.push_back(number);
      before = now;
    }
  }
  return numbers;
}

absl::StatusOr<const CtaHistory*> Histories::Of(uint32_t launch, uint64_t cta) {
  const auto known = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.launch == launch && e.cta == cta; });
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return entries_.front().history.get();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<CtaHistory> history, Record(launch, cta));
  entries_.push_front({launch, cta, std::move(history)});
  return entries_.front().history.get();
}

uint64_t Histories::TakenBytes() const {
  uint64_t taken = reserved_bytes_;
  for (const Entry& entry : entries_) taken += entry.history->bytes();
  return taken;
}

uint64_t Histories::MakeRoom(uint64_t bytes) {
  uint64_t kept = TakenBytes();
  while (!entries_.empty() && kept + bytes > max_bytes_) {
    kept -= entries_.back().history->bytes();
    entries_.pop_back();
  }
  return max_bytes_ - std::min(kept, max_bytes_);
}

void Histories::Reserve(uint64_t bytes) {
  reserved_bytes_ = bytes;
  MakeRoom(0);
}

absl::StatusOr<std::unique_ptr<CtaHistory>> Histories::Record(uint32_t launch, uint64_t cta) {
  const LoadedProgram& program = emulation_.program();
  SM89_ASSERT(launch < program.launches.size(), "the program has no such launch");
  const launch::LaunchSpec& spec = program.launches[launch];
  if (emulator_ == nullptr || launch_ != launch || next_cta_ > cta || spec.cooperative) {
    emulator_.reset();  // before the next one takes memory
    ASSIGN_OR_RETURN(emulator_, emu::Emulator::Create(*program.modules[launch], spec, options_));
    launch_ = launch;
    next_cta_ = 0;
  }
  auto history = std::make_unique<CtaHistory>(emulator_->num_registers());
  HistorySink sink(*emulator_, cta, max_bytes_, reserved_bytes_, history.get(),
                   [this](uint64_t bytes) { return MakeRoom(bytes); });
  absl::Status status;
  if (spec.cooperative) {
    status = emulator_->RunAll(&sink);
  } else {
    while (status.ok() && next_cta_ < cta) status = emulator_->RunCta(next_cta_++, nullptr);
    if (status.ok()) status = emulator_->RunCta(next_cta_++, &sink);
  }
  status.Update(sink.status());
  if (!status.ok() || spec.cooperative) emulator_.reset();
  RETURN_IF_ERROR(status);
  most_bytes_ = std::max(most_bytes_, TakenBytes() + history->bytes());
  history->Seal();
  return history;
}

}  // namespace sm89::debug
