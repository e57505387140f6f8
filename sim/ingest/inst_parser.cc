#include "sim/ingest/inst_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"
#include "sim/ingest/limits.h"
#include "sim/isa/modifiers.h"

namespace sm89 {
namespace {

constexpr size_t kBuckets = 4096;  // power of two; instructions are 16 bytes apart (8 before SM70)
constexpr size_t kMaxKnown = 65536;
constexpr size_t kMaxVariants = 16;  // immediates remembered a static text

size_t BucketOf(uint32_t pc) { return (pc >> 4 ^ pc << 8) & (kBuckets - 1); }

// Exactly eight digits, as the tracer prints masks: this tells the mask from every other column.
bool ParseMask(std::string_view token, LaneMask* mask) {
  if (token.size() != 8) return false;
  uint32_t value = 0;
  for (const char c : token) {
    const int digit = HexDigit(c);
    if (digit < 0) return false;
    value = value << 4 | static_cast<uint32_t>(digit);
  }
  *mask = value;
  return true;
}

bool ParsePc(std::string_view token, uint32_t* pc) {
  if (token.empty() || token.size() > 8) return false;
  uint32_t value = 0;
  for (const char c : token) {
    const int digit = HexDigit(c);
    if (digit < 0) return false;
    value = value << 4 | static_cast<uint32_t>(digit);
  }
  *pc = value;
  return true;
}

bool ParseSmall(std::string_view token, uint64_t max, uint32_t* out) {
  const std::optional<uint64_t> value = ParseUnsigned(token);
  if (!value || *value > max) return false;
  *out = static_cast<uint32_t>(*value);
  return true;
}

struct RegFileRow {
  std::string_view prefix;
  RegFile file;
  uint32_t max_index;
};
// Longest prefix first.
constexpr std::array<RegFileRow, 4> kRegFiles = {{
    {"UR", RegFile::kUniform, 63},
    {"UP", RegFile::kUniformPredicate, 7},
    {"R", RegFile::kGeneral, 255},
    {"P", RegFile::kPredicate, 7},
}};

bool ParseRegister(std::string_view token, RegRef* out) {
  for (const RegFileRow& row : kRegFiles) {
    if (!absl::StartsWith(Av(token), Av(row.prefix))) continue;
    uint32_t index = 0;
    if (!ParseSmall(token.substr(row.prefix.size()), row.max_index, &index)) return false;
    *out = {row.file, static_cast<uint8_t>(index)};
    return true;
  }
  return false;
}

bool IsOpcodeText(std::string_view token) {
  if (token.empty() || token.size() > kMaxOpcodeBytes) return false;
  if (token[0] < 'A' || token[0] > 'Z') return false;
  return std::all_of(token.begin(), token.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
  });
}

}  // namespace

InstParser::InstParser(LineFormat format, std::string file, StaticTable& table)
    : format_(format), file_(std::move(file)), table_(table), buckets_(kBuckets, 0) {}

bool InstParser::Parse(std::string_view line, uint64_t number, ParsedInst* out) {
  line_ = line;
  line_number_ = number;
  Cursor cursor(line);
  Head head;
  if (!ParseHead(cursor, &head)) return false;
  cursor.SkipBlanks();
  Known* known = Find(head, cursor.Rest());
  if (known == nullptr) {
    known = Learn(head, cursor.Rest());
    if (known == nullptr) return false;
  }
  cursor.Advance(known->text.size());
  if (!ParseTail(cursor, known->shape, head.mask, format_.immediate, &out->tail)) [[unlikely]] {
    fault_ = DiagnoseTail(cursor.Rest(), known->shape, head.mask, format_.immediate);
    fault_.file = file_;
    fault_.line = number;
    fault_.facts.insert(fault_.facts.begin(), {"pc", FormatHex(head.pc)});
    return false;
  }
  out->mask = head.mask;
  return StaticId(*known, out->tail, &out->static_id);
}

bool InstParser::ParseHead(Cursor& cursor, Head* head) {
  if (format_.has_source_line) {
    const std::string_view token = cursor.Token();
    if (!ParseSmall(token, std::numeric_limits<uint32_t>::max(), &head->source_line)) {
      return Fail("source line", token, "a decimal number (the header enables lineinfo)", "bad source line");
    }
  }
  const std::string_view first = cursor.Token();
  const std::string_view second = cursor.Token();
  if (!ParseMask(second, &head->mask)) {
    return ParsePrefixedHead(first, second, cursor, head);
  }
  if (ParsePc(first, &head->pc)) return true;
  return Fail("pc", first, "1 to 8 hexadecimal digits", "bad program counter");
}

// Versions before 3 repeat block and warp on every line.
bool InstParser::ParsePrefixedHead(std::string_view first, std::string_view second, Cursor& cursor,
                                   Head* head) {
  const std::string_view third = cursor.Token();
  const std::string_view fourth = cursor.Token();
  const std::string_view pc = cursor.Token();
  Dim3 cta;
  uint32_t warp = 0;
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  if (!ParseSmall(first, kMax, &cta.x) || !ParseSmall(second, kMax, &cta.y) ||
      !ParseSmall(third, kMax, &cta.z) || !ParseSmall(fourth, kMax, &warp) || !ParsePc(pc, &head->pc) ||
      !ParseMask(cursor.Token(), &head->mask)) {
    return Fail("line", line_, "[x y z warp] PC MASK ..., the mask being 8 hexadecimal digits",
                "this is no instruction line");
  }
  if (cta == cta_ && warp == warp_) return true;
  return Fail("block and warp", absl::StrCat(FormatTriple(cta), " warp ", warp),
              absl::StrCat(FormatTriple(cta_), " warp ", warp_), "the line belongs to another section");
}

InstParser::Known* InstParser::Find(const Head& head, std::string_view rest) {
  for (uint32_t at = buckets_[BucketOf(head.pc)]; at != 0;) {
    Known& known = known_[at - 1];
    const size_t size = known.text.size();
    if (known.pc == head.pc && known.source_line == head.source_line && rest.size() >= size &&
        std::memcmp(rest.data(), known.text.data(), size) == 0 &&
        (rest.size() == size || IsBlank(rest[size]))) {
      return &known;
    }
    at = known.next;
  }
  return nullptr;
}

InstParser::Known* InstParser::Learn(const Head& head, std::string_view rest) {
  Known known;
  known.pc = head.pc;
  known.source_line = head.source_line;
  known.inst.pc = head.pc;
  known.inst.source_line = head.source_line;
  Cursor cursor(rest);
  if (!ParseOperands(cursor, head, &known.inst, &known.shape)) return nullptr;
  known.text = std::string(rest.substr(0, static_cast<size_t>(cursor.at() - rest.data())));
  if (known_.size() >= kMaxKnown) {  // only a memory of what was parsed: start again
    known_.clear();
    std::fill(buckets_.begin(), buckets_.end(), 0);
  }
  uint32_t& bucket = buckets_[BucketOf(head.pc)];
  known.next = bucket;
  known_.push_back(std::move(known));
  bucket = static_cast<uint32_t>(known_.size());
  return &known_.back();
}

bool InstParser::ParseOperands(Cursor& cursor, const Head& head, StaticInst* inst, TailShape* shape) {
  if (!ParseRegisters(cursor, "destinations", kMaxDests, &inst->num_dests, inst->dests.data())) return false;
  const std::string_view opcode = cursor.Token();
  if (!IsOpcodeText(opcode)) return Fail("opcode", opcode, "an opcode such as LDG.E.128", "bad opcode");
  inst->opcode = std::string(opcode);
  if (!ParseRegisters(cursor, "sources", kMaxSources, &inst->num_sources, inst->sources.data())) return false;
  const bool is_v6 = format_.immediate == LineFormat::Immediate::kTwo;
  if (is_v6 && absl::StrContains(Av(BaseMnemonic(opcode)), "GMMA")) {
    const std::string_view flag = cursor.Token();
    if (flag != "0" && flag != "1") return Fail("commit flag", flag, "0 or 1", "bad warp-group flag");
  }
  const std::string_view width = cursor.Token();
  uint32_t bytes = 0;
  if (!ParseSmall(width, 255, &bytes)) {
    return Fail("mem_width", width, "0..255 bytes a lane",
                absl::StrCat("bad memory width at pc ", FormatHex(head.pc)));
  }
  inst->declared_width_bytes = static_cast<uint8_t>(bytes);
  shape->mem_width = inst->declared_width_bytes;
  shape->is_tma = is_v6 && IsTmaOpcode(opcode);
  shape->num_registers = static_cast<uint8_t>(inst->num_dests + inst->num_sources);
  return true;
}

bool InstParser::ParseRegisters(Cursor& cursor, const char* what, size_t max, uint8_t* count, RegRef* out) {
  const std::string_view token = cursor.Token();
  uint32_t number = 0;
  if (!ParseSmall(token, max, &number)) {
    return Fail(absl::StrCat("number of ", what), token, absl::StrCat("0..", max), "bad operand count");
  }
  *count = static_cast<uint8_t>(number);
  for (uint32_t i = 0; i < number; ++i) {
    const std::string_view name = cursor.Token();
    if (!ParseRegister(name, &out[i])) {
      return Fail(what, name, "R0..R255, UR0..UR63, P0..P7 or UP0..UP7", "bad register");
    }
  }
  return true;
}

bool InstParser::StaticId(Known& known, const Tail& tail, uint32_t* id) {
  for (const Known::Variant& variant : known.variants) {
    if (variant.has_immediate == tail.has_immediate && variant.immediate == tail.immediate &&
        variant.immediate2 == tail.immediate2) {
      *id = variant.static_id;
      return true;
    }
  }
  StaticInst inst = known.inst;
  inst.has_immediate = tail.has_immediate;
  inst.immediate = tail.immediate;
  inst.immediate2 = tail.immediate2;
  const std::optional<uint32_t> added = table_.Intern(inst, line_number_);
  if (!added) {
    return Fail("static instructions", "", absl::StrCat("at most ", kMaxStaticInsts, " a kernel"),
                "the kernel has too many different instructions");
  }
  *id = *added;
  if (known.variants.size() < kMaxVariants) {
    known.variants.push_back({tail.has_immediate, tail.immediate, tail.immediate2, *added});
  }
  return true;
}

bool InstParser::Fail(std::string field, std::string_view value, std::string expected, std::string message) {
  fault_ = Fault();
  fault_.file = file_;
  fault_.line = line_number_;
  fault_.field = std::move(field);
  fault_.value = Excerpt(value);
  fault_.expected = std::move(expected);
  fault_.message = std::move(message);
  return false;
}

}  // namespace sm89
