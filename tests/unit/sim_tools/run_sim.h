// sm89-sim called in the test's own process.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "sim/tools/sim_command.h"

namespace sm89::testing {

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline Outcome Sim(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  Outcome outcome;
  outcome.code = SimMain(args, {.out = out, .err = err});
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

}  // namespace sm89::testing
