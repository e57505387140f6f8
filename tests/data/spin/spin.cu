// Ends once another writes 0 to *flag. Nobody does: what bounds an execution is tried on it.
extern "C" __global__ void spin(volatile unsigned* flag) {
  while (*flag != 0) {
  }
}
