// What a trace is once it has been read: plain values shared by the text readers (sim/ingest), the
// compact format (this folder), the decoder (sim/isa) and the tools. No timing here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/types.h"

namespace sm89 {

enum class RegFile : uint8_t { kGeneral, kUniform, kPredicate, kUniformPredicate };

// A register operand as the trace names it. 255 in kGeneral is RZ, 63 in kUniform URZ, 7 in the
// predicate files PT: reads give a constant, writes vanish.
struct RegRef {
  RegFile file = RegFile::kGeneral;
  uint8_t index = 0;

  friend bool operator==(const RegRef&, const RegRef&) = default;
};

inline constexpr int kMaxDests = 2;
inline constexpr int kMaxSources = 5;

// One static instruction of a kernel. Instructions at one PC that differ in any field (an immediate that
// the tracer shows with another value, say) are separate entries; entries are sorted by (pc, order met).
struct StaticInst {
  uint32_t pc = 0;     // bytes from the kernel's start
  std::string opcode;  // as in the trace, with its modifiers: "LDG.E.128"
  uint8_t num_dests = 0;
  uint8_t num_sources = 0;
  std::array<RegRef, kMaxDests> dests{};
  std::array<RegRef, kMaxSources> sources{};
  uint8_t declared_width_bytes = 0;  // the trace's own mem_width column; 0 = no memory operand
  bool has_immediate = false;
  int64_t immediate = 0;
  int64_t immediate2 = 0;     // tracer 6 only
  uint32_t source_line = 0;   // 0 = unknown
  bool has_encoding = false;  // true when `encoding` holds the machine code (cubin-made traces)
  std::array<uint8_t, 16> encoding{};

  friend bool operator==(const StaticInst&, const StaticInst&) = default;
};

// What a kernel's instructions were taken from. A compact file tells it by its marks (kEmulatedMark).
enum class KernelOrigin : uint8_t { kTrace, kCubin };

// Where the header's launch parameters and the run's marks live.
struct KernelInfo {
  std::string name;  // bytes as in the trace; may be any bytes but NUL and newline
  std::string file;  // plain name of the file it came from
  uint64_t id = 0;
  Dim3 grid;                    // CTAs
  Dim3 block;                   // threads
  uint32_t shmem_bytes = 0;     // static + dynamic, a CTA
  uint32_t nregs = 0;           // registers a thread
  uint32_t binary_version = 0;  // 89 = SM89; others only with foreign-arch
  uint64_t stream_id = 0;
  uint64_t shmem_base = 0;  // generic window of shared memory; 0 = none given
  uint64_t local_base = 0;  // generic window of local memory; 0 = none given
  std::string nvbit_version;
  std::string tracer_version;  // "1.2", "3".."6", "" = none given
  bool has_lineinfo = false;
  KernelOrigin origin = KernelOrigin::kTrace;

  // Filled while reading. Instruction counts of a kernel that is executed while it is simulated
  // (TraceSource::live) stay 0: nobody knows them before.
  uint64_t num_ctas = 0;                 // CTAs present in the trace
  uint64_t grid_ctas = 0;                // CTAs that the grid asks for
  uint64_t warp_instructions = 0;        // masked-off ones included
  uint64_t thread_instructions = 0;      // active lanes only
  uint64_t masked_off_instructions = 0;  // warp instructions with an empty mask
  uint64_t empty_warps = 0;              // present with insts = 0
  uint64_t absent_warps = 0;             // without a section
  uint64_t warps_past_exit = 0;          // lanes ran on after an EXIT that covered all of them
  uint64_t zero_address_accesses = 0;    // global accesses with an active lane at address 0
  bool complete = true;                  // false: a partial trace run on request

  friend bool operator==(const KernelInfo&, const KernelInfo&) = default;
};

enum class CommandKind : uint8_t { kMemcpyHtoD, kMemcpyDtoH, kKernel, kIgnored };

// One line of a kernels list, in order.
struct TraceCommand {
  CommandKind kind = CommandKind::kIgnored;
  uint64_t address = 0;  // copies
  uint64_t bytes = 0;    // copies
  uint32_t kernel = 0;   // kKernel: index into TraceSetInfo::kernels
  uint32_t line = 0;     // of the list file
  std::string text;      // kIgnored: the line as written, its first 120 bytes

  friend bool operator==(const TraceCommand&, const TraceCommand&) = default;
};

// Kind of the mark of a set whose kernels an emulator executed from their machine code.
inline constexpr const char* kEmulatedMark = "emulated";

// A guess or a concession that the user asked for, or how the instructions came about; shown in every result
// made from the trace.
struct TraceMark {
  std::string kind;    // "foreign_arch", "allow_partial", "unknown_as_nop", "emulated"
  std::string detail;  // one sentence with counts
  uint64_t count = 0;

  friend bool operator==(const TraceMark&, const TraceMark&) = default;
};

struct TraceWarning {
  std::string kind;     // snake_case, a bounded set, e.g. "lanes_after_exit"
  std::string message;  // one sentence with file, line, counts

  friend bool operator==(const TraceWarning&, const TraceWarning&) = default;
};

struct TraceSetInfo {
  std::string name;  // of the upload or folder
  std::vector<TraceCommand> commands;
  std::vector<KernelInfo> kernels;  // in the order of their commands
  std::vector<TraceMark> marks;
  std::vector<TraceWarning> warnings;
};

// Addresses of one executed memory instruction, one for each lane of `mask`, lowest lane first.
// LDGSTS records may carry the shared-memory side in `shared_addresses` (empty when not in the trace).
struct MemAccess {
  std::vector<uint64_t> addresses;
  std::vector<uint64_t> shared_addresses;
};

}  // namespace sm89
