#include "sim/isa/control_synthesis.h"

#include "sim/isa/synthesis_graph.h"

namespace sm89 {

void SynthesiseControlBits(const CodeFlow& flow, DecodedKernel* kernel) {
  const SynthGraph graph = BuildGraph(flow, *kernel);
  SynthBits bits(graph.nodes.size());
  uint8_t group_counter = DecodedInst::kNoCounter;
  SynthesiseCounters(graph, &group_counter, &bits);
  SynthesiseStalls(graph, &bits);
  SynthesiseReuse(graph, &bits);
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    for (uint32_t id = graph.nodes[n].first_id; id < graph.nodes[n].end_id; ++id) {
      DecodedInst& inst = kernel->insts[id];
      inst.bits = bits[n];
      inst.has_control_bits = false;
      if (inst.control != ControlOp::kDepbar) continue;
      inst.depbar_counter = group_counter;
      inst.depbar_mask = 0;
    }
  }
  for (const uint32_t id : flow.guarded) kernel->insts[id].guarded = true;
  kernel->control_source = ControlSource::kSynthesised;
}

}  // namespace sm89
