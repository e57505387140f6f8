// The command line of sm89-trace.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/api/simulator.h"
#include "sim/base/types.h"
#include "sim/ingest/ingest.h"

namespace sm89 {

// Which executed instructions a dump shows. Empty fields select everything.
struct DumpFilter {
  KernelSelection kernels;            // by position from 1
  std::optional<uint64_t> cta_index;  // place in the file, from 0
  std::optional<Dim3> cta_id;
  std::optional<uint32_t> warp;
  std::optional<uint32_t> pc;
  bool all_ctas = false;   // without cta_*: every thread block instead of the first one
  bool code_only = false;  // no executed instructions
  uint64_t limit = 0;      // executed instructions to show in all; 0 = no limit
};

struct TraceCommandOptions {
  bool dump = false;  // else info
  std::string input;
  bool json = false;
  IngestOptions ingest;
  DumpFilter filter;
};

struct ParsedTraceCommandLine {
  // Set when there is nothing to run: --help, --version (0) or a mistake (2). The text has been printed.
  std::optional<int> exit_code;
  TraceCommandOptions options;
};

// `args` without the program's name. Help goes to `out`, mistakes to `err`.
ParsedTraceCommandLine ParseTraceCommandLine(const std::vector<std::string>& args, std::ostream& out,
                                             std::ostream& err);

}  // namespace sm89
