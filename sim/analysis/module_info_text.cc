// Renderings of a module's description.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "sim/analysis/json_text.h"
#include "sim/analysis/module_info.h"

namespace sm89::analysis {
namespace {

Json OccupancyJson(const LaunchOccupancy& o) {
  Json object;
  object["block_threads"] = o.launch.block_threads;
  object["dynamic_shared_bytes"] = o.launch.dynamic_shared_bytes;
  object["carveout_percent"] = o.launch.carveout_percent ? Json(*o.launch.carveout_percent) : Json(nullptr);
  object["ctas_per_sm"] = o.ctas_per_sm;
  object["warps_per_sm"] = o.warps_per_sm;
  object["occupancy_percent"] = 100.0 * o.fraction;
  object["limiters"] = o.limiters;
  for (const ResourceLimit& limit : o.limits) {
    object["limits"][limit.resource] = limit.ctas ? Json(*limit.ctas) : Json(nullptr);
  }
  object["registers_per_cta"] = o.registers_per_cta;
  object["shared_bytes_per_cta"] = o.shared_bytes_per_cta;
  object["carveout_kib"] = o.carveout_kib;
  object["reason"] = o.reason;
  return object;
}

Json ParamsJson(const cubin::Function& f) {
  Json params = Json::array();
  for (const cubin::KernelParam& p : f.params) {
    params.push_back({{"ordinal", p.ordinal}, {"offset", p.offset}, {"size_bytes", p.size_bytes}});
  }
  return params;
}

Json KernelJson(const KernelInfoRow& row) {
  const cubin::Function& f = *row.function;
  Json object;
  object["name"] = f.name;
  object["kernel"] = f.is_kernel;
  object["code_bytes"] = row.code_bytes;
  object["instructions"] = row.instructions;
  object["registers"] = f.registers;
  object["max_registers"] = f.max_registers == 0 ? Json(nullptr) : Json(f.max_registers);
  object["static_shared_bytes"] = f.static_shared_bytes;
  object["local_bytes"] = f.local_bytes;
  object["stack_bytes"] = f.stack_bytes;
  object["barriers"] = f.num_barriers;
  object["max_threads"] =
      f.max_threads ? Json::array({f.max_threads->x, f.max_threads->y, f.max_threads->z}) : Json(nullptr);
  object["param_base"] = f.param_base;
  object["param_bytes"] = f.param_bytes;
  object["params"] = ParamsJson(f);
  object["constant_bytes"] = Json::object();
  for (const auto& [bank, bytes] : row.constant_bytes) object["constant_bytes"][absl::StrCat(bank)] = bytes;
  object["callees"] = Json::array();
  for (const cubin::CodeSymbol& s : f.symbols) {
    object["callees"].push_back({{"name", s.name}, {"offset", s.offset}, {"size_bytes", s.size_bytes}});
  }
  object["line_information"] = row.has_lines;
  object["ptx_line_information"] = row.has_ptx_lines;
  if (row.occupancy) object["occupancy"] = OccupancyJson(*row.occupancy);
  return object;
}

std::string LineInformation(const KernelInfoRow& row) {
  if (row.has_ptx_lines) return row.has_lines ? "source and PTX" : "PTX";
  return row.has_lines ? "source" : "none";
}

std::string ParamsText(const cubin::Function& f) {
  if (f.params.empty()) return "none";
  return absl::StrCat(absl::StrJoin(f.params, ", ",
                                    [](std::string* out, const cubin::KernelParam& p) {
                                      absl::StrAppend(out, p.size_bytes, " B at ",
                                                      absl::StrFormat("0x%x", p.offset));
                                    }),
                      absl::StrFormat("; c[0x0][0x%x], %d B", f.param_base, f.param_bytes));
}

std::string KernelText(const KernelInfoRow& row) {
  const cubin::Function& f = *row.function;
  std::string text = absl::StrCat(f.is_kernel ? "kernel " : "function ", Clean(f.name), "\n");
  absl::StrAppendFormat(&text, "  code         %d B, %d instructions\n", row.code_bytes, row.instructions);
  absl::StrAppend(&text, "  registers    ", f.registers,
                  f.max_registers == 0 ? "" : absl::StrCat(" (bound ", f.max_registers, ")"), "\n");
  absl::StrAppendFormat(&text, "  memory       shared %d B, local %d B, stack %d B\n", f.static_shared_bytes,
                        f.local_bytes, f.stack_bytes);
  absl::StrAppend(&text, "  barriers     ", f.num_barriers, "\n");
  absl::StrAppend(&text, "  parameters   ", ParamsText(f), "\n");
  if (!row.constant_bytes.empty()) {
    absl::StrAppend(&text, "  constants    ",
                    absl::StrJoin(row.constant_bytes, ", ",
                                  [](std::string* out, const auto& bank) {
                                    absl::StrAppend(out, "bank ", bank.first, ": ", bank.second, " B");
                                  }),
                    "\n");
  }
  if (f.max_threads) {
    absl::StrAppend(&text, "  max threads  ", f.max_threads->x, " x ", f.max_threads->y, " x ",
                    f.max_threads->z, "\n");
  }
  if (!f.symbols.empty()) {
    absl::StrAppend(&text, "  callees      ",
                    absl::StrJoin(f.symbols, ", ",
                                  [](std::string* out, const cubin::CodeSymbol& s) {
                                    absl::StrAppend(out, Clean(s.name));
                                  }),
                    "\n");
  }
  absl::StrAppend(&text, "  lines        ", LineInformation(row), "\n");
  if (row.occupancy) absl::StrAppend(&text, ToText(*row.occupancy));
  return text;
}

}  // namespace

std::string ToText(const LaunchOccupancy& o) {
  std::string text = absl::StrFormat("  launch       %d threads a CTA, %d B dynamic shared memory\n",
                                     o.launch.block_threads, o.launch.dynamic_shared_bytes);
  absl::StrAppendFormat(&text, "  occupancy    %d CTAs, %d warps an SM: %.1f %%, limited by %s\n",
                        o.ctas_per_sm, o.warps_per_sm, 100.0 * o.fraction,
                        absl::StrJoin(o.limiters, " and "));
  absl::StrAppend(&text, "  CTAs by      ",
                  absl::StrJoin(o.limits, ", ",
                                [](std::string* out, const ResourceLimit& l) {
                                  absl::StrAppend(out, l.resource, " ",
                                                  l.ctas ? absl::StrCat(*l.ctas) : "no limit");
                                }),
                  "\n");
  absl::StrAppendFormat(&text, "  a CTA takes  %d registers, %d B shared memory (carve-out %d KiB)\n",
                        o.registers_per_cta, o.shared_bytes_per_cta, o.carveout_kib);
  if (!o.reason.empty()) absl::StrAppend(&text, "  impossible   ", o.reason, "\n");
  return text;
}

std::string ToJson(const LaunchOccupancy& occupancy) { return Dump(OccupancyJson(occupancy)); }

std::string ToText(const ModuleInfo& info) {
  const cubin::Module& m = *info.module;
  std::string text = absl::StrCat(Clean(m.name), ": sm_", m.arch, ", toolkit ",
                                  m.toolkit.empty() ? "unknown" : Clean(m.toolkit), ", ABI ", m.abi_version,
                                  m.relocatable ? ", relocatable" : "", "\n");
  absl::StrAppendFormat(&text, "global data %d B, constant data %d B\n", m.globals.size(),
                        m.constant3.size());
  for (const KernelInfoRow& row : info.kernels) absl::StrAppend(&text, "\n", KernelText(row));
  return text;
}

std::string ToJson(const ModuleInfo& info) {
  const cubin::Module& m = *info.module;
  Json root;
  root["format"] = "sm89-cubin-info/1";
  root["name"] = m.name;
  root["arch"] = m.arch;
  root["abi_version"] = m.abi_version;
  root["toolkit"] = m.toolkit.empty() ? Json(nullptr) : Json(m.toolkit);
  root["relocatable"] = m.relocatable;
  root["global_bytes"] = m.globals.size();
  root["constant3_bytes"] = m.constant3.size();
  root["files"] = m.files;
  root["kernels"] = Json::array();
  for (const KernelInfoRow& row : info.kernels) root["kernels"].push_back(KernelJson(row));
  return Dump(root);
}

}  // namespace sm89::analysis
