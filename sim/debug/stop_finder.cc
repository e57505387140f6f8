#include "sim/debug/stop_finder.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sm89::debug {
namespace {

void Keep(const IssuedInst& issued, KeptIssue* kept) {
  kept->id = {issued.kernel, issued.cta, issued.warp, issued.sm, issued.slot};
  kept->cycle = issued.cycle;
  kept->number = issued.number;
  kept->sub_core = issued.sub_core;
  kept->rides = issued.rides;
  kept->inst = *issued.inst;
  kept->inst.shape = nullptr;
  if (issued.inst->shape != nullptr) {
    kept->shape = *issued.inst->shape;
  } else {
    kept->shape.mask = 0;
  }
}

}  // namespace

DynInst KeptIssue::Access() const {
  DynInst access = inst;
  access.shape = shape.mask == 0 ? nullptr : &shape;
  return access;
}

void StopFinder::BeginStep(std::optional<WarpId> warp, uint64_t count) {
  step_warp_ = warp;
  steps_left_ = count;
  stepped_.reset();
  step_ended_ = stopped_ = show_issues_ = ignores_stops_ = false;
  hits_.clear();
  issues_.clear();
  num_hits_ = num_issues_ = num_elsewhere_ = 0;
}

const KeptIssue* StopFinder::LastIssue(uint32_t sm, uint32_t slot) const {
  if (sm >= last_.size() || slot >= last_[sm].size()) return nullptr;
  const KeptIssue& kept = last_[sm][slot];
  return kept.cycle == kNever ? nullptr : &kept;
}

void StopFinder::AddHit(Stop* stop, std::string what, const IssuedInst& issued) {
  stopped_ = true;
  ++stop->hits;
  ++num_hits_;
  if (hits_.size() < kMaxShown)
    hits_.push_back({stop->number, std::move(what), last_[issued.sm][issued.slot]});
}

void StopFinder::CheckStops(const Issue& issue) {
  for (Stop& stop : stops_) {
    if (stop.memory.has_value()) {
      const LaneMask lanes = stop.place.Holds(issue) ? stop.memory->Touches(issue) : 0;
      if (lanes == 0) continue;
      AddHit(&stop, absl::StrCat(stop.Name(), ": ", stop.memory->Text(), ", lanes ", HexText(lanes, 8)),
             issue.what);
    } else if (stop.Hits(issue)) {
      AddHit(&stop, absl::StrCat(stop.Name(), ": ", stop.What()), issue.what);
    }
  }
}

void StopFinder::NoteStart(const IssuedInst& issued, Issue* issue) {
  if (started_.size() <= issued.kernel) started_.resize(issued.kernel + 1);
  std::vector<bool>& ctas = started_[issued.kernel];
  const Dim3& grid = gpu_->trace().info().kernels[issue->kernel].grid;
  const uint64_t cta = issued.cta.x + uint64_t{grid.x} * (issued.cta.y + uint64_t{grid.y} * issued.cta.z);
  issue->first_of_run = ctas.empty();
  if (ctas.size() <= cta) ctas.resize(cta + 1);
  issue->first_of_cta = !ctas[cta];
  ctas[cta] = true;
}

bool StopFinder::Steps(const WarpId& id) const {
  return steps_left_ != 0 && (!step_warp_ || id == *step_warp_);
}

void StopFinder::Issued(const IssuedInst& issued) {
  if (last_.size() <= issued.sm) last_.resize(issued.sm + 1);
  std::vector<KeptIssue>& slots = last_[issued.sm];
  if (slots.size() <= issued.slot) slots.resize(issued.slot + 1);
  KeptIssue& kept = slots[issued.slot];
  Keep(issued, &kept);
  if (show_issues_) {
    if (show_sm_.value_or(issued.sm) != issued.sm) {
      ++num_elsewhere_;
    } else if (num_issues_++ < kMaxShown) {
      issues_.push_back(kept);
    }
  }
  // A stop that is set later has to know what has begun: that is noted without stops, too.
  if (issued.number == 0 || (!stops_.empty() && !ignores_stops_)) {
    const uint32_t kernel = gpu_->runs()[issued.kernel]->trace_kernel;
    Issue issue{issued, kernel, gpu_->trace().StaticTable(kernel)[issued.inst->static_id]};
    if (issued.number == 0) NoteStart(issued, &issue);
    if (!ignores_stops_) CheckStops(issue);
  }
  if (Steps(kept.id) && --steps_left_ == 0) {
    stepped_ = kept;
    stopped_ = true;
  }
}

bool StopFinder::StepWarpGone() const {
  if (steps_left_ == 0 || !step_warp_) return false;
  const auto view = gpu_->sm(step_warp_->sm).View(step_warp_->slot, gpu_->now());
  return !view || !step_warp_->Is(*view);
}

bool StopFinder::PauseAfter(Cycle) {
  if (StepWarpGone()) step_ended_ = stopped_ = true;
  return stopped_ || (interrupted_ != nullptr && interrupted_->load(std::memory_order_relaxed));
}

}  // namespace sm89::debug
