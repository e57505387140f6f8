// Where a debugger stops: breakpoints and watches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/base/types.h"
#include "sim/debug/words.h"
#include "sim/isa/decoded_inst.h"
#include "sim/sm/coalescer.h"
#include "sim/sm/warp_view.h"
#include "sim/trace/trace_types.h"

namespace sm89::debug {

// An issued instruction with what the trace says of it.
struct Issue {
  const IssuedInst& what;
  uint32_t kernel = 0;  // place in the trace, from 0
  const StaticInst& inst;
  bool first_of_run = false;  // nothing of the kernel's run issued before
  bool first_of_cta = false;  // nothing of the CTA
};

// Which warps and instructions are meant: all conditions that are there hold.
struct Place {
  std::optional<uint32_t> kernel;  // place in the trace, from 0
  std::optional<Dim3> cta;
  std::optional<uint32_t> warp;  // in its CTA
  std::optional<uint32_t> sm;
  std::optional<uint32_t> pc;
  std::optional<uint32_t> line;  // of the source
  std::string op;                // an opcode without some of its last modifiers: "LDG", "LDG.E"

  bool of_instruction() const { return pc.has_value() || line.has_value() || !op.empty(); }
  bool empty() const { return !kernel && !cta && !warp && !sm && !of_instruction(); }
  bool HoldsWarp(uint32_t in_kernel, const Dim3& in_cta, uint32_t in_warp, uint32_t on_sm) const;
  bool Is(const StaticInst& inst) const;
  bool Holds(const Issue& issue) const;
  std::string Text() const;
};
// Takes "kernel N", "cta X,Y,Z", "warp W", "sm S", "pc P", "op NAME", "line N" as far as they go.
absl::StatusOr<Place> TakePlace(Words* words);

struct MemoryWatch {
  LaneSpace space = LaneSpace::kGlobal;
  uint64_t address = 0;  // in shared and local memory: from its begin
  uint64_t bytes = 1;
  bool reads = true, writes = true;

  // Lanes of the access that touch it; 0: none.
  LaneMask Touches(const Issue& issue) const;
  std::string Text() const;
};

struct RegisterWatch {
  RegFile file = RegFile::kGeneral;
  uint32_t index = 0;
  uint32_t kernel = 0;  // place in the trace, from 0
  Dim3 cta;
  uint32_t warp = 0;
  std::optional<uint32_t> lane;
  std::vector<uint64_t> changes;  // numbers of the warp's instructions that change it

  Place Where() const;
  bool Holds(const Issue& issue) const;
  std::string Text() const;
  uint64_t Bytes() const { return changes.capacity() * sizeof(uint64_t); }  // of `changes`
};

struct Stop {
  uint32_t number = 0;  // as people name it
  bool temporary = false;
  // One of these, and with memory a place; none: a breakpoint at `place`.
  std::optional<Cycle> cycle;
  std::optional<MemoryWatch> memory;
  std::optional<RegisterWatch> reg;
  Place place;
  uint64_t hits = 0;

  bool is_watch() const { return memory.has_value() || reg.has_value(); }
  // Whether the simulation stops behind this instruction. A place without instruction: at the first one of
  // each warp, CTA or kernel that it is about. Memory watches are not asked here.
  bool Hits(const Issue& issue) const;
  std::string Name() const;  // "breakpoint 1", "watch 2"
  std::string What() const;  // "op LDS kernel 1", "R4 of CTA (0,0,0) warp 1"
};

std::string_view Name(LaneSpace space);
absl::StatusOr<LaneSpace> ParseSpace(std::string_view text);

// An address as a person counts it: generic ones of shared and local memory from the window's begin.
uint64_t AddressIn(LaneSpace space, const KernelCode& kernel, uint64_t address);

}  // namespace sm89::debug
