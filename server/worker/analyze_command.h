// `sm89-worker analyze`: one static analysis of machine code, for the daemon, in a process of its own.
//
//   --output FILE --result FILE --kind KIND [--format text|json|svg] [--image FILE] [--module M] [--function
//   F]
//   [--arch N] [--ptx FILE] [--ptxas PATH] [--threads N] [--dynamic-shared-bytes N] [--shape S] [--type T]
//
// Without --arch: a program package's own architecture, else 89.
//
// Exit codes: 0 the output is the answer, 1 it is not (the result file says why, as StatusToJson writes it),
// 2 wrong usage or the files cannot be written, 4 out of memory. The process ends when its parent does.
#pragma once

namespace sm89 {

// `argv[0]` is the program, `argv[1]` "analyze".
int RunAnalyzeCommand(int argc, char** argv);

}  // namespace sm89
