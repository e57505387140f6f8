// sm89-trace dump --json: one document, written element by element so that memory stays bounded.
#include <bit>
#include <ostream>

#include "sim/tools/trace_json.h"
#include "sim/tools/trace_text.h"

namespace sm89 {
namespace {

TraceJson RangesJson(std::span<const RegRange> ranges) {
  TraceJson list = TraceJson::array();
  for (const RegRange& range : ranges) list.push_back(RegistersText(range));
  return list;
}

void AddControlBits(const ControlBits& bits, TraceJson* j) {
  (*j)["control_bits"] = {{"stall_cycles", bits.stall_cycles},   {"yield", bits.yield},
                          {"write_counter", bits.write_counter}, {"read_counter", bits.read_counter},
                          {"wait_mask", bits.wait_mask},         {"reuse_mask", bits.reuse_mask}};
}

TraceJson StaticJson(const StaticInst& s, const DecodedInst& d) {
  TraceJson j = {{"pc", HexText(s.pc)}, {"opcode", s.opcode}, {"unit", std::string(Name(d.unit))}};
  j["dests"] = RangesJson(std::span(d.dests).first(d.num_dests));
  j["sources"] = RangesJson(std::span(d.sources).first(d.num_sources));
  if (d.mem_op != MemOp::kNone || d.space != MemSpace::kNone) {
    j["memory"] = {{"space", std::string(Name(d.space))},
                   {"operation", std::string(Name(d.mem_op))},
                   {"width_bytes", d.width_bytes},
                   {"declared_width_bytes", s.declared_width_bytes},
                   {"bypass_l1", d.bypass_l1}};
  }
  if (d.matrices != 0) j["matrices"] = d.matrices;
  if (d.control != ControlOp::kNone) j["control"] = std::string(Name(d.control));
  if (d.scope != Scope::kNone) j["scope"] = std::string(Name(d.scope));
  if (d.tensor.a != TensorType::kNone) j["tensor"] = TensorText(d.tensor);
  if (s.has_immediate) j["immediate"] = s.immediate;
  if (s.immediate2 != 0) j["immediate2"] = s.immediate2;
  if (s.source_line != 0) j["source_line"] = s.source_line;
  if (d.writes_predicate) j["writes_predicate"] = true;
  if (d.guessed) j["guessed"] = true;
  if (d.has_control_bits) AddControlBits(d.bits, &j);
  return j;
}

void AddAccess(const DumpInst& inst, TraceJson* j) {
  TraceJson lanes = TraceJson::array();
  TraceJson addresses = TraceJson::array();
  size_t i = 0;
  for (LaneMask rest = inst.dyn.mask; rest != 0; rest &= rest - 1) {
    lanes.push_back(std::countr_zero(rest));
    addresses.push_back(HexText(inst.dyn.base + inst.dyn.shape->offsets[i++]));
  }
  (*j)["lanes"] = std::move(lanes);
  (*j)["addresses"] = std::move(addresses);
  const AccessSummary& a = inst.access;
  if (!a.accesses_memory) return;
  if (a.global_lines != 0) (*j)["global"] = {{"sectors", a.global_sectors}, {"lines", a.global_lines}};
  if (a.local_lines != 0) (*j)["local"] = {{"sectors", a.local_sectors}, {"lines", a.local_lines}};
  if (a.shared_passes != 0) {
    (*j)["shared"] = {{"passes", a.shared_passes}, {"bank_conflict_passes", a.bank_conflict_passes()}};
  }
}

class JsonDump final : public DumpSink {
 public:
  JsonDump(const TraceHead& head, std::ostream& out) : head_(head), out_(out) {}

  void Begin() override {
    // The head's members, with the document left open for the kernels.
    std::string text = JsonText(HeadJson(head_));
    text.pop_back();
    out_ << text << ",\"kernels\":[";
  }
  void BeginKernel(const DumpKernel& kernel) override {
    kernel_ = kernel;
    std::string text = JsonText(KernelJson(kernel.position, *kernel.info));
    text.pop_back();
    TraceJson unknown = TraceJson::array();
    for (const UnknownOpcode& u : kernel.decoded->unknown) unknown.push_back(u.opcode);
    out_ << (first_kernel_ ? "\n" : ",\n") << text << ",\"unknown_opcodes\":" << JsonText(unknown)
         << ",\"code\":[";
    first_kernel_ = false;
    first_ = true;
  }
  void Static(uint32_t id) override { Element(StaticJson(kernel_.table[id], kernel_.decoded->insts[id])); }
  void BeginExecuted() override {
    out_ << "],\"executed\":[";
    first_ = true;
  }
  void Executed(const DumpInst& inst) override {
    TraceJson j = {{"cta", TraceJson::array({inst.cta.x, inst.cta.y, inst.cta.z})},
                   {"warp", inst.warp},
                   {"number", inst.number},
                   {"pc", HexText(inst.inst->pc)},
                   {"opcode", inst.inst->opcode},
                   {"mask", HexText(inst.dyn.mask)}};
    if (inst.inst->has_immediate) j["immediate"] = inst.inst->immediate;
    if (inst.dyn.shape != nullptr) AddAccess(inst, &j);
    Element(j);
  }
  void EndKernel() override { out_ << "]}"; }
  void End(const DumpTotals& totals) override {
    out_ << "],\"shown_instructions\":" << totals.shown << ",\"shown_thread_blocks\":" << totals.ctas_shown
         << ",\"left_out_thread_blocks\":" << totals.ctas_left_out
         << ",\"limit_reached\":" << (totals.limit_reached ? "true" : "false") << "}\n";
  }

 private:
  void Element(const TraceJson& value) {
    out_ << (first_ ? "\n" : ",\n") << JsonText(value);
    first_ = false;
  }

  const TraceHead& head_;
  std::ostream& out_;
  DumpKernel kernel_;
  bool first_kernel_ = true;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<DumpSink> MakeJsonDump(const TraceHead& head, std::ostream& out) {
  return std::make_unique<JsonDump>(head, out);
}

}  // namespace sm89
