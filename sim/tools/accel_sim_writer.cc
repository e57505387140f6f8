#include "sim/tools/accel_sim_writer.h"

#include <bit>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr int kTracerVersion = 5;  // the last one without register values

// General registers only: tracers before version 6 show no others.
void AppendRegisters(std::span<const RegRef> registers, std::string* line) {
  int count = 0;
  std::string names;
  for (const RegRef& reg : registers) {
    if (reg.file != RegFile::kGeneral) continue;
    ++count;
    absl::StrAppend(&names, "R", reg.index, " ");
  }
  absl::StrAppend(line, count, " ", names);
}

// A stride counts lanes, so that it fits only lanes without gaps.
bool HasGaps(LaneMask mask) {
  const LaneMask lanes = mask >> std::countr_zero(mask);
  return (lanes & (lanes + 1)) != 0;
}

// Mode 1 (base and stride) where it fits, else 2 (base and differences).
void AppendAddresses(const DynInst& inst, std::string* line) {
  if (inst.shape == nullptr || inst.mask == 0) {
    absl::StrAppend(line, "1 0x0 0 ");
    return;
  }
  if (inst.shape->strided && !HasGaps(inst.mask)) {
    absl::StrAppendFormat(line, "1 0x%x %d ", inst.base, inst.shape->stride);
    return;
  }
  absl::StrAppendFormat(line, "2 0x%x ", inst.base);
  for (size_t i = 1; i < inst.shape->offsets.size(); ++i) {
    absl::StrAppend(line, static_cast<int64_t>(inst.shape->offsets[i] - inst.shape->offsets[i - 1]), " ");
  }
}

std::string Line(const StaticInst& code, const DynInst& inst) {
  std::string line = absl::StrFormat("%d %04x %08x ", code.source_line, code.pc, inst.mask);
  AppendRegisters(std::span(code.dests).first(code.num_dests), &line);
  absl::StrAppend(&line, code.opcode, " ");
  AppendRegisters(std::span(code.sources).first(code.num_sources), &line);
  const bool memory = inst.shape != nullptr || (inst.mask == 0 && code.declared_width_bytes != 0);
  absl::StrAppend(&line, memory ? code.declared_width_bytes : 0, " ");
  if (memory) AppendAddresses(inst, &line);
  absl::StrAppend(&line, code.has_immediate ? code.immediate : 0, "\n");
  return line;
}

absl::Status WriteCta(const CtaTrace& cta, std::span<const StaticInst> statics, std::ostream& out) {
  const Dim3 id = cta.id();
  out << absl::StrFormat("\n#BEGIN_TB\n\nthread block = %d,%d,%d\n", id.x, id.y, id.z);
  for (uint32_t w = 0; w < cta.num_warps(); ++w) {
    const std::unique_ptr<WarpCursor> cursor = cta.OpenWarp(w);
    if (cursor == nullptr) continue;
    out << absl::StrFormat("\nwarp = %d\ninsts = %d\n", w, cta.warp_instructions(w));
    DynInst inst;
    while (cursor->Next(&inst)) out << Line(statics[inst.static_id], inst);
    RETURN_IF_ERROR(cursor->status());
  }
  out << "\n#END_TB\n";
  return absl::OkStatus();
}

void WriteHeader(const KernelInfo& kernel, uint32_t number, std::ostream& out) {
  out << absl::StrFormat(
      "-kernel name = %s\n-kernel id = %d\n-grid dim = (%d,%d,%d)\n-block dim = (%d,%d,%d)\n-shmem = %d\n"
      "-nregs = %d\n-binary version = %d\n-cuda stream id = %d\n-shmem base_addr = 0x%016x\n"
      "-local mem base_addr = 0x%016x\n-nvbit version = none\n-accelsim tracer version = %d\n"
      "-enable lineinfo = 1\n\n"
      "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
      "[adrrescompress?] [mem_addresses] immediate\n\n",
      kernel.name, number, kernel.grid.x, kernel.grid.y, kernel.grid.z, kernel.block.x, kernel.block.y,
      kernel.block.z, kernel.shmem_bytes, kernel.nregs, kernel.binary_version, kernel.stream_id,
      kernel.shmem_base, kernel.local_base, kTracerVersion);
}

absl::Status CannotWrite(const std::string& path) {
  return absl::UnavailableError(absl::StrCat("cannot write ", path));
}

absl::Status WriteKernel(TraceSource& source, uint32_t kernel, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  if (!out) return CannotWrite(path);
  WriteHeader(source.info().kernels[kernel], kernel + 1, out);
  const std::span<const StaticInst> statics = source.StaticTable(kernel);
  for (uint64_t i = 0; i < source.NumCtas(kernel); ++i) {
    ASSIGN_OR_RETURN(const std::unique_ptr<CtaTrace> cta, source.OpenCta(kernel, i));
    RETURN_IF_ERROR(WriteCta(*cta, statics, out));
    if (!out) return CannotWrite(path);
  }
  out.close();
  return out ? absl::OkStatus() : CannotWrite(path);
}

}  // namespace

absl::Status WriteAccelSimFolder(TraceSource& source, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat("cannot make ", folder, ": ", error.message()));
  if (!std::filesystem::is_empty(folder, error)) {
    return absl::AlreadyExistsError(absl::StrCat(folder, " is not empty"));
  }
  std::string list;
  for (uint32_t k = 0; k < source.info().kernels.size(); ++k) {
    const std::string name = absl::StrCat("kernel-", k + 1, ".traceg");
    RETURN_IF_ERROR(WriteKernel(source, k, folder + "/" + name));
    absl::StrAppend(&list, name, "\n");
  }
  const std::string path = folder + "/kernelslist.g";
  std::ofstream out(path, std::ios::binary);
  out << list;
  out.close();
  return out ? absl::OkStatus() : CannotWrite(path);
}

}  // namespace sm89
