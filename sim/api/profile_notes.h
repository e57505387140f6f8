// What a kernel's machine code says of the instructions of its profile.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sim/config/gpu_config.h"
#include "sim/cubin/module.h"
#include "sim/report/run_report.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// A function of a cubin; module null: no cubin (a listing, a trace with encodings).
struct CodeOrigin {
  std::shared_ptr<const cubin::Module> module;
  std::string function;
};

// Fills the notes of kernel->per_pc, the rows of `code`: SASS text where there is an encoding; from the cubin
// live registers, source files and lines, and PTX, as far as it has line information and for the kernel's own
// section (functions of other sections follow it). `config`: the model's units, which MapPtx wants.
void AddProfileNotes(std::span<const StaticInst> code, const CodeOrigin& origin, const GpuConfig& config,
                     KernelReport* kernel);

}  // namespace sm89
