// What the debugger shows of kernels, warps, queues and accesses.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/counted.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/debug/debugger.h"
#include "sim/debug/instruction_text.h"
#include "sim/debug/warp_text.h"
#include "sim/gpu/gpu.h"
#include "sim/gpu/states_text.h"
#include "sim/launch/buffers.h"
#include "sim/report/text.h"

namespace sm89::debug {
namespace {

constexpr uint32_t kMaxLines = 256;
constexpr uint64_t kListed = 11;
constexpr uint64_t kMaxListed = 1000;

absl::StatusOr<WarpState> ParseState(const std::string& name) {
  std::string all;
  for (int s = 0; s < kNumWarpStates; ++s) {
    const auto state = static_cast<WarpState>(s);
    if (name == Name(state)) return state;
    absl::StrAppend(&all, s == 0 ? "" : ", ", Av(Name(state)));
  }
  return Mistake("state", name, all);
}

std::string PassesText(uint64_t passes) { return absl::StrCat(passes, passes == 1 ? " pass" : " passes"); }

std::string LanesText(const std::vector<BankWord>& hits) {
  std::string text;
  for (size_t first = 0, last = 0; first < hits.size(); first = last + 1) {
    for (last = first; last + 1 < hits.size() && hits[last + 1].lane == hits[last].lane + 1; ++last) {
    }
    absl::StrAppend(&text, " ", hits[first].lane);
    if (last != first) absl::StrAppend(&text, "-", hits[last].lane);
  }
  return text;
}

// Which lanes share the words of a pass: neighbouring banks with the same lanes on one line.
std::string JoinedText(uint32_t pass, const std::map<uint32_t, std::vector<BankWord>>& banks) {
  std::string text;
  for (auto first = banks.begin(); first != banks.end();) {
    const std::string lanes = LanesText(first->second);
    auto behind = std::next(first);
    uint32_t last = first->first;
    while (behind != banks.end() && behind->first == last + 1 && LanesText(behind->second) == lanes) {
      last = (behind++)->first;
    }
    if (first->second.size() > 1) {
      absl::StrAppend(&text, "  pass ", pass, " bank ", first->first);
      if (last != first->first) absl::StrAppend(&text, "-", last);
      absl::StrAppend(&text, " from ", HexText(first->second.front().word * 4), ": lanes", lanes, "\n");
    }
    first = behind;
  }
  return text;
}

}  // namespace

uint32_t Debugger::KernelOf(uint32_t run) const { return gpu().runs()[run]->trace_kernel; }

const StaticInst& Debugger::StaticOf(uint32_t run, uint32_t static_id) const {
  return gpu().trace().StaticTable(KernelOf(run))[static_id];
}

const std::string& Debugger::CodeText(uint32_t run, uint32_t static_id) {
  const uint32_t kernel = KernelOf(run);
  if (texts_.size() <= kernel) texts_.resize(kernel + 1);
  std::vector<std::string>& texts = texts_[kernel];
  if (texts.empty()) texts.resize(gpu().trace().StaticTable(kernel).size());
  std::string& text = texts[static_id];
  if (text.empty()) {
    const StaticInst& inst = StaticOf(run, static_id);
    text = absl::StrCat(HexText(inst.pc, 4), " ",
                        InstructionText(inst, gpu().trace().info().kernels[kernel].binary_version));
  }
  return text;
}

std::string Debugger::WarpText(const WarpId& id) const {
  return absl::StrCat("kernel ", KernelOf(id.run) + uint64_t{1}, " CTA ", DimText(id.cta), " warp ", id.warp);
}

std::string Debugger::IssueText(const KeptIssue& issue) {
  return absl::StrCat("cycle ", issue.cycle, ": ", WarpText(issue.id), " issues ",
                      CodeText(issue.id.run, issue.inst.static_id), " for lanes ",
                      HexText(issue.inst.mask, 8), " (SM ", issue.id.sm, " sub-core ", issue.sub_core,
                      issue.rides ? ", in another warp's slot)" : ")");
}

absl::StatusOr<WarpId> Debugger::Selected() const {
  if (selected_) return *selected_;
  return absl::FailedPreconditionError(
      "no warp is selected: stop at one with 'break', or select one with 'warp cta X,Y,Z warp W'");
}

absl::StatusOr<WarpView> Debugger::ViewOfSelected() const {
  ASSIGN_OR_RETURN(const WarpId id, Selected());
  auto view = gpu().sm(id.sm).View(id.slot, gpu().now());
  if (view && id.Is(*view)) return *std::move(view);
  return absl::FailedPreconditionError(absl::StrCat(WarpText(id), " has ended"));
}

absl::StatusOr<WarpId> Debugger::FindWarp(const Place& place) const {
  for (uint32_t sm = place.sm.value_or(0); sm <= place.sm.value_or(gpu().num_sms() - 1); ++sm) {
    for (uint32_t slot = 0; slot < gpu().sm(sm).num_slots(); ++slot) {
      const auto view = gpu().sm(sm).View(slot, gpu().now());
      if (!view || !place.HoldsWarp(KernelOf(view->kernel), view->cta, view->warp, sm)) continue;
      return WarpId{view->kernel, view->cta, view->warp, sm, slot};
    }
  }
  return absl::NotFoundError(
      absl::StrCat("no warp is resident at ", place.Text(), "; 'warps' lists those that are"));
}

absl::StatusOr<std::optional<uint32_t>> Debugger::TakeKernel(Words* words, const std::string& command) const {
  ASSIGN_OR_RETURN(const Place place, TakePlace(words));
  RETURN_IF_ERROR(words->Finish(command));
  if (place.cta || place.warp || place.sm || place.of_instruction()) {
    return Mistake(command, place.Text(), "'kernel N' or nothing");
  }
  const size_t kernels = gpu().trace().info().kernels.size();
  if (place.kernel.value_or(0) < kernels) return place.kernel;
  return Mistake("kernel", absl::StrCat(place.kernel.value_or(0) + uint64_t{1}),
                 absl::StrCat("a number from 1 to ", kernels), "there is no such kernel");
}

Debugger::Text Debugger::Kernels(Words words) {
  ASSIGN_OR_RETURN(const std::optional<uint32_t> only, TakeKernel(&words, "kernels"));
  const std::vector<KernelInfo>& kernels = gpu().trace().info().kernels;
  std::vector<const KernelRun*> runs(kernels.size(), nullptr);
  for (const auto& run : gpu().runs()) runs[run->trace_kernel] = run.get();
  std::string text;
  const uint32_t first = only.value_or(0);
  const uint64_t wanted = only ? 1 : kernels.size();
  for (uint32_t k = first; k < first + std::min<uint64_t>(wanted, kMaxLines); ++k) {
    const KernelInfo& info = kernels[k];
    absl::StrAppendFormat(&text, "%4d  %s  grid %s block %s  ", k + 1, Printable(info.name),
                          DimText(info.grid), DimText(info.block));
    const KernelRun* const run = runs[k];
    if (!gpu().selected()[k]) {
      text += "left out\n";
    } else if (run == nullptr) {
      text += "has not begun\n";
    } else if (run->finished) {
      absl::StrAppend(&text, "cycles ", run->launch, " to ", run->end, "\n");
    } else {
      absl::StrAppend(&text, "since cycle ", run->launch, ": ", run->ctas_launched, " of ", run->ctas_total,
                      " CTAs launched, ", run->ctas_done, " done\n");
    }
  }
  if (wanted > kMaxLines) {
    absl::StrAppend(&text, "and ", wanted - kMaxLines, " more; 'kernels kernel N' shows one\n");
  }
  return text;
}

// The line of a warp in the list.
std::string Debugger::WarpLine(const WarpView& view, uint32_t sm) const {
  const std::string pc = view.has_next ? HexText(StaticOf(view.kernel, view.next.static_id).pc, 4) : "-";
  const bool fixed = view.until != kNever && view.until > gpu().now();
  std::string text = absl::StrFormat("%4d %4d %6d  %-16s %4d %8d  %-6s  %-10s  %-19s %10s ", sm, view.slot,
                                     KernelOf(view.kernel) + 1, DimText(view.cta), view.warp, view.issued, pc,
                                     view.has_next ? HexText(view.next.mask, 8) : "-",
                                     std::string(Name(view.state)), fixed ? absl::StrCat(view.until) : "-");
  for (const WarpView::Counter& counter : view.counters) absl::StrAppend(&text, " ", counter.value);
  return text + "\n";
}

Debugger::Text Debugger::Warps(Words words) {
  std::optional<WarpState> state;
  if (words.TakeIf("state")) {
    ASSIGN_OR_RETURN(const std::string name, words.TakeFor("state", "a warp state, as barrier"));
    ASSIGN_OR_RETURN(state, ParseState(name));
  }
  ASSIGN_OR_RETURN(const Place place, TakePlace(&words));
  RETURN_IF_ERROR(words.Finish("warps"));
  RETURN_IF_ERROR(CheckPlace(place));
  std::string text =
      absl::StrFormat("%4s %4s %6s  %-16s %4s %8s  %-6s  %-10s  %-19s %10s  %s\n", "SM", "slot", "kernel",
                      "CTA", "warp", "issued", "next", "lanes", "state", "until", "SB0-SB5");
  uint32_t lines = 0;
  std::array<uint64_t, kNumWarpStates> states{};
  for (uint32_t sm = 0; sm < gpu().num_sms(); ++sm) {
    for (uint32_t slot = 0; slot < gpu().sm(sm).num_slots(); ++slot) {
      const auto view = gpu().sm(sm).View(slot, gpu().now());
      if (!view || !place.HoldsWarp(KernelOf(view->kernel), view->cta, view->warp, sm)) continue;
      if (place.of_instruction() &&
          !(view->has_next && place.Is(StaticOf(view->kernel, view->next.static_id)))) {
        continue;
      }
      if (state.value_or(view->state) != view->state) continue;
      ++states[static_cast<size_t>(view->state)];
      if (++lines <= kMaxLines) text += WarpLine(*view, sm);
    }
  }
  if (lines == 0) return "no such warp is resident\n";
  if (lines > kMaxLines) absl::StrAppend(&text, "and ", lines - kMaxLines, " more\n");
  return absl::StrCat(text, StatesText(states), "\n");
}

std::string Debugger::DetailsText(const WarpView& view, const WarpId& id) {
  const auto lanes = [](LaneMask mask) {
    return absl::StrCat(HexText(mask, 8), " (", __builtin_popcount(mask), ")");
  };
  std::string text =
      absl::StrCat(WarpText(id), ": SM ", id.sm, " sub-core ", view.sub_core, " slot ", id.slot, ", cycle ",
                   gpu().now(), "\n  issued    ", Counted(view.issued, "instruction"));
  if (view.issued_at != kNever) absl::StrAppend(&text, ", the last one in cycle ", view.issued_at);
  text += "\n";
  if (view.has_next) {
    absl::StrAppend(&text, "  next      ", CodeText(id.run, view.next.static_id), "\n  control   ",
                    ControlText(view.code->bits), "\n");
  }
  absl::StrAppend(&text, "  lanes     ", view.has_next ? lanes(view.next.mask) : "-", ", all so far ",
                  lanes(view.resident_lanes), "\n");
  absl::StrAppend(&text, "  state     ", StateText(view), ": ", WhyText(view, gpu().now()), "\n");
  absl::StrAppend(&text, "  counters  ", CountersText(view), "\n");
  absl::StrAppend(&text, "  under way ", Counted(view.loads, "load"), ", ", Counted(view.stores, "store"),
                  ", ", Counted(view.events, "event"), "\n  queue     ", view.memory_queued, " of ",
                  view.memory_queue_size, " places of its sub-core's memory queue taken\n");
  return text;
}

Debugger::Text Debugger::ShowWarp(Words words) {
  if (!words.empty()) {
    ASSIGN_OR_RETURN(const Place place, TakePlace(&words));
    RETURN_IF_ERROR(words.Finish("warp"));
    RETURN_IF_ERROR(CheckPlace(place));
    if (place.of_instruction()) return Mistake("warp", place.Text(), "kernel, cta, warp and sm only");
    ASSIGN_OR_RETURN(selected_, FindWarp(place));
  }
  ASSIGN_OR_RETURN(const WarpView view, ViewOfSelected());
  return DetailsText(view, *selected_);
}

absl::StatusOr<Debugger::Looked> Debugger::LookAt(Words* words, std::string_view command) const {
  const bool next = words->TakeIf("next");
  RETURN_IF_ERROR(words->Finish(command));
  ASSIGN_OR_RETURN(const WarpId id, Selected());
  const KernelRun& run = *gpu().runs()[id.run];
  if (run.finished) return absl::FailedPreconditionError("the selected warp's kernel has ended");
  Looked looked;
  if (next) {
    ASSIGN_OR_RETURN(const WarpView view, ViewOfSelected());
    if (view.has_next) looked.inst = view.next;
  } else {
    // The slot may have another warp by now, and the warp have issued something without addresses since.
    const KeptIssue* const kept = finder_.LastIssue(id.sm, id.slot);
    const auto view = ViewOfSelected();
    const bool same = kept != nullptr && kept->id == id && (!view.ok() || kept->number + 1 == view->issued);
    if (same) {
      looked.kept = kept;
      looked.inst = kept->Access();
    }
  }
  if (looked.inst.shape == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("the ", next ? "next" : "last issued",
                                                      " instruction of ", WarpText(id), " has no addresses",
                                                      next ? "" : "; 'next' shows that of the next one"));
  }
  looked.kernel_code = &run.code;
  looked.code = &run.code.insts[looked.inst.static_id];
  return looked;
}

std::string Debugger::LookedText(const Looked& looked) {
  if (looked.kept != nullptr) return absl::StrCat(IssueText(*looked.kept), "\n");
  return absl::StrCat("next: ", CodeText(selected_->run, looked.inst.static_id), "\n");
}

Debugger::Text Debugger::Access(Words words) {
  ASSIGN_OR_RETURN(const Looked looked, LookAt(&words, "access"));
  std::string text = LookedText(looked);
  for (const LaneAddress& at : LaneAddresses(*looked.code, looked.inst, *looked.kernel_code)) {
    absl::StrAppendFormat(&text, "  lane %2d  %-6s  0x%x\n", at.lane, std::string(Name(at.space)),
                          AddressIn(at.space, *looked.kernel_code, at.address));
  }
  CoalescedAccess access;
  Coalesce(*looked.code, looked.inst, *looked.kernel_code, {}, nullptr, &access);
  absl::StrAppend(&text, "  ", Counted(access.num_lines + access.num_local_lines, "line"), ", ",
                  Counted(NumSectors(access), "sector"), ", ", PassesText(access.shared_passes),
                  " over shared memory\n");
  return text;
}

Debugger::Text Debugger::Banks(Words words) {
  ASSIGN_OR_RETURN(const Looked looked, LookAt(&words, "banks"));
  const std::vector<BankWord> hits = SharedBankWords(*looked.code, looked.inst, *looked.kernel_code);
  if (hits.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no lane of ", CodeText(selected_->run, looked.inst.static_id), " is in shared memory"));
  }
  std::map<uint32_t, std::map<uint32_t, std::vector<BankWord>>> passes;  // pass -> bank -> lanes of one word
  for (const BankWord& hit : hits) passes[hit.pass][hit.bank].push_back(hit);
  std::string text = absl::StrCat(LookedText(looked), "  ", PassesText(passes.size()), "\n  bank  ");
  for (uint32_t bank = 0; bank < kSharedBanks; ++bank) absl::StrAppendFormat(&text, " %3d", bank);
  std::string joined;
  for (const auto& [pass, banks] : passes) {
    absl::StrAppendFormat(&text, "\n  pass %-2d", pass);
    for (uint32_t bank = 0; bank < kSharedBanks; ++bank) {
      const auto at = banks.find(bank);
      if (at == banks.end()) {
        text += "   .";
      } else {
        absl::StrAppendFormat(&text, at->second.size() > 1 ? "%3d+" : " %3d", at->second.front().lane);
      }
    }
    joined += JoinedText(pass, banks);
  }
  return absl::StrCat(text, "\n", joined);
}

// Which cycle crossbar, L2 and DRAM are shown at.
std::string Debugger::MemoryCycleText() const {
  std::string text = absl::StrCat("cycle ", gpu().now(), "; memory side as of cycle ", gpu().memory_as_of());
  if (gpu().memory_has_until() < gpu().now()) {
    absl::StrAppend(&text, ": what SMs sent since cycle ", gpu().memory_has_until(),
                    " is not handed over yet");
  }
  return text + "\n";
}

Debugger::Text Debugger::Queues(Words words) {
  const bool memory = words.TakeIf("memory");
  ASSIGN_OR_RETURN(const Place place, TakePlace(&words));
  RETURN_IF_ERROR(words.Finish("queues"));
  if (memory) return absl::StrCat(MemoryCycleText(), gpu().memory().DescribeQueues());
  RETURN_IF_ERROR(CheckPlace(place));
  std::optional<uint32_t> sm = place.sm;
  if (!sm && selected_) sm = selected_->sm;
  std::string text = absl::StrCat("cycle ", gpu().now(), "\n");
  const auto name_run = [&](uint32_t run) { return absl::StrCat("kernel ", KernelOf(run) + uint64_t{1}); };
  for (uint32_t i = 0; i < gpu().num_sms(); ++i) {
    if (sm.value_or(i) == i && (sm || !gpu().sm(i).idle())) text += gpu().sm(i).DescribeQueues(name_run);
  }
  return text;
}

Debugger::Text Debugger::List(Words words) {
  uint64_t count = kListed;
  if (!words.empty()) {
    ASSIGN_OR_RETURN(count, words.TakeNumber("list", 1, kMaxListed));
  }
  RETURN_IF_ERROR(words.Finish("list"));
  ASSIGN_OR_RETURN(const WarpView view, ViewOfSelected());
  const std::span<const StaticInst> code = gpu().trace().StaticTable(KernelOf(view.kernel));
  const KeptIssue* const last = finder_.LastIssue(selected_->sm, selected_->slot);
  const bool issued = last != nullptr && view.issued == last->number + 1;
  const uint64_t here = view.has_next ? view.next.static_id : issued ? last->inst.static_id : 0;
  const uint64_t first = here - std::min(here, count / 2);
  std::string text;
  for (uint64_t i = first; i < std::min<uint64_t>(first + count, code.size()); ++i) {
    const char mark = view.has_next && i == here ? '>' : issued && i == last->inst.static_id ? '*' : ' ';
    absl::StrAppendFormat(&text, "%c %s", mark, CodeText(view.kernel, static_cast<uint32_t>(i)));
    if (code[i].source_line != 0) absl::StrAppend(&text, "  ; line ", code[i].source_line);
    text += "\n";
  }
  return text;
}

Debugger::Text Debugger::Buffers(Words words) {
  ASSIGN_OR_RETURN(std::optional<uint32_t> only, TakeKernel(&words, "buffers"));
  if (simulator_->emulation() == nullptr) {
    return absl::FailedPreconditionError("a trace does not name its buffers");
  }
  if (!only && selected_) only = KernelOf(selected_->run);
  const LoadedProgram& program = simulator_->emulation()->program();
  std::string text;
  uint64_t lines = 0;
  for (uint32_t k = 0; k < program.launches.size(); ++k) {
    if (only ? *only != k : !gpu().selected()[k]) continue;
    const auto& buffers = program.launches[k].buffers;
    const uint64_t room = kMaxLines - std::min<uint64_t>(lines, kMaxLines);
    lines += buffers.size();
    if (room == 0) continue;
    const launch::AddressPlan plan = launch::PlanAddresses(program.launches[k]);
    for (size_t i = 0; i < std::min<uint64_t>(buffers.size(), room); ++i) {
      absl::StrAppend(&text, "kernel ", k + 1, "  ", Printable(buffers[i].name), "  ",
                      HexText(plan.buffers[i].address), "  ", Counted(plan.buffers[i].size_bytes, "byte"),
                      "\n");
    }
  }
  if (lines > kMaxLines) {
    absl::StrAppend(&text, "and ", lines - kMaxLines, " more; 'buffers kernel N' shows those of one\n");
  }
  return text.empty() ? "no buffers\n" : text;
}

Debugger::Text Debugger::Report(Words words) {
  RETURN_IF_ERROR(words.Finish("report"));
  return absl::StrCat(MemoryCycleText(), ReportToTable(simulator_->Report()));
}

std::string Debugger::Greeting() const {
  const TraceSetInfo& info = gpu().trace().info();
  return absl::StrCat(
      Printable(info.name), ": ", Counted(info.kernels.size(), "kernel"), ", ",
      simulator_->emulation() != nullptr ? "executed while it is simulated" : "a trace, without values",
      ". 'help' lists the commands.\n");
}

}  // namespace sm89::debug
