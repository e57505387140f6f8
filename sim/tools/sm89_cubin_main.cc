// sm89-cubin: shows, explains and executes GPU machine code.
#include "sim/tools/cubin_command.h"
#include "sim/tools/run_program.h"

int main(int argc, char** argv) { return sm89::ProgramMain("sm89-cubin", sm89::CubinMain, argc, argv); }
