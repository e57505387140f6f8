#include "sim/debug/warp_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/counted.h"
#include "sim/base/strings.h"
#include "sim/stats/pc_profile.h"

namespace sm89::debug {
namespace {

std::string MaskText(uint8_t mask) {
  std::string text;
  for (uint32_t c = 0; c < kNumDependenceCounters; ++c) {
    if ((mask >> c & 1) != 0) absl::StrAppend(&text, text.empty() ? "" : " ", "SB", c);
  }
  return text.empty() ? "-" : text;
}

// The counters that the next instruction waits for, or has no room in.
std::string ScoreboardText(const WarpView& view) {
  const SmInst& code = *view.code;
  uint8_t waits = code.bits.wait_mask | code.depbar_mask;
  std::string text;
  const auto add = [&](uint32_t counter, const std::string& what) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "SB", counter, " is ", view.counters[counter].value,
                    what);
  };
  if (code.control == ControlOp::kDepbar && code.depbar_counter < kNumDependenceCounters) {
    const auto allowed = static_cast<uint64_t>(std::max<int64_t>(code.immediate, 0));
    if (view.counters[code.depbar_counter].value > allowed) {
      add(code.depbar_counter, absl::StrCat(", at most ", allowed, " wanted"));
    }
    waits &= static_cast<uint8_t>(~(1u << code.depbar_counter));
  }
  for (uint32_t c = 0; c < kNumDependenceCounters; ++c) {
    if ((waits >> c & 1) != 0 && view.counters[c].value != 0) add(c, ", 0 wanted");
  }
  return text.empty() ? "for room in a dependence counter or for async copies" : text;
}

std::string UntilText(const WarpView& view) { return absl::StrCat("until cycle ", view.until); }

}  // namespace

std::string StateText(const WarpView& view) {
  const bool port_or_pipe = view.state == WarpState::kDispatch ||
                            view.state == WarpState::kMathPipeThrottle ||
                            view.state == WarpState::kMioThrottle || view.state == WarpState::kLgThrottle ||
                            view.state == WarpState::kTexThrottle;
  // A memory instruction that was refused waits for an event: its end is not known.
  const bool ready = view.state == WarpState::kNotSelected || (port_or_pipe && view.until != kNever);
  return absl::StrCat(Av(Name(view.state)), ready ? ", ready" : "", " since cycle ", view.since);
}

std::string WhyText(const WarpView& view, Cycle now) {
  const bool fixed = view.until != kNever && now < view.until;
  if (view.at_barrier && !fixed) {
    return absl::StrCat("barrier ", view.barrier, " has ", view.barrier_arrived, " of ",
                        view.barrier_expected, " warps");
  }
  if (!view.has_next) {
    return absl::StrCat("no more instructions; ", Counted(view.loads, "load"), ", ",
                        Counted(view.stores, "store"), " and ", Counted(view.events, "event"), " under way");
  }
  switch (view.state) {
    case WarpState::kDispatch:
      return absl::StrCat("the sub-core's issue port is taken ", UntilText(view));
    case WarpState::kMathPipeThrottle:
      return absl::StrCat("its execution pipe takes nothing ", UntilText(view));
    case WarpState::kNotSelected:
      if (view.refused_ahead != 0) {
        return absl::StrCat("stands behind ", Counted(view.refused_ahead, "warp"), " that the ",
                            view.code->path == IssuePath::kMemory ? "memory queue" : "special function unit",
                            " refused earlier");
      }
      return "can issue in this cycle, if the scheduler picks it";
    case WarpState::kMioThrottle:
    case WarpState::kLgThrottle:
    case WarpState::kTexThrottle:
      if (fixed) return absl::StrCat("the sub-core's memory queue takes nothing ", UntilText(view));
      return "no miss entry or write buffer is free (see 'queues')";
    case WarpState::kMembar:
      if (!fixed) return absl::StrCat("until its ", Counted(view.stores, "store"), " are acknowledged");
      break;
    case WarpState::kLongScoreboard:
    case WarpState::kShortScoreboard:
      if (!fixed) return ScoreboardText(view);
      break;
    default:
      break;
  }
  return fixed ? UntilText(view) : "until an event";
}

std::string ControlText(const ControlBits& bits) {
  std::string text = absl::StrCat("stall ", bits.stall_cycles, bits.yield ? " yield" : "");
  const auto counter = [&](const char* what, uint8_t number) {
    if (number < kNumDependenceCounters) absl::StrAppend(&text, ", ", what, " SB", number);
  };
  counter("result raises", bits.write_counter);
  counter("reading raises", bits.read_counter);
  if (bits.wait_mask != 0) absl::StrAppend(&text, ", waits for ", MaskText(bits.wait_mask));
  return text;
}

std::string CountersText(const WarpView& view) {
  std::string text;
  for (uint32_t c = 0; c < kNumDependenceCounters; ++c) {
    absl::StrAppend(&text, c == 0 ? "" : "  ", "SB", c, " ", view.counters[c].value);
    if (view.counters[c].value != 0) absl::StrAppend(&text, " (", Av(Name(view.counters[c].reason)), ")");
  }
  return text;
}

}  // namespace sm89::debug
