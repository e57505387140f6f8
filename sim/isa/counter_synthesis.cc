// Dependence counters: which instructions signal, which wait, and through which of the six.
#include <algorithm>
#include <array>
#include <bitset>
#include <limits>

#include "sim/isa/issue_class.h"
#include "sim/isa/synthesis_graph.h"

namespace sm89 {
namespace {

constexpr int kNumCounters = 6;
constexpr uint8_t kNone = DecodedInst::kNoCounter;
// More outstanding instructions than this are forgotten, oldest first: a bound on the work, far beyond what
// six counters tell apart.
constexpr size_t kMaxPending = 1024;
constexpr int kMaxPasses = 32;

// An outstanding instruction of variable latency: its result, or its reading of its sources.
using EventId = uint32_t;  // node * 2 + 1 when it is the reading
bool IsRead(EventId event) { return event & 1; }
uint32_t NodeOf(EventId event) { return event / 2; }

// One bit a register of any file, for quick tests.
using RegisterSet = std::bitset<256 + 65 + 10 + 10>;
void AddRange(const RegRange& range, RegisterSet* set) {
  constexpr uint32_t kBases[] = {0, 256, 321, 331};
  const uint32_t base = kBases[static_cast<size_t>(range.file)];
  for (uint32_t i = 0; i < range.count; ++i) set->set(base + range.first + i);
}

// Instructions whose results come in the order of issue: waiting for a later one covers the earlier ones.
enum class ResultOrder : uint8_t { kUnordered, kSharedLoads, kFp64, kSfu };
ResultOrder ResultOrderOf(const DecodedInst& inst) {
  const bool load = inst.mem_op == MemOp::kLoad || inst.mem_op == MemOp::kLoadMatrix;
  if (inst.space == MemSpace::kShared && load) return ResultOrder::kSharedLoads;
  if (inst.unit == ExecUnit::kFp64) return ResultOrder::kFp64;
  const bool mufu = inst.unit == ExecUnit::kSfu && inst.timing == TimingClass::kUnit;
  return mufu ? ResultOrder::kSfu : ResultOrder::kUnordered;
}

// Instructions of shared memory read their operands in the order of issue.
bool ReadsInOrder(const DecodedInst& inst) {
  return inst.unit == ExecUnit::kMem && inst.space == MemSpace::kShared;
}

class CounterSynthesis {
 public:
  CounterSynthesis(const SynthGraph& graph, SynthBits* bits)
      : graph_(graph),
        bits_(*bits),
        nodes_(graph.nodes),
        sm90_(graph.binary_version >= 90),
        events_(2 * graph.nodes.size()) {}

  void Run(uint8_t* group_counter) {
    FindAccesses();
    ReserveGroupCounter(group_counter);
    const auto discover = [this](uint32_t node, std::vector<EventId>* pending) { Discover(node, pending); };
    const auto forget = [this] {
      for (Event& event : events_) {
        event.needed = false;
        event.consumer_key = std::numeric_limits<uint32_t>::max();
      }
    };
    const auto wait = [this](uint32_t node, std::vector<EventId>* pending) { Wait(node, pending); };
    const auto nothing = [] {};  // Wait writes each mask anew
    // What a pass finds before the ends of all blocks are known, round their loops, need not hold: each pass
    // finds everything anew, the last one on ends that no longer change. Where they never come to rest,
    // findings of all passes are kept, which cannot go back and forth.
    for (keep_ = false; !Settle(forget, discover) && !keep_;) keep_ = true;
    AssignAll();
    do {
      missed_ = false;
      for (keep_ = false; !Settle(nothing, wait) && !keep_;) keep_ = true;
    } while (missed_);
  }

 private:
  struct Event {
    bool exists = false;
    bool needed = false;
    uint8_t counter = kNone;
    // First instruction that waits for it: distance in program order, around the code's end for one in front.
    uint32_t consumer_key = std::numeric_limits<uint32_t>::max();
  };
  struct Access {
    RegisterSet touched;  // read or written
    RegisterSet written;
    RegisterSet general_reads;
  };

  void FindAccesses() {
    access_.resize(nodes_.size());
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      const SynthNode& node = nodes_[n];
      Access& access = access_[n];
      for (const RegRead& read : node.reads) {
        AddRange(read.range, &access.touched);
        if (read.range.file == RegFile::kGeneral) AddRange(read.range, &access.general_reads);
      }
      // A hidden register is whichever the text does not show: writing it again overwrites nothing.
      for (const RegRange& range : node.writes) {
        if (!IsHidden(range)) AddRange(range, &access.written);
      }
      access.touched |= access.written;
      if (!HasVariableLatency(node.inst->dep) || node.inst->control == ControlOp::kLdgDepbar) continue;
      events_[2 * n].exists = !node.writes.empty();
      const bool branch = node.inst->unit == ExecUnit::kBranch && node.writes.empty();
      events_[2 * n + 1].exists = access.general_reads.any() && !branch;
    }
  }

  void ReserveGroupCounter(uint8_t* group_counter) {
    *group_counter = kNone;
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].inst->control != ControlOp::kLdgDepbar) continue;
      *group_counter = 0;
      bits_[n].write_counter = 0;
    }
    first_counter_ = *group_counter == kNone ? 0 : 1;
  }

  // Registers whose later use conflicts with the event.
  RegisterSet Registers(EventId event) const {
    const uint32_t node = NodeOf(event);
    if (IsRead(event)) return access_[node].general_reads;
    RegisterSet set;
    for (const RegRange& range : nodes_[node].writes) AddRange(range, &set);
    return set;
  }

  bool Conflicts(EventId event, uint32_t node) const {
    if (!IsRead(event)) return (Registers(event) & access_[node].touched).any();
    // A unit that works in order has read the older one's sources before it has the younger one's result.
    const DecodedInst& older = *nodes_[NodeOf(event)].inst;
    const DecodedInst& younger = *nodes_[node].inst;
    const ResultOrder order = ResultOrderOf(older);
    if (order != ResultOrder::kUnordered && order == ResultOrderOf(younger)) return false;
    // ptxas takes this to hold for all memory instructions of sm_90, not for those of sm_89.
    if (sm90_ && older.unit == ExecUnit::kMem && younger.unit == ExecUnit::kMem) return false;
    return (Registers(event) & access_[node].written).any();
  }

  // Takes off what the end of `done` proves to have ended.
  void Retire(EventId done, std::vector<EventId>* pending) const {
    const uint32_t node = NodeOf(done);
    const ResultOrder order = IsRead(done) ? ResultOrder::kUnordered : ResultOrderOf(*nodes_[node].inst);
    const bool reads_in_order = ReadsInOrder(*nodes_[node].inst);
    std::erase_if(*pending, [&](EventId event) {
      const uint32_t other = NodeOf(event);
      if (event == done || (!IsRead(done) && other == node)) return true;
      if (other >= node || nodes_[other].block != nodes_[node].block) return false;
      if (order != ResultOrder::kUnordered && ResultOrderOf(*nodes_[other].inst) == order) return true;
      return IsRead(event) && reads_in_order && ReadsInOrder(*nodes_[other].inst);
    });
  }

  // Events in conflict with `node`, results before readings (an instruction that has ended has read), the
  // latest first; `act` may take events off.
  template <typename Act>
  void ForConflicts(uint32_t node, std::vector<EventId>* pending, const Act& act) {
    if (pending->empty() || access_[node].touched.none()) return;
    for (const bool read : {false, true}) {
      for (size_t i = pending->size(); i-- > 0;) {
        if (i >= pending->size()) continue;
        const EventId event = (*pending)[i];
        if (IsRead(event) == read && Conflicts(event, node)) act(event);
      }
    }
  }

  void Issue(uint32_t node, std::vector<EventId>* pending) const {
    for (const EventId event : {2 * node, 2 * node + 1}) {
      if (!events_[event].exists) continue;
      std::erase(*pending, event);  // of the loop's last round
      pending->push_back(event);
    }
    if (pending->size() > kMaxPending) pending->erase(pending->begin());
  }

  void Discover(uint32_t node, std::vector<EventId>* pending) {
    ForConflicts(node, pending, [&](EventId event) {
      const uint32_t from = NodeOf(event);
      const auto count = static_cast<uint32_t>(nodes_.size());
      const uint32_t key = node > from ? node : node + count;
      events_[event].needed = true;
      events_[event].consumer_key = std::min(events_[event].consumer_key, key);
      Retire(event, pending);
    });
    Issue(node, pending);
  }

  void Wait(uint32_t node, std::vector<EventId>* pending) {
    uint8_t mask = keep_ ? bits_[node].wait_mask : uint8_t{0};
    ForConflicts(node, pending, [&](EventId event) {
      if (events_[event].counter == kNone) {
        Assign(event, {});
        missed_ = true;
      }
      mask |= static_cast<uint8_t>(1 << events_[event].counter);
      Retire(event, pending);
    });
    bits_[node].wait_mask = mask;
    if (mask != 0) RetireCounters(mask, pending);
    Issue(node, pending);
  }

  void RetireCounters(uint8_t mask, std::vector<EventId>* pending) const {
    for (size_t i = pending->size(); i-- > 0;) {
      if (i >= pending->size()) continue;
      const EventId event = (*pending)[i];
      const uint8_t counter = events_[event].counter;
      if (counter != kNone && (mask >> counter & 1)) Retire(event, pending);
    }
  }

  // Runs `step` over the blocks until the outstanding events at their ends no longer change. False: they
  // still do.
  template <typename Forget, typename Step>
  bool Settle(const Forget& forget, const Step& step) {
    exits_.assign(graph_.blocks.size(), {});
    bool changed = true;
    for (int pass = 0; changed && pass < kMaxPasses; ++pass) {
      changed = false;
      if (!keep_) forget();
      for (uint32_t b = 0; b < graph_.blocks.size(); ++b) {
        std::vector<EventId> pending = Entry(b);
        const SynthBlock& block = graph_.blocks[b];
        for (uint32_t n = block.begin; n < block.end; ++n) step(n, &pending);
        std::sort(pending.begin(), pending.end());
        if (pending == exits_[b]) continue;
        exits_[b] = std::move(pending);
        changed = true;
      }
    }
    return !changed;
  }

  std::vector<EventId> Entry(uint32_t b) const {
    const SynthBlock& block = graph_.blocks[b];
    if (block.preds.size() == 1) return exits_[block.preds[0]];
    std::vector<EventId> pending;
    for (const uint32_t p : block.preds) pending.insert(pending.end(), exits_[p].begin(), exits_[p].end());
    std::sort(pending.begin(), pending.end());
    pending.erase(std::unique(pending.begin(), pending.end()), pending.end());
    if (pending.size() > kMaxPending) {
      pending.erase(pending.begin(), pending.end() - static_cast<std::ptrdiff_t>(kMaxPending));
    }
    return pending;
  }

  // One walk in program order; of edges that lead back only events with a counter are known.
  void AssignAll() {
    exits_.assign(graph_.blocks.size(), {});
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b) {
      std::vector<EventId> pending = Entry(b);
      const SynthBlock& block = graph_.blocks[b];
      for (uint32_t n = block.begin; n < block.end; ++n) {
        uint8_t waited = 0;
        ForConflicts(n, &pending, [&](EventId event) {
          if (events_[event].counter != kNone) waited |= static_cast<uint8_t>(1 << events_[event].counter);
          Retire(event, &pending);
        });
        if (waited != 0) RetireCounters(waited, &pending);
        for (const EventId event : {2 * n, 2 * n + 1}) {
          if (events_[event].needed) Assign(event, pending);
        }
        Issue(n, &pending);
      }
      std::sort(pending.begin(), pending.end());
      exits_[b] = std::move(pending);
    }
  }

  void Assign(EventId event, const std::vector<EventId>& pending) {
    const uint32_t key = events_[event].consumer_key;
    std::array<bool, kNumCounters> busy{};
    std::array<uint32_t, kNumCounters> distance{};
    distance.fill(std::numeric_limits<uint32_t>::max());
    for (const EventId other : pending) {
      const uint8_t counter = events_[other].counter;
      if (counter == kNone) continue;
      const uint32_t other_key = events_[other].consumer_key;
      const uint32_t gap = other_key > key ? other_key - key : key - other_key;
      busy[counter] = true;
      distance[counter] = std::min(distance[counter], gap);
    }
    const uint8_t taken = IsRead(event) ? bits_[NodeOf(event)].write_counter : kNone;
    const uint8_t counter = Choose(busy, distance, taken);
    events_[event].counter = counter;
    last_use_[counter] = ++uses_;
    ControlBits& bits = bits_[NodeOf(event)];
    (IsRead(event) ? bits.read_counter : bits.write_counter) = counter;
  }

  uint8_t Choose(const std::array<bool, kNumCounters>& busy,
                 const std::array<uint32_t, kNumCounters>& distance, uint8_t taken) const {
    const auto rank = [&](int c) {  // smaller is better
      const int kind = busy[c] ? (distance[c] == 0 ? 0 : 2) : 1;
      return std::array<uint64_t, 3>{static_cast<uint64_t>(kind), kind == 2 ? distance[c] : 0, last_use_[c]};
    };
    int best = -1;
    for (int c = first_counter_; c < kNumCounters; ++c) {
      if (c == taken) continue;
      if (best < 0 || rank(c) < rank(best)) best = c;
    }
    return static_cast<uint8_t>(best);
  }

  const SynthGraph& graph_;
  SynthBits& bits_;
  const std::vector<SynthNode>& nodes_;
  const bool sm90_;
  std::vector<Event> events_;
  std::vector<Access> access_;
  std::vector<std::vector<EventId>> exits_;  // by block: outstanding at its end, ascending
  int first_counter_ = 0;
  std::array<uint64_t, kNumCounters> last_use_{};
  uint64_t uses_ = 0;
  bool missed_ = false;
  bool keep_ = false;  // findings of earlier passes
};

}  // namespace

void SynthesiseCounters(const SynthGraph& graph, uint8_t* group_counter, SynthBits* bits) {
  CounterSynthesis(graph, bits).Run(group_counter);
}

}  // namespace sm89
