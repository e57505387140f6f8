// The profile of a running job, drawn as its reports come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/progress.h"
#include "client/cli/terminal.h"
#include "sm89/v1/job.pb.h"

namespace sm89::client {

// A line that says which kernel, then a table: most waited for first. "waits %" is the share of the kernel's
// waiting warp-cycles so far.
std::vector<std::string> LiveProfileLines(const v1::LiveProfile& profile);

// On the error stream; on a terminal each drawing replaces the last one.
class LiveProfileView {
 public:
  explicit LiveProfileView(Terminal& terminal) : terminal_(terminal) {}

  // `line` stands below the table and is cleared.
  void Show(const v1::LiveProfile& profile, ProgressLine& line);
  // What is drawn stays: something was written below it.
  void Keep() { lines_drawn_ = 0; }

 private:
  Terminal& terminal_;
  size_t lines_drawn_ = 0;
};

}  // namespace sm89::client
