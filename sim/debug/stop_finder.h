// Watches what the SMs issue and says when the simulation stops.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/debug/stops.h"
#include "sim/gpu/gpu.h"
#include "sim/sm/warp_view.h"
#include "sim/trace/trace_source.h"

namespace sm89::debug {

// The warp that commands are about.
struct WarpId {
  uint32_t run = 0;  // index of the kernel's run
  Dim3 cta;
  uint32_t warp = 0;  // in its CTA
  uint32_t sm = 0;
  uint32_t slot = 0;  // in the SM

  // Whether it is what its slot holds now.
  bool Is(const WarpView& view) const { return view.kernel == run && view.warp == warp && view.cta == cta; }

  friend bool operator==(const WarpId&, const WarpId&) = default;
};

// An issued instruction that is kept: its shape outlives the warp's next one.
struct KeptIssue {
  WarpId id;
  Cycle cycle = kNever;  // kNever: none
  uint64_t number = 0;   // of the warp's instructions, from 0
  uint32_t sub_core = 0;
  bool rides = false;
  DynInst inst;       // without shape: Access has it
  AccessShape shape;  // empty mask: no addresses

  // With the addresses that it was issued with; valid while this lives.
  DynInst Access() const;
};

class StopFinder final : public IssueObserver {
 public:
  static constexpr size_t kMaxStops = 64;
  static constexpr size_t kMaxShown = 16;  // hits, and issues of stepped cycles

  // A stop that was met and by what.
  struct Hit {
    uint32_t stop = 0;  // its number
    std::string what;   // "breakpoint 1", "watch 2: global 0x... written by lanes 0x..."
    KeptIssue issue;
  };

  // Once `interrupted` (may be null) is true, the simulation pauses.
  explicit StopFinder(const std::atomic<bool>* interrupted) : interrupted_(interrupted) {}
  void Attach(const Gpu* gpu) { gpu_ = gpu; }

  // Before each run.
  void Begin() { BeginStep(std::nullopt, 0); }
  // Stops when this warp has issued `count` more instructions, or has ended; without a warp any warp counts.
  void BeginStep(std::optional<WarpId> warp, uint64_t count);
  // In this run no breakpoint or watch is looked at.
  void IgnoreStops() { ignores_stops_ = true; }
  bool ignores_stops() const { return ignores_stops_; }
  // Keeps what issues for issues(): in this SM, without one in all of them.
  void ShowIssues(std::optional<uint32_t> sm) {
    show_issues_ = true;
    show_sm_ = sm;
  }

  bool stopped() const { return stopped_; }
  const std::vector<Hit>& hits() const { return hits_; }
  uint64_t num_hits() const { return num_hits_; }
  // The last instruction that counted as a step, once all have.
  const std::optional<KeptIssue>& stepped() const { return stepped_; }
  bool step_ended() const { return step_ended_; }  // the stepped warp has ended instead
  const std::vector<KeptIssue>& issues() const { return issues_; }
  uint64_t num_issues() const { return num_issues_; }
  uint64_t num_elsewhere() const { return num_elsewhere_; }  // in other SMs

  // The last instruction that a warp in that slot has issued; null: none yet.
  const KeptIssue* LastIssue(uint32_t sm, uint32_t slot) const;

  std::vector<Stop>& stops() { return stops_; }
  const std::vector<Stop>& stops() const { return stops_; }

  void Issued(const IssuedInst& issued) override;
  bool PauseAfter(Cycle cycle) override;

 private:
  // Notes that the warp's CTA has issued something.
  void NoteStart(const IssuedInst& issued, Issue* issue);
  void CheckStops(const Issue& issue);
  void AddHit(Stop* stop, std::string what, const IssuedInst& issued);
  bool Steps(const WarpId& id) const;
  bool StepWarpGone() const;

  const std::atomic<bool>* const interrupted_;
  const Gpu* gpu_ = nullptr;
  std::vector<Stop> stops_;
  std::optional<WarpId> step_warp_;
  uint64_t steps_left_ = 0;
  std::optional<KeptIssue> stepped_;
  bool step_ended_ = false;
  bool show_issues_ = false;
  bool ignores_stops_ = false;
  bool stopped_ = false;
  std::vector<Hit> hits_;
  uint64_t num_hits_ = 0;
  std::vector<KeptIssue> issues_;
  uint64_t num_issues_ = 0;
  uint64_t num_elsewhere_ = 0;
  std::optional<uint32_t> show_sm_;
  std::vector<std::vector<KeptIssue>> last_;  // by SM and slot
  std::vector<std::vector<bool>> started_;    // by run and linear CTA: has issued something
};

}  // namespace sm89::debug
