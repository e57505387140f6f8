// The state of a running launch: warps with their splits and convergence barriers, CTAs, memory, findings.
//
// Control flow. A warp is a list of splits: groups of lanes that share a program counter. The last split of
// the list runs; when it waits or ends, the last ready one below it does. A divergent branch keeps the lanes
// that fall through running and puts those that jump right below them (so the fall-through path runs first:
// our choice, the architecture leaves the order open). Splits join only at BSYNC and WARPSYNC, never by
// chance. YIELD, NANOSLEEP and long runs move the running split below all others, so that lanes that spin
// cannot keep the rest of their warp from running.
//
// A convergence barrier is kept a lane: armed[b][lane] is the set of lanes that `lane` will wait for at
// BSYNC b. Groups that use one register for different regions do not disturb each other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/types.h"
#include "sim/emu/emulator.h"
#include "sim/emu/exec.h"
#include "sim/emu/memory_space.h"
#include "sim/emu/program.h"

namespace sm89::emu {

inline constexpr uint32_t kConvergenceBarriers = 16;
inline constexpr uint32_t kNamedBarriers = 16;  // PTX ISA: barriers 0 to 15 of a CTA
inline constexpr uint32_t kMaxWarpsPerCta = 32;

// Generic windows. Assumption: hardware places them below the buffers of a process; 4 GiB apart so that the
// high words of the addresses tell them apart, 16 MiB long (24-bit offsets, as compiled code masks them).
inline constexpr uint64_t kSharedWindowBase = 0x7e0000000000;
inline constexpr uint64_t kLocalWindowBase = 0x7e0100000000;
inline constexpr uint64_t kBank0WindowBase = 0x7e0200000000;  // parameters, read through generic loads
inline constexpr uint64_t kBank3WindowBase = 0x7e0300000000;  // __constant__ variables, likewise
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 24;
// Module globals lie here, the cooperative grid's workspace after them.
inline constexpr uint64_t kModuleGlobalsBase = 0x7e8000000000;
inline constexpr uint64_t kGridWorkspaceBase = 0x7ef000000000;

enum class SplitState : uint8_t { kReady, kBsync, kWarpsync, kCtaBarrier };

struct Split {
  uint32_t pc = 0;  // the next instruction to execute
  LaneMask mask = 0;
  SplitState state = SplitState::kReady;
  uint8_t barrier = 0;  // kBsync, kCtaBarrier: which
  LaneMask wait = 0;    // kWarpsync: lanes named
};

struct Warp {
  WarpRegs regs;
  uint32_t index = 0;     // in its CTA
  LaneMask existing = 0;  // lanes with a thread
  LaneMask live = 0;      // not exited
  uint32_t num_splits = 0;
  uint32_t run = 0;         // warp instructions since the running split last gave way
  uint32_t yields = 0;      // YIELDs since lanes were last let out of a convergence barrier
  uint16_t used_armed = 0;  // barriers that were ever armed
  std::array<Split, kWarpSize> splits{};
  std::array<std::array<LaneMask, kWarpSize>, kConvergenceBarriers> armed{};
  uint32_t reduced_count = 0;  // result of the last BAR.RED
  bool reduced_flag = false;
};

struct NamedBarrier {
  bool in_use = false;
  uint32_t expected_threads = 0;  // 0 = all live threads of the CTA
  std::array<LaneMask, kMaxWarpsPerCta> arrived{};
  uint32_t count = 0;  // BAR.RED: predicates that were true
  bool all = true, any = false;
};

// Shared or local memory with a note of what has been written (empty when not checked).
struct CheckedBytes {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> written;
};

struct Cta {
  uint64_t index = 0;
  Dim3 id;
  uint32_t live_warps = 0;
  uint64_t executed = 0;  // warp instructions
  std::vector<Warp> warps;
  std::vector<Row> rows;  // registers of all warps
  CheckedBytes shared;
  CheckedBytes local;  // thread by thread
  std::array<NamedBarrier, kNamedBarriers> barriers{};
};

struct Machine {
  const Program* program = nullptr;
  const launch::LaunchSpec* launch = nullptr;
  const EmuOptions* options = nullptr;
  GlobalMemory memory;
  uint32_t local_bytes = 0;   // a thread
  uint32_t shared_first = 0;  // offset of a CTA's first own byte: sm_90 keeps those before for the system
  uint32_t shared_bytes = 0;  // a CTA, with those
  uint32_t num_warps = 0;     // a CTA
  std::vector<std::array<Row, 3>> thread_ids;  // by warp: x, y, z

  Exec exec;
  Cta* cta = nullptr;
  Warp* warp = nullptr;

  TraceSink* sink = nullptr;
  uint32_t num_addresses = 0;
  std::array<uint64_t, kWarpSize> addresses{};

  std::vector<PcCount> counts;
  std::vector<Allocation*> hints;  // by instruction: the allocation it met last
  uint64_t executed = 0;           // warp instructions, up to the last turn
  uint32_t turn_executed = 0;      // in this turn
  bool failed = false;             // a finding that ends the run
  std::string failure;

  std::vector<Finding> findings;
  uint64_t num_findings = 0;

  Split& split() { return warp->splits[warp->num_splits - 1]; }
  uint64_t now() const { return executed + turn_executed; }
};

// --- converge.cc: splits and convergence barriers. All act on the running split. ---

// Lanes `taken` go to `target`, the rest of the running split to the next instruction.
void Branch(Exec& x, LaneMask taken, uint32_t target);
void ArmBarrier(Exec& x, uint32_t barrier, LaneMask lanes);
void WaitBarrier(Exec& x, uint32_t barrier, LaneMask lanes);
void BreakBarrier(Exec& x, uint32_t barrier, LaneMask lanes);
void WarpSync(Exec& x, LaneMask lanes, LaneMask named);
void ExitLanes(Exec& x, LaneMask lanes);
// Moves the running split below all others.
void GiveWay(Exec& x);
// A YIELD was executed: lanes that wait for spinning ones get out of their convergence barrier in the end.
void NoteYield(Exec& x);
// Puts `lanes` of the running split to wait in `state`; they go on at the next instruction.
void PutToWait(Exec& x, LaneMask lanes, SplitState state, uint8_t barrier, LaneMask wait);
// Makes the last ready split the running one. False: none is ready.
bool ChooseSplit(Warp& warp);

// --- cta_barrier.cc ---

enum class BarKind : uint8_t { kSync, kArrive, kReduce };
struct BarArrival {
  BarKind kind = BarKind::kSync;
  uint32_t barrier = 0;
  uint32_t expected_threads = 0;
  LaneMask lanes = 0;
  LaneMask predicate = 0;   // kReduce
  bool reduce_all = false;  // kReduce: B2R's flag is AND, else OR
};
void ArriveAtBarrier(Exec& x, const BarArrival& arrival);
// Threads that barrier `b` of a CTA counts as arrived, and those that it waits for.
uint32_t ArrivedThreads(const Cta& cta, const NamedBarrier& b);
uint32_t ExpectedThreads(const Cta& cta, const NamedBarrier& b);
// Releases barriers that only lacked threads that have exited.
void CheckBarriers(Machine& m);

// --- finding.cc ---

struct FindingPlace {
  FindingKind kind = FindingKind::kOutOfBounds;
  const char* space = "";
  uint32_t lane = 0;
  uint64_t address = 0;
  uint32_t size_bytes = 0;
  std::string detail;  // replaces the usual sentence's end
};
// Notes a finding at the running instruction; kinds that end the run set Machine::failed and stop the split.
void Report(Exec& x, const FindingPlace& place);
// "thread (1,0,0) of CTA (3,0,0)".
Dim3 ThreadId(const Machine& m, uint32_t warp, uint32_t lane);

}  // namespace sm89::emu
