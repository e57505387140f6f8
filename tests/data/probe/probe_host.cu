// Runs the kernels of probe.cu on a GPU: probe_host CUBIN PROBES.txt OUT.bin
//
// PROBES.txt has a line "kernel class" a probe. OUT.bin holds 512 64-bit results a probe, in order. The inputs are
// those of probe_inputs.h, which the emulator's test shares.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "probe_inputs.h"

static void Check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text);
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Check(cuInit(0), "init");
  CUdevice device;
  CUcontext context;
  CUmodule module;
  Check(cuDeviceGet(&device, 0), "device");
  Check(cuDevicePrimaryCtxRetain(&context, device), "context");
  Check(cuCtxSetCurrent(context), "context");
  Check(cuModuleLoad(&module, argv[1]), argv[1]);
  std::ifstream list(argv[2]);
  std::ofstream out(argv[3], std::ios::binary);
  std::string kernel, cls;
  CUdeviceptr a, b, c, o;
  for (CUdeviceptr* p : {&a, &b, &c, &o}) Check(cuMemAlloc(p, 8 * probe::kWords), "alloc");
  int count = 0;
  while (list >> kernel >> cls) {
    const probe::Inputs in = probe::MakeInputs(cls);
    Check(cuMemcpyHtoD(a, in.a.data(), 8 * probe::kWords), "copy");
    Check(cuMemcpyHtoD(b, in.b.data(), 8 * probe::kWords), "copy");
    Check(cuMemcpyHtoD(c, in.c.data(), 8 * probe::kWords), "copy");
    Check(cuMemsetD8(o, 0, 8 * probe::kWords), "clear");
    CUfunction function;
    Check(cuModuleGetFunction(&function, module, kernel.c_str()), kernel.c_str());
    void* args[] = {&a, &b, &c, &o};
    Check(cuLaunchKernel(function, probe::kThreads / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr), kernel.c_str());
    Check(cuCtxSynchronize(), kernel.c_str());
    std::vector<unsigned long long> result(probe::kWords);
    Check(cuMemcpyDtoH(result.data(), o, 8 * probe::kWords), "copy");
    // The tensor probes write two words a register row; the others one a thread.
    out.write(reinterpret_cast<const char*>(result.data()), 8 * probe::OutWords(cls));
    ++count;
  }
  std::printf("%d probes\n", count);
}
