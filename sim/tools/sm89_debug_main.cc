// sm89-debug: steps a simulation and shows its warps.
#include "sim/tools/debug_command.h"
#include "sim/tools/run_program.h"

int main(int argc, char** argv) { return sm89::ProgramMain("sm89-debug", sm89::DebugMain, argc, argv); }
