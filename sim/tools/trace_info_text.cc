// sm89-trace info, for people.
#include <ostream>

#include "absl/strings/str_cat.h"
#include "sim/report/text.h"
#include "sim/tools/trace_output.h"
#include "sim/tools/trace_text.h"

namespace sm89 {
namespace {

std::string OrNone(const std::string& text) { return text.empty() ? "none" : Printable(text); }

std::string WindowText(uint64_t base) { return base == 0 ? "none" : HexText(base); }

void WriteCommands(const TraceSetInfo& info, std::ostream& out) {
  out << "\ncommands\n";
  for (const TraceCommand& c : info.commands) {
    out << "  line " << c.line << ": ";
    switch (c.kind) {
      case CommandKind::kMemcpyHtoD:
        out << "MemcpyHtoD " << HexText(c.address) << ", " << c.bytes << " bytes";
        break;
      case CommandKind::kMemcpyDtoH:
        out << "MemcpyDtoH " << HexText(c.address) << ", " << c.bytes << " bytes";
        break;
      case CommandKind::kKernel:
        out << "kernel " << c.kernel + 1;
        break;
      case CommandKind::kIgnored:
        out << "ignored: " << Printable(c.text);
        break;
    }
    out << "\n";
  }
}

void WriteKernel(uint32_t position, const KernelInfo& k, size_t statics, std::ostream& out) {
  out << "\nkernel " << position << ": " << Printable(k.name) << (k.complete ? "" : "  [partial]") << "\n"
      << "  file                " << OrNone(k.file) << ", id " << k.id << ", stream " << k.stream_id << "\n"
      << "  grid, block         " << DimText(k.grid) << " x " << DimText(k.block) << "\n"
      << "  resources           " << k.shmem_bytes << " bytes shared memory a thread block, " << k.nregs
      << " registers a thread\n"
      << "  versions            binary " << k.binary_version << ", tracer " << OrNone(k.tracer_version)
      << ", NVBit " << OrNone(k.nvbit_version) << ", line numbers " << (k.has_lineinfo ? "yes" : "no") << "\n"
      << "  generic windows     shared " << WindowText(k.shmem_base) << ", local " << WindowText(k.local_base)
      << "\n"
      << "  thread blocks       " << k.num_ctas << " of " << k.grid_ctas << "\n"
      << "  warps               " << k.empty_warps << " empty, " << k.absent_warps << " absent, "
      << k.warps_past_exit << " run on after an EXIT of all lanes\n"
      << "  instructions        " << statics << " static, " << k.warp_instructions << " a warp executed ("
      << k.masked_off_instructions << " without an active lane), " << k.thread_instructions
      << " a thread executed\n"
      << "  address 0           " << k.zero_address_accesses << " accesses\n";
}

}  // namespace

std::string MarkLine(const TraceSetInfo& info) {
  std::string text;
  for (const TraceMark& mark : info.marks) {
    absl::StrAppend(&text, text.empty() ? "MARKED: " : "; ", mark.kind, ": ", Printable(mark.detail));
  }
  size_t partial = 0;
  for (const KernelInfo& k : info.kernels) partial += k.complete ? 0 : 1;
  if (partial > 0) absl::StrAppend(&text, text.empty() ? "MARKED: " : "; ", partial, " partial kernels");
  return text;
}

void WriteInfoText(const TraceHead& head, const CompactReader& reader, std::ostream& out) {
  const TraceSetInfo& info = *head.info;
  if (const std::string marks = MarkLine(info); !marks.empty()) out << marks << "\n";
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  for (const KernelInfo& k : info.kernels) {
    warp_instructions += k.warp_instructions;
    thread_instructions += k.thread_instructions;
  }
  out << "trace    " << Printable(head.name) << "\n"
      << "digest   " << head.digest << "\n"
      << "size     " << head.compact_bytes << " bytes in the compact format\n"
      << "kernels  " << info.kernels.size() << ", " << warp_instructions << " warp instructions, "
      << thread_instructions << " thread instructions\n";
  WriteCommands(info, out);
  for (uint32_t k = 0; k < info.kernels.size(); ++k) {
    WriteKernel(k + 1, info.kernels[k], reader.StaticTable(k).size(), out);
  }
  if (!info.warnings.empty()) out << "\nwarnings\n";
  for (const TraceWarning& w : info.warnings) out << "  " << w.kind << ": " << Printable(w.message) << "\n";
}

}  // namespace sm89
