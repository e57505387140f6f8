// The profile by instruction (artifact profile.json, "sm89-profile/1") as tables for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/terminal.h"

namespace sm89::client {

// Counters of one row, in the order of Profile::columns.
using ProfileCounts = std::vector<uint64_t>;

struct ProfileRow {
  uint64_t pc = 0;    // bytes from the kernel's start
  std::string text;   // SASS where it is known, else the opcode
  std::string place;  // "file.cu:12", "line 12"; empty = not known
  std::string ptx;    // empty = not known
  int64_t live = -1;  // general registers; -1 = not known
  ProfileCounts counts;
};

struct ProfileKernel {
  uint64_t index = 0;  // place in the trace, from 0
  std::string name;
  std::string case_id;  // of a program's launch; else empty
  uint64_t cycles = 0;
  std::string control_bits;
  ProfileCounts total;
  std::vector<ProfileRow> rows;   // by program counter
  std::vector<ProfileRow> lines;  // totals by source line: `place` and `counts` only
};

struct Profile {
  std::vector<std::string> columns;
  std::vector<ProfileKernel> kernels;
};

// DATA_LOSS when the text is no such profile: what is wrong with it, without the text's name.
absl::StatusOr<Profile> ParseProfile(const std::string& json);

struct ProfileViewOptions {
  bool program_order = false;     // else by warp-cycles that were waited, most first
  bool lines = false;             // source lines instead of instructions
  size_t top = 0;                 // rows a kernel; 0 = all
  std::vector<uint64_t> kernels;  // positions from 1; empty = all
};
// INVALID_ARGUMENT when a kernel that is asked for is not in the profile, or lines are and none are known.
absl::Status PrintProfile(const Profile& profile, const ProfileViewOptions& options, Terminal& terminal);

}  // namespace sm89::client
