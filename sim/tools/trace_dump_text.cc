// sm89-trace dump, for people.
#include <bit>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/strings.h"
#include "sim/report/text.h"
#include "sim/tools/trace_output.h"
#include "sim/tools/trace_text.h"

namespace sm89 {
namespace {

constexpr int kAddressesPerLine = 4;

std::string RangesText(std::string_view title, std::span<const RegRange> ranges) {
  std::string text;
  for (const RegRange& range : ranges) {
    absl::StrAppend(&text, text.empty() ? "  " : " ", text.empty() ? Av(title) : "", text.empty() ? " " : "",
                    RegistersText(range));
  }
  return text;
}

std::string MemoryText(const StaticInst& s, const DecodedInst& d) {
  if (d.mem_op == MemOp::kNone && d.space == MemSpace::kNone) return "";
  std::string text = absl::StrCat("  ", Av(Name(d.space)), " ", Av(Name(d.mem_op)));
  if (d.width_bytes != 0) absl::StrAppend(&text, " ", d.width_bytes, " bytes");
  if (s.declared_width_bytes != 0 && s.declared_width_bytes != d.width_bytes) {
    absl::StrAppend(&text, " (trace says ", s.declared_width_bytes, ")");
  }
  if (d.matrices != 0) absl::StrAppend(&text, " x", d.matrices, " matrices");
  if (d.bypass_l1) absl::StrAppend(&text, " past L1");
  return text;
}

std::string StaticText(const StaticInst& s, const DecodedInst& d) {
  std::string text =
      absl::StrFormat("  %04x  %-24s %-8s", s.pc, Printable(s.opcode), std::string(Name(d.unit)));
  absl::StrAppend(&text, RangesText("dest", std::span(d.dests).first(d.num_dests)),
                  RangesText("source", std::span(d.sources).first(d.num_sources)), MemoryText(s, d));
  if (d.control != ControlOp::kNone) absl::StrAppend(&text, "  control ", Av(Name(d.control)));
  if (d.scope != Scope::kNone) absl::StrAppend(&text, "  scope ", Av(Name(d.scope)));
  if (d.tensor.a != TensorType::kNone) absl::StrAppend(&text, "  ", TensorText(d.tensor));
  if (s.has_immediate) absl::StrAppend(&text, "  imm ", s.immediate);
  if (s.immediate2 != 0) absl::StrAppend(&text, "  imm2 ", s.immediate2);
  if (s.source_line != 0) absl::StrAppend(&text, "  line ", s.source_line);
  if (d.has_control_bits) {
    absl::StrAppend(&text, "  stall ", d.bits.stall_cycles, d.bits.yield ? " yield" : "", " wait ",
                    absl::Hex(d.bits.wait_mask));
  }
  if (d.guessed) absl::StrAppend(&text, "  GUESSED");
  return text;
}

std::string AccessText(const AccessSummary& a) {
  std::string text;
  if (a.global_lines != 0) absl::StrAppend(&text, "  global ", a.global_sectors, " sectors");
  if (a.local_lines != 0) absl::StrAppend(&text, "  local ", a.local_sectors, " sectors");
  if (a.shared_passes != 0) {
    absl::StrAppend(&text, "  shared ", a.shared_passes, " passes (", a.bank_conflict_passes(),
                    " by bank conflicts)");
  }
  return text;
}

class TextDump final : public DumpSink {
 public:
  TextDump(const TraceHead& head, std::ostream& out) : head_(head), out_(out) {}

  void Begin() override {
    if (const std::string marks = MarkLine(*head_.info); !marks.empty()) out_ << marks << "\n";
    out_ << "trace    " << Printable(head_.name) << "\ndigest   " << head_.digest << "\n";
  }
  void BeginKernel(const DumpKernel& kernel) override {
    kernel_ = kernel;
    out_ << "\nkernel " << kernel.position << ": " << Printable(kernel.info->name)
         << (kernel.info->complete ? "" : "  [partial]") << "\n";
    for (const UnknownOpcode& u : kernel.decoded->unknown) {
      out_ << "  unknown opcode " << Printable(u.opcode) << ", taken for a NOP\n";
    }
  }
  void Static(uint32_t id) override {
    out_ << StaticText(kernel_.table[id], kernel_.decoded->insts[id]) << "\n";
  }
  void BeginExecuted() override { place_.clear(); }
  void Executed(const DumpInst& inst) override {
    std::string place = absl::StrCat("thread block ", DimText(inst.cta), " warp ", inst.warp);
    if (place != place_) {
      place_ = std::move(place);
      out_ << place_ << "\n";
    }
    out_ << absl::StreamFormat("  #%-6d %04x %08x  %s", inst.number, inst.inst->pc, inst.dyn.mask,
                               Printable(inst.inst->opcode));
    if (inst.inst->has_immediate) out_ << "  imm " << inst.inst->immediate;
    out_ << AccessText(inst.access) << "\n";
    if (inst.dyn.shape != nullptr) WriteAddresses(inst.dyn);
  }
  void EndKernel() override {}
  void End(const DumpTotals& totals) override {
    out_ << "\n"
         << totals.shown << " executed instructions of " << totals.ctas_shown << " thread blocks shown\n";
    if (totals.ctas_left_out != 0) {
      out_ << totals.ctas_left_out << " thread blocks left out: --all or --cta shows them\n";
    }
    if (totals.limit_reached) out_ << "stopped at --limit; 0 shows everything selected\n";
  }

 private:
  void WriteAddresses(const DynInst& inst) {
    size_t i = 0;
    for (LaneMask rest = inst.mask; rest != 0; rest &= rest - 1) {
      out_ << (i % kAddressesPerLine == 0 ? "        " : "  ")
           << absl::StreamFormat("%2d:0x%012x", std::countr_zero(rest), inst.base + inst.shape->offsets[i]);
      ++i;
      if (i % kAddressesPerLine == 0 || (rest & (rest - 1)) == 0) out_ << "\n";
    }
  }

  const TraceHead& head_;
  std::ostream& out_;
  DumpKernel kernel_;
  std::string place_;
};

}  // namespace

std::unique_ptr<DumpSink> MakeTextDump(const TraceHead& head, std::ostream& out) {
  return std::make_unique<TextDump>(head, out);
}

}  // namespace sm89
