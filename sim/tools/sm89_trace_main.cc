// sm89-trace: shows what the simulator understands of a trace.
#include "sim/tools/run_program.h"
#include "sim/tools/trace_command.h"

int main(int argc, char** argv) { return sm89::ProgramMain("sm89-trace", sm89::TraceMain, argc, argv); }
