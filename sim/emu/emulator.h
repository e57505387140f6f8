// Runs one kernel launch on the CPU, instruction by instruction, thread by thread.
//
//   auto emulator = Emulator::Create(module, launch, {});
//   RETURN_IF_ERROR((*emulator)->RunAll(nullptr));
//   std::span<const uint8_t> c = (*emulator)->buffer(2);
//
// Results are functional and deterministic: the same module, launch and options give the same bytes, counts,
// records and findings. SEMANTICS.md says what each mnemonic does. Not thread-safe; one thread an Emulator.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/types.h"
#include "sim/cubin/module.h"
#include "sim/launch/launch.h"
#include "sim/sass/instruction.h"

namespace sm89::emu {

struct EmuOptions {
  // Warp instructions of the whole launch; more: RESOURCE_EXHAUSTED. 0 = no bound.
  uint64_t max_warp_instructions = 0;
  // The same of one CTA, for what has a bound in cycles. 0 = no bound.
  uint64_t max_cta_warp_instructions = 0;
  // Polled many times a CTA: true ends the run with CANCELLED. May be null.
  const std::atomic<bool>* cancel = nullptr;
  // Findings that are kept; the rest are only counted.
  uint32_t max_findings = 100;
  // Report reads of shared and local bytes that nobody wrote.
  bool check_uninitialised = true;
  // Prepare everything but the contents of generated buffers: to check a launch, or to look at its code, in
  // little memory. Such an emulator refuses to run.
  bool inspect_only = false;
  // Stack of a thread where the kernel says less (CUDA's default cudaLimitStackSize).
  uint32_t stack_bytes = 1024;
  // Cooperative launches: CTAs that fit on the GPU at once; a larger grid is refused. 0 = no bound but
  // `max_cooperative_ctas`.
  uint64_t resident_ctas = 0;
  uint64_t max_cooperative_ctas = 4096;  // each has its own registers and shared memory in this process
};

enum class FindingKind : uint8_t {
  kOutOfBounds,    // ends the run
  kMisaligned,     // ends the run
  kUninitialised,  // a warning: the value read is 0
  kTrap,           // BPT.TRAP, KILL: ends the run
};

// What the memory checker met, as a person would look for it.
struct Finding {
  FindingKind kind = FindingKind::kOutOfBounds;
  std::string kernel;
  uint32_t pc = 0;     // byte offset of the instruction
  std::string opcode;  // "LDG.E.128"
  std::string file;    // "" without line information
  uint32_t line = 0;   // 0 without line information
  Dim3 thread;
  Dim3 cta;
  std::string space;  // "global", "shared", "local", "code"
  uint64_t address = 0;
  uint32_t size_bytes = 0;
  std::string nearest;  // the allocation nearest to a global address, with the distance
  std::string message;  // one sentence with all of the above
};

// How often an instruction was executed: as warp instructions, as threads of their active masks, as threads
// with a true guard.
struct PcCount {
  uint64_t warps = 0;
  uint64_t threads = 0;
  uint64_t predicated_on = 0;
  friend bool operator==(const PcCount&, const PcCount&) = default;
};

// Receives every executed warp instruction in execution order. Warps of a CTA are interleaved.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Records that follow belong to CTA `cta`. In a cooperative launch a CTA may begin many times.
  virtual void BeginCta(uint64_t cta) = 0;
  // `executed`: active lanes with a true guard, maybe none. `addresses`: one a lane of `executed`, lowest
  // lane first, empty when the instruction has no memory operand: 64-bit addresses of global and generic
  // accesses, byte offsets in the CTA's shared window for shared ones, a thread's own byte offset for local
  // ones. LDGSTS: the global side.
  virtual void Record(uint32_t warp, uint32_t inst_index, LaneMask executed,
                      std::span<const uint64_t> addresses) = 0;
  // CTA `cta` has no more records.
  virtual void EndCta(uint64_t cta) = 0;
  // Asked many times a CTA: an error ends the run, which gives it back.
  virtual absl::Status status() const { return absl::OkStatus(); }
};

// One static instruction as the emulator numbers them: the kernel's first, then those of the functions that
// it needs from other sections.
struct CodeLine {
  uint32_t pc = 0;  // 16 * index
  const cubin::Function* function = nullptr;
  uint32_t function_offset = 0;  // bytes from `function`'s start
  std::string file;
  uint32_t line = 0;
};

// What a warp's registers hold between two of its instructions.
struct RegisterView {
  // Registers that hold something, without URZ and PT and UPT.
  static constexpr uint32_t kNumUniform = 63;
  static constexpr uint32_t kNumPredicates = 7;

  std::span<const uint32_t> general;         // 32 lanes of R0, then of R1 ...
  std::span<const uint32_t> uniform;         // UR0 to UR62
  std::span<const LaneMask> predicates;      // P0 to P6, a bit a lane
  std::span<const bool> uniform_predicates;  // UP0 to UP6
};

class Emulator {
 public:
  // `module` must outlive the emulator. INVALID_ARGUMENT: the launch does not fit the kernel. UNIMPLEMENTED:
  // lists every mnemonic without semantics with the places where it stands.
  static absl::StatusOr<std::unique_ptr<Emulator>> Create(const cubin::Module& module,
                                                          const launch::LaunchSpec& launch,
                                                          const EmuOptions& options);
  ~Emulator();

  uint64_t num_ctas() const;
  uint32_t warps_per_cta() const;

  // Runs CTA `index` (x fastest) from start to end. CTAs may be run in any order, each once, and see the
  // memory that those before left. Not for cooperative launches (FAILED_PRECONDITION).
  absl::Status RunCta(uint64_t index, TraceSink* sink);
  // All CTAs in order; those of a cooperative launch together.
  absl::Status RunAll(TraceSink* sink);

  // Bytes of LaunchSpec::buffers[index] as they are now, and where they lie.
  std::span<const uint8_t> buffer(size_t index) const;
  uint64_t buffer_address(size_t index) const;

  const cubin::Function& kernel() const;
  std::span<const sass::Instruction> instructions() const;
  CodeLine Where(uint32_t inst_index) const;
  std::span<const PcCount> counts() const;  // one an instruction
  uint64_t executed_warp_instructions() const;

  const std::vector<Finding>& findings() const;
  uint64_t num_findings() const;  // with those that were not kept

  // Of a warp of the CTA that runs: only while a TraceSink's Record does, whose instruction has taken effect.
  RegisterView registers(uint32_t warp) const;
  uint32_t num_registers() const;  // general ones, a thread

  uint64_t shared_window_base() const;  // generic address of shared offset 0
  uint64_t local_window_base() const;   // generic address of local offset 0
  uint64_t shared_bytes() const;        // of a CTA's window, static + dynamic (+ what sm_90 reserves)
  bool reads_clock() const;             // results may depend on time: SR_CLOCK*, SR_GLOBALTIMER*

 private:
  struct Impl;
  explicit Emulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sm89::emu
