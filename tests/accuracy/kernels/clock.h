// The SM's clock, and the frame that the kernels of this folder share: barrier, clock, loop, barrier, clock.
#pragma once

#include <cstdint>

__device__ __forceinline__ uint32_t Clock() {
  uint32_t t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

__device__ __forceinline__ void Barrier() { asm volatile("bar.sync 0;" ::: "memory"); }
