// Static tables to bytes and back (declared in metadata.h).
#include <algorithm>
#include <numeric>

#include "sim/base/assert.h"
#include "sim/trace/metadata.h"

namespace sm89 {
namespace {

constexpr uint8_t kHasImmediate = 1;
constexpr uint8_t kHasEncoding = 2;

void AppendRegs(std::string* out, const RegRef* regs, size_t count) {
  AppendVarint(out, count);
  for (size_t i = 0; i < count; ++i) {
    out->push_back(static_cast<char>(regs[i].file));
    out->push_back(static_cast<char>(regs[i].index));
  }
}

uint8_t ReadRegs(ByteReader* in, RegRef* regs, size_t limit) {
  const uint64_t count = in->VarintBelow(limit + 1);
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t file = in->U8();
    if (file > static_cast<uint8_t>(RegFile::kUniformPredicate)) in->Fail();
    regs[i] = {static_cast<RegFile>(file), in->U8()};
  }
  return static_cast<uint8_t>(count);
}

StaticInst ReadStaticInst(ByteReader* in) {
  StaticInst inst;
  inst.pc = static_cast<uint32_t>(in->VarintBelow(uint64_t{1} << 32));
  inst.opcode = in->Bytes();
  inst.num_dests = ReadRegs(in, inst.dests.data(), inst.dests.size());
  inst.num_sources = ReadRegs(in, inst.sources.data(), inst.sources.size());
  inst.declared_width_bytes = in->U8();
  const uint8_t flags = in->U8();
  if (flags > (kHasImmediate | kHasEncoding)) in->Fail();
  inst.has_immediate = (flags & kHasImmediate) != 0;
  inst.has_encoding = (flags & kHasEncoding) != 0;
  inst.immediate = static_cast<int64_t>(in->Zigzag());
  inst.immediate2 = static_cast<int64_t>(in->Zigzag());
  inst.source_line = static_cast<uint32_t>(in->VarintBelow(uint64_t{1} << 32));
  if (inst.has_encoding) {
    const std::string_view bytes = in->Raw(inst.encoding.size());
    std::copy(bytes.begin(), bytes.end(), inst.encoding.begin());
  }
  return inst;
}

bool ReadTable(ByteReader* in, uint64_t limit, StaticTableData* table) {
  const uint64_t count = in->Count(10, limit);
  table->insts.reserve(count);
  table->by_stream_id.resize(count);
  std::vector<bool> taken(count, false);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t stream_id = (i + in->Varint()) % count;
    const uint64_t slot = in->VarintBelow(kMaxSlots + 1);
    if (!in->ok() || taken[stream_id]) return false;
    taken[stream_id] = true;
    StreamStatic& entry = table->by_stream_id[stream_id];
    entry.static_id = static_cast<uint32_t>(i);
    if (slot != 0) {
      entry.slot = static_cast<uint32_t>(slot - 1);
      table->num_slots = std::max(table->num_slots, static_cast<uint32_t>(slot));
    }
    table->insts.push_back(ReadStaticInst(in));
  }
  return in->ok();
}

}  // namespace

void AppendStaticInst(std::string* out, const StaticInst& inst) {
  SM89_ASSERT(inst.num_dests <= kMaxDests, "at most kMaxDests destinations");
  SM89_ASSERT(inst.num_sources <= kMaxSources, "at most kMaxSources sources");
  AppendVarint(out, inst.pc);
  AppendBytes(out, inst.opcode);
  AppendRegs(out, inst.dests.data(), inst.num_dests);
  AppendRegs(out, inst.sources.data(), inst.num_sources);
  out->push_back(static_cast<char>(inst.declared_width_bytes));
  out->push_back(
      static_cast<char>((inst.has_immediate ? kHasImmediate : 0) | (inst.has_encoding ? kHasEncoding : 0)));
  AppendZigzag(out, static_cast<uint64_t>(inst.immediate));
  AppendZigzag(out, static_cast<uint64_t>(inst.immediate2));
  AppendVarint(out, inst.source_line);
  if (inst.has_encoding) out->append(inst.encoding.begin(), inst.encoding.end());
}

std::string EncodeStaticTable(const std::vector<const StaticInst*>& by_stream_id,
                              const std::vector<uint32_t>& slots) {
  const uint64_t count = by_stream_id.size();
  SM89_ASSERT(slots.size() == count, "one slot entry a static instruction");
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return by_stream_id[a]->pc < by_stream_id[b]->pc; });
  std::string out;
  AppendVarint(&out, count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t stream_id = order[i];
    // Distance from the place in the table, modulo the count: 0 all along when code was met in pc order.
    AppendVarint(&out, (stream_id + count - i) % count);
    AppendVarint(&out, slots[stream_id] == UINT32_MAX ? 0 : uint64_t{slots[stream_id]} + 1);
    AppendStaticInst(&out, *by_stream_id[stream_id]);
  }
  return out;
}

bool DecodeStaticTables(std::string_view bytes, std::vector<StaticTableData>* tables) {
  ByteReader in(bytes);
  tables->resize(in.Count(1, kMaxKernels));
  uint64_t left = kMaxStatics;
  for (StaticTableData& table : *tables) {
    if (!ReadTable(&in, left, &table)) return false;
    left -= table.insts.size();
    for (size_t i = 1; i < table.insts.size(); ++i) {
      if (table.insts[i].pc < table.insts[i - 1].pc) return false;
    }
  }
  return in.ok() && in.AtEnd();
}

}  // namespace sm89
