// One changing line: redrawn in place on a terminal, printed now and then elsewhere.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "client/cli/terminal.h"

namespace sm89::client {

class ProgressLine {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  // `quiet`: shows nothing at all.
  ProgressLine(Terminal& terminal, bool quiet, Clock clock = std::chrono::steady_clock::now);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `fraction` 0..1 draws a bar; negative: no bar. On a terminal at most 10 times a second, elsewhere one
  // line every 5 s.
  void Update(const std::string& text, double fraction);

  // A line that stays.
  void Note(const std::string& text);

  // Removes the changing line.
  void Clear();

 private:
  Terminal& terminal_;
  bool quiet_;
  bool in_place_;
  Clock clock_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_;
};

// "[#####.....]" of `columns` characters in all.
std::string Bar(double fraction, size_t columns);

}  // namespace sm89::client
