// `sm89-worker ingest`: reads one upload into the compact format, for the daemon, in a process of its own.
//
//   --input FILE --output FILE --result FILE [--foreign-arch] [--allow-partial] [--unknown-as-nop]
//   [--ptxas PATH] [--max-unpacked-bytes N]
//
// A program package (sim/replay/program.h) is checked and stays a package; PTX in it is compiled with ptxas.
//
// The result file's shape and the exit codes are those of server/traces/ingest_runner.h: 0 the trace is good,
// 1 it is not (the result says why), 2 wrong usage or the result cannot be written, 4 out of memory. The
// process ends when its parent does.
#pragma once

namespace sm89 {

// `argv[0]` is the program, `argv[1]` "ingest".
int RunIngestCommand(int argc, char** argv);

}  // namespace sm89
