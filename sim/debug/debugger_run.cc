// Breakpoints, watches and what runs the simulation.
#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/counted.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/debug/debugger.h"
#include "sim/gpu/gpu.h"
#include "sim/launch/buffers.h"
#include "sim/report/text.h"

namespace sm89::debug {
namespace {

// Cycles between two looks at the interrupt flag.
constexpr uint64_t kSliceCycles = 65'536;
constexpr uint64_t kMaxWatchedBytes = uint64_t{1} << 40;

// What of a place a kernel has.
struct Fit {
  bool cta = true, warp = true, instruction = true;
};

Fit FitOf(const Place& place, const KernelInfo& info, std::span<const StaticInst> code) {
  Fit fit;
  if (place.cta) {
    fit.cta = place.cta->x < info.grid.x && place.cta->y < info.grid.y && place.cta->z < info.grid.z;
  }
  if (place.warp) fit.warp = *place.warp < (SaturatingVolume(info.block) + kWarpSize - 1) / kWarpSize;
  if (place.of_instruction()) {
    fit.instruction =
        std::any_of(code.begin(), code.end(), [&](const StaticInst& inst) { return place.Is(inst); });
  }
  return fit;
}

}  // namespace

void Debugger::Attach(std::unique_ptr<Simulator> simulator) {
  simulator_ = std::move(simulator);
  finder_.Attach(&simulator_->gpu());
  if (simulator_->emulation() == nullptr) return;
  histories_ = std::make_unique<Histories>(*simulator_->emulation(), options_.emu, options_.history_bytes);
}

bool Debugger::done() const { return gpu().done(); }

uint64_t Debugger::WatchBytes() const {
  uint64_t bytes = 0;
  for (const Stop& stop : finder_.stops()) bytes += stop.reg ? stop.reg->Bytes() : 0;
  return bytes;
}

Debugger::Text Debugger::AddStop(Stop stop) {
  std::vector<Stop>& stops = finder_.stops();
  if (stops.size() >= StopFinder::kMaxStops) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "there are ", stops.size(), " breakpoints and watches, the most there can be; delete some"));
  }
  stop.number = next_stop_++;
  stops.push_back(std::move(stop));
  // One watch may go beyond the limit: the next one then finds no room for the registers that it needs.
  if (histories_ != nullptr) histories_->Reserve(WatchBytes());
  std::string text = absl::StrCat(stops.back().Name(), ": ", stops.back().What(), "\n");
  if (!stops.back().reg) return text;
  const RegisterWatch& watch = *stops.back().reg;
  absl::StrAppend(&text, "  changed by ", Counted(watch.changes.size(), "instruction"), " of the warp");
  const auto id = FindWarp(watch.Where());
  if (!id.ok()) return absl::StrCat(text, "\n");  // it has not begun, or has ended
  const uint64_t issued = gpu().sm(id->sm).View(id->slot, gpu().now())->issued;
  const auto behind = std::lower_bound(watch.changes.begin(), watch.changes.end(), issued);
  return absl::StrCat(text, ", ", watch.changes.end() - behind, " of them still to come\n");
}

Debugger::Text Debugger::AddBreak(Words words, bool temporary) {
  const std::string name = temporary ? "tbreak" : "break";
  Stop stop;
  stop.temporary = temporary;
  if (words.TakeIf("cycle")) {
    ASSIGN_OR_RETURN(stop.cycle, words.TakeNumber("cycle", 0, kNever - 1));
    RETURN_IF_ERROR(words.Finish(name));
    if (*stop.cycle <= gpu().now()) {
      return Mistake("cycle", absl::StrCat(*stop.cycle),
                     absl::StrCat("one behind the present one, ", gpu().now()), "that cycle has passed");
    }
  } else {
    ASSIGN_OR_RETURN(stop.place, TakePlace(&words));
    RETURN_IF_ERROR(words.Finish(name));
    if (stop.place.empty()) {
      return Mistake(name, "",
                     "'cycle N', or a place as 'kernel 1', 'cta 0,0,0', 'warp 3', 'pc 0x40', 'op LDG'",
                     "nothing to stop at");
    }
  }
  RETURN_IF_ERROR(CheckPlace(stop.place));
  return AddStop(std::move(stop));
}

// A place that no instruction of the selected kernels can have is a mistake.
absl::Status Debugger::CheckPlace(const Place& place) const {
  const TraceSource& trace = gpu().trace();
  const std::vector<KernelInfo>& kernels = trace.info().kernels;
  if (place.kernel && (*place.kernel >= kernels.size() || !gpu().selected()[*place.kernel])) {
    return Mistake("kernel", absl::StrCat(*place.kernel + uint64_t{1}),
                   absl::StrCat("one that is simulated, of ", kernels.size()), "there is no such kernel");
  }
  if (place.sm && *place.sm >= gpu().num_sms()) {
    return Mistake("sm", absl::StrCat(*place.sm), absl::StrCat("up to ", gpu().num_sms() - 1),
                   "there is no such SM");
  }
  Fit any{false, false, false};
  bool together = false;
  for (uint32_t k = 0; k < kernels.size() && !together; ++k) {
    if (!gpu().selected()[k] || place.kernel.value_or(k) != k) continue;
    const Fit fit = FitOf(place, kernels[k], trace.StaticTable(k));
    any = {any.cta || fit.cta, any.warp || fit.warp, any.instruction || fit.instruction};
    together = fit.cta && fit.warp && fit.instruction;
  }
  if (together) return absl::OkStatus();
  if (!any.cta) return Mistake("cta", place.Text(), "coordinates inside a kernel's grid", "no such CTA");
  if (!any.warp)
    return Mistake("warp", absl::StrCat(*place.warp), "a number below a CTA's warps", "no such warp");
  if (!any.instruction) {
    return Mistake("place", place.Text(), "an instruction of a simulated kernel", "no instruction is there");
  }
  return Mistake("place", place.Text(), "CTA, warp and instruction of the same kernel",
                 "no kernel has all of them");
}

Debugger::Text Debugger::Break(Words words) { return AddBreak(std::move(words), false); }
Debugger::Text Debugger::Tbreak(Words words) { return AddBreak(std::move(words), true); }

uint32_t Debugger::FirstKernel() const {
  const std::vector<bool>& selected = gpu().selected();
  return static_cast<uint32_t>(std::find(selected.begin(), selected.end(), true) - selected.begin());
}

// "0x7f0000010000", "a", "a+0x40".
absl::Status Debugger::ResolveGlobal(const std::string& text, Stop* stop) const {
  uint64_t& address = stop->memory->address;
  if (ParseNumber(text, &address)) return absl::OkStatus();
  if (simulator_->emulation() == nullptr) return Mistake("address", text, "a number");
  const uint32_t kernel = stop->place.kernel ? *stop->place.kernel
                          : selected_        ? KernelOf(selected_->run)
                                             : FirstKernel();
  const std::string expected = absl::StrCat("a number, or a buffer of kernel ", kernel + uint64_t{1},
                                            " as NAME or NAME+OFFSET (see 'buffers')");
  const size_t plus = text.find('+');
  const std::string name = text.substr(0, plus);
  uint64_t offset = 0;
  if (plus != std::string::npos && !ParseNumber(text.substr(plus + 1), &offset)) {
    return Mistake("address", text, expected);
  }
  const std::vector<launch::LaunchSpec>& launches = simulator_->emulation()->program().launches;
  SM89_ASSERT(kernel < launches.size(), "a kernel of an execution is a launch");
  const launch::AddressPlan plan = launch::PlanAddresses(launches[kernel]);
  const auto& buffers = launches[kernel].buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].name != name) continue;
    if (offset >= plan.buffers[i].size_bytes) {
      return Mistake("address", text, absl::StrCat("an offset below ", plan.buffers[i].size_bytes));
    }
    address = plan.buffers[i].address + offset;
    stop->place.kernel = kernel;
    return absl::OkStatus();
  }
  return Mistake("address", text, expected);
}

absl::StatusOr<Stop> Debugger::WatchMemory(Words* words) {
  Stop stop;
  MemoryWatch& watch = stop.memory.emplace();
  ASSIGN_OR_RETURN(watch.space, ParseSpace(words->Take()));
  ASSIGN_OR_RETURN(const std::string address, words->TakeFor(Name(watch.space), "an address"));
  uint64_t bytes = 0;
  if (!words->empty() && ParseNumber(words->Peek(), &bytes)) {
    ASSIGN_OR_RETURN(watch.bytes, words->TakeNumber("bytes", 1, kMaxWatchedBytes));
  }
  if (words->TakeIf("read")) {
    watch.writes = false;
  } else if (words->TakeIf("write")) {
    watch.reads = false;
  }
  ASSIGN_OR_RETURN(stop.place, TakePlace(words));
  RETURN_IF_ERROR(words->Finish("watch"));
  RETURN_IF_ERROR(CheckPlace(stop.place));
  if (watch.space == LaneSpace::kGlobal) {
    RETURN_IF_ERROR(ResolveGlobal(address, &stop));
  } else if (!ParseNumber(address, &watch.address)) {
    return Mistake(Name(watch.space), address, "an address, from the begin of that memory");
  }
  return stop;
}

// The warp that a place names; without one the selected warp.
absl::Status Debugger::NameWarp(const Place& place, RegisterWatch* watch) const {
  if (place.empty()) {
    ASSIGN_OR_RETURN(const WarpId id, Selected());
    watch->kernel = KernelOf(id.run);
    watch->cta = id.cta;
    watch->warp = id.warp;
    return absl::OkStatus();
  }
  if (!place.cta || !place.warp || place.sm || place.of_instruction()) {
    return Mistake("watch", place.Text(), "cta and warp, and kernel if it is not the first", "not one warp");
  }
  watch->kernel = place.kernel.value_or(FirstKernel());
  watch->cta = *place.cta;
  watch->warp = *place.warp;
  return CheckPlace(watch->Where());
}

absl::StatusOr<Stop> Debugger::WatchRegister(Words* words) {
  const std::string name = words->Take();
  ASSIGN_OR_RETURN(const RegRange range, ParseRegisters(name));
  if (range.count != 1) return Mistake("watch", name, "one register", "a run of registers");
  Stop stop;
  RegisterWatch& watch = stop.reg.emplace();
  if (words->TakeIf("lane")) {
    if (IsUniform(range.file)) {
      return Mistake("lane", words->empty() ? "" : words->Peek(), absl::StrCat("no lane behind ", name),
                     "a uniform register is the same for all lanes");
    }
    ASSIGN_OR_RETURN(const uint64_t lane, words->TakeNumber("lane", 0, kWarpSize - 1));
    watch.lane = static_cast<uint32_t>(lane);
  }
  ASSIGN_OR_RETURN(const Place place, TakePlace(words));
  RETURN_IF_ERROR(words->Finish("watch"));
  RETURN_IF_ERROR(NameWarp(place, &watch));
  ASSIGN_OR_RETURN(const CtaHistory* const history, HistoryOf(watch.kernel, watch.cta));
  if (range.file == RegFile::kGeneral && range.first >= history->num_registers()) {
    return Mistake("register", absl::StrCat("R", range.first),
                   absl::StrCat("below R", history->num_registers()), "the kernel does not use it");
  }
  watch.file = range.file;
  watch.index = range.first;
  watch.changes = history->Changes(watch.warp, watch.file, watch.index,
                                   watch.lane ? LaneMask{1} << *watch.lane : ~LaneMask{0});
  return stop;
}

Debugger::Text Debugger::Watch(Words words) {
  if (words.empty()) {
    return Mistake("watch", "", "a register as R4, or global, shared or local with an address",
                   "nothing to watch");
  }
  const bool memory = ParseSpace(words.Peek()).ok();
  ASSIGN_OR_RETURN(Stop stop, memory ? WatchMemory(&words) : WatchRegister(&words));
  return AddStop(std::move(stop));
}

Debugger::Text Debugger::Delete(Words words) {
  std::vector<Stop>& stops = finder_.stops();
  uint64_t number = 0;  // all
  if (!words.TakeIf("all")) {
    ASSIGN_OR_RETURN(number, words.TakeNumber("delete", 1, UINT32_MAX));
  }
  RETURN_IF_ERROR(words.Finish("delete"));
  const size_t deleted =
      std::erase_if(stops, [&](const Stop& s) { return number == 0 || s.number == number; });
  if (histories_ != nullptr) histories_->Reserve(WatchBytes());
  if (deleted != 0 || number == 0) return "";
  return Mistake("delete", absl::StrCat(number), "a number that 'stops' shows", "there is no such stop");
}

Debugger::Text Debugger::Stops(Words words) {
  RETURN_IF_ERROR(words.Finish("stops"));
  std::string text;
  for (const Stop& stop : finder_.stops()) {
    absl::StrAppend(&text, stop.Name(), ": ", stop.What(), ", ", Counted(stop.hits, "hit"), "\n");
  }
  return text.empty() ? "no breakpoints or watches\n" : text;
}

absl::Status Debugger::CheckCanRun() const {
  if (!failed_.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the simulation has failed and cannot go on: ", failed_.message()));
  }
  if (!gpu().done()) return absl::OkStatus();
  return absl::FailedPreconditionError("the simulation has ended");
}

Cycle Debugger::NextCycleBreak() const {
  Cycle next = kNever;
  for (const Stop& stop : finder_.stops()) {
    if (stop.cycle && *stop.cycle > gpu().now()) next = std::min(next, *stop.cycle);
  }
  return next;
}

absl::Status Debugger::RunTo(Cycle until) {
  run_from_ = gpu().now();
  if (!finder_.ignores_stops()) until = std::min(until, NextCycleBreak());
  while (!gpu().done() && !finder_.stopped() && gpu().now() < until) {
    if (options_.interrupted != nullptr && options_.interrupted->load()) {
      return absl::CancelledError(absl::StrCat("interrupted in cycle ", gpu().now()));
    }
    const uint64_t cycles = std::min<uint64_t>(until - gpu().now(), kSliceCycles);
    failed_ = simulator_->Advance(cycles).status();
    if (absl::IsCancelled(failed_)) {
      failed_ =
          absl::CancelledError(absl::StrCat("interrupted while code was executed, in cycle ", gpu().now(),
                                            ": the simulation is over, but can be looked at"));
    }
    RETURN_IF_ERROR(failed_);
  }
  return absl::OkStatus();
}

std::string Debugger::DescribeEnd() const {
  const RunReport report = simulator_->Report();
  return absl::StrCat("the simulation has ended (", StatusText(report),
                      "): ", Counted(report.total_cycles, "cycle"), ", ",
                      Counted(report.totals.sm.warp_instructions, "warp instruction"), "\n");
}

std::string Debugger::DescribeHits() {
  std::string text;
  std::string last;
  for (const StopFinder::Hit& hit : finder_.hits()) {
    if (hit.what != last) absl::StrAppend(&text, hit.what, "\n");
    last = hit.what;
    absl::StrAppend(&text, "  ", IssueText(hit.issue), "\n");
    for (const Stop& stop : finder_.stops()) {
      if (stop.number == hit.stop && stop.reg) text += ChangeText(*stop.reg, hit.issue.number);
    }
  }
  if (finder_.num_hits() > finder_.hits().size()) {
    absl::StrAppend(&text, "and ", finder_.num_hits() - finder_.hits().size(), " more in this cycle\n");
  }
  return text;
}

std::string Debugger::DescribeStop() {
  std::string text;
  for (const KeptIssue& issue : finder_.issues()) absl::StrAppend(&text, "  ", IssueText(issue), "\n");
  if (finder_.num_issues() > finder_.issues().size()) {
    absl::StrAppend(&text, "  and ", finder_.num_issues() - finder_.issues().size(), " more\n");
  }
  if (finder_.num_elsewhere() != 0) {
    absl::StrAppend(&text, "  ", Counted(finder_.num_elsewhere(), "instruction"), " in other SMs\n");
  }
  const auto& hits = finder_.hits();
  if (const auto& stepped = finder_.stepped(); stepped) {
    const bool hit = std::any_of(hits.begin(), hits.end(),
                                 [&](const StopFinder::Hit& h) { return h.issue.id == stepped->id; });
    if (!hit) absl::StrAppend(&text, "  ", IssueText(*stepped), "\n");
    selected_ = stepped->id;
  }
  text += DescribeHits();
  for (Stop& stop : finder_.stops()) {
    if (!stop.cycle || *stop.cycle > gpu().now() || *stop.cycle <= run_from_) continue;
    if (finder_.ignores_stops()) continue;
    ++stop.hits;
    absl::StrAppend(&text, stop.Name(), ": cycle ", gpu().now());
    if (gpu().now() > *stop.cycle) absl::StrAppend(&text, ", the first one behind idle time");
    text += "\n";
  }
  if (!hits.empty()) selected_ = hits.front().issue.id;
  if (finder_.step_ended()) {
    const KeptIssue* const last = finder_.LastIssue(selected_->sm, selected_->slot);
    if (last != nullptr && last->id == *selected_) absl::StrAppend(&text, "  ", IssueText(*last), "\n");
    absl::StrAppend(&text, WarpText(*selected_), " has ended\n");
  }
  std::erase_if(finder_.stops(), [](const Stop& s) { return s.temporary && s.hits != 0; });
  if (gpu().done()) text += DescribeEnd();
  return text;
}

Debugger::Text Debugger::Continue(Words words) {
  RETURN_IF_ERROR(words.Finish("continue"));
  RETURN_IF_ERROR(CheckCanRun());
  finder_.Begin();
  RETURN_IF_ERROR(RunTo(kNever));
  return DescribeStop();
}

Debugger::Text Debugger::Cycles(Words words) {
  uint64_t count = 1;
  if (!words.empty()) {
    ASSIGN_OR_RETURN(count, words.TakeNumber("cycle", 1, kNever / 2));
  }
  RETURN_IF_ERROR(words.Finish("cycle"));
  RETURN_IF_ERROR(CheckCanRun());
  finder_.Begin();
  finder_.ShowIssues(selected_ ? std::optional(selected_->sm) : std::nullopt);
  const Cycle until = gpu().now() + count;
  RETURN_IF_ERROR(RunTo(until));
  std::string text = DescribeStop();
  if (gpu().done()) return text;
  return absl::StrCat(text, "cycle ", gpu().now(),
                      gpu().now() > until ? ", the first one behind idle time\n" : "\n");
}

Debugger::Text Debugger::Step(Words words) {
  uint64_t count = 1;
  if (!words.empty() && words.Peek() != "alone") {
    ASSIGN_OR_RETURN(count, words.TakeNumber("step", 1, kNever - 1));
  }
  const bool alone = words.TakeIf("alone");
  RETURN_IF_ERROR(words.Finish("step"));
  RETURN_IF_ERROR(CheckCanRun());
  if (selected_ && !ViewOfSelected().ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(WarpText(*selected_), " has ended; select another one with 'warp'"));
  }
  finder_.BeginStep(selected_, count);
  if (alone) finder_.IgnoreStops();
  RETURN_IF_ERROR(RunTo(kNever));
  return DescribeStop();
}

}  // namespace sm89::debug
