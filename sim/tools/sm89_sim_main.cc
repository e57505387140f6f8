// sm89-sim: the simulator as one program, without a server.
#include "sim/tools/run_program.h"
#include "sim/tools/sim_command.h"

int main(int argc, char** argv) { return sm89::ProgramMain("sm89-sim", sm89::SimMain, argc, argv); }
