// sm89-trace info --json, and the values that the dump shares with it.
#include <ostream>

#include "sim/base/version.h"
#include "sim/tools/trace_json.h"
#include "sim/tools/trace_text.h"

namespace sm89 {
namespace {

TraceJson DimJson(const Dim3& d) { return TraceJson::array({d.x, d.y, d.z}); }

TraceJson CommandJson(const TraceCommand& c) {
  TraceJson j = {{"line", c.line}};
  switch (c.kind) {
    case CommandKind::kMemcpyHtoD:
    case CommandKind::kMemcpyDtoH:
      j["kind"] = c.kind == CommandKind::kMemcpyHtoD ? "memcpy_h2d" : "memcpy_d2h";
      j["address"] = HexText(c.address);
      j["bytes"] = c.bytes;
      break;
    case CommandKind::kKernel:
      j["kind"] = "kernel";
      j["kernel"] = c.kernel + 1;
      break;
    case CommandKind::kIgnored:
      j["kind"] = "ignored";
      j["text"] = c.text;
      break;
  }
  return j;
}

}  // namespace

std::string JsonText(const TraceJson& value) {
  return value.dump(-1, ' ', false, TraceJson::error_handler_t::replace);
}

TraceJson KernelJson(uint32_t position, const KernelInfo& k) {
  return {{"position", position},
          {"name", k.name},
          {"file", k.file},
          {"id", k.id},
          {"stream", k.stream_id},
          {"grid", DimJson(k.grid)},
          {"block", DimJson(k.block)},
          {"shared_memory_bytes", k.shmem_bytes},
          {"registers", k.nregs},
          {"binary_version", k.binary_version},
          {"tracer_version", k.tracer_version},
          {"nvbit_version", k.nvbit_version},
          {"line_numbers", k.has_lineinfo},
          {"shared_window", HexText(k.shmem_base)},
          {"local_window", HexText(k.local_base)},
          {"complete", k.complete},
          {"thread_blocks", k.num_ctas},
          {"grid_thread_blocks", k.grid_ctas},
          {"warp_instructions", k.warp_instructions},
          {"thread_instructions", k.thread_instructions},
          {"masked_off_instructions", k.masked_off_instructions},
          {"empty_warps", k.empty_warps},
          {"absent_warps", k.absent_warps},
          {"warps_past_exit", k.warps_past_exit},
          {"zero_address_accesses", k.zero_address_accesses}};
}

TraceJson HeadJson(const TraceHead& head) {
  TraceJson marks = TraceJson::array();
  for (const TraceMark& m : head.info->marks) {
    marks.push_back({{"kind", m.kind}, {"detail", m.detail}, {"count", m.count}});
  }
  return {{"product_version", std::string(kProductVersion)},
          {"trace", head.name},
          {"trace_digest", head.digest},
          {"marks", std::move(marks)}};
}

void WriteInfoJson(const TraceHead& head, const CompactReader& reader, std::ostream& out) {
  TraceJson j = HeadJson(head);
  j["compact_bytes"] = head.compact_bytes;
  TraceJson& commands = j["commands"] = TraceJson::array();
  for (const TraceCommand& c : head.info->commands) commands.push_back(CommandJson(c));
  TraceJson& kernels = j["kernels"] = TraceJson::array();
  for (uint32_t k = 0; k < head.info->kernels.size(); ++k) {
    kernels.push_back(KernelJson(k + 1, head.info->kernels[k]));
    kernels.back()["static_instructions"] = reader.StaticTable(k).size();
  }
  TraceJson& warnings = j["warnings"] = TraceJson::array();
  for (const TraceWarning& w : head.info->warnings) {
    warnings.push_back({{"kind", w.kind}, {"message", w.message}});
  }
  out << JsonText(j) << "\n";
}

}  // namespace sm89
