// What a machine word means: the rows of form_table*.cc, expanded into one Form an encoding.
//
// A row is text in a small language, parsed once at first use:
//   code       "021/246e": nine opcode bits and the operand patterns that exist (bits [11:9]; c and e set bit
//   91).
//              2 = register sources, 8/a/c = source B is an immediate / a constant / a uniform register,
//              4/6/e = the same for source C (B then moves to [71:64]). "0918": one opcode of 13 bits.
//              A leading 'u': uniform datapath (registers UR, predicates UP, guard UP).
//   operands   in printing order: NAME[=KINDbits][:flags]. NAME gives the slot and, where no KINDbits follow,
//              kind and place. [ ... ] is a memory address; "text literal text; {key@bits} a modifier that is
//              printed as an operand.
//              flags: n neg, a abs, i inverted, r reuse; f d p s u immediate as FP32, FP64, FP16 pair,
//              signed, unsigned; v sign bits of the packed FP16 place; ?N hidden when it is the default (PT,
//              RZ or the number N); *X registers (a digit or a rule, see RegsRule); z offset is unsigned when
//              A is RZ; xN scaled by N; y the index of the constant that follows; j no comma before it; !
//              never printed.
//   modifiers  in printing order: key@bits (a key of modifier_table.cc), key=value (implied by the opcode),
//              .TEXT (printed), each with SLOT/ in front when it is printed after that operand.
//              bits: "80", "79:78", "85+78" (most significant first); $B, $C: swizzle bits of that source's
//              place.
//   fixed      "74=0 89:87=7": bits that this row demands.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/sass/fields.h"
#include "sim/sass/instruction.h"

namespace sm89::sass {

// Up to three bit ranges, most significant first.
struct BitField {
  struct Range {
    uint8_t first = 0;
    uint8_t count = 0;
  };
  std::array<Range, 3> ranges;
  uint8_t num_ranges = 0;

  uint64_t Of(const Word128& word) const {
    uint64_t value = 0;
    for (int i = 0; i < num_ranges; ++i) {
      value = (value << ranges[i].count) | word.Bits(ranges[i].first, ranges[i].count);
    }
    return value;
  }
  unsigned width() const {
    unsigned sum = 0;
    for (int i = 0; i < num_ranges; ++i) sum += ranges[i].count;
    return sum;
  }
  void AddTo(Word128& mask) const;
};

// How many registers an operand covers.
enum class RegsRule : uint8_t {
  kFixed,       // the number itself
  kMemSize,     // *z: MemSize
  kAtomSize,    // *t: AtomSize
  kSharedSize,  // *o: kAtomSharedSize
  kExtended,    // *e: 2 when kE is set
  kIs64,        // *q: 2 when k64 is set
  kMatch64,     // *k
  kMma,         // *m: tensor shapes and types
  kLdsm,        // *l: LDSM count
  kMovm,        // *w: MOVM mode
  kRa64,        // *g: LDGSTS address
  kSurface,     // *i: coordinates of a surface
  kTexture,     // *x: by kind of texture and mask
};

struct NameList {
  Field field = Field::kNone;
  std::vector<std::string> names;  // by value; "-" = no such value, "" = valid and not printed
};

struct ModifierSpec {
  Field field = Field::kNone;  // kNone: text only
  BitField bits;               // no ranges: `constant`
  uint32_t constant = 0;
  const NameList* list = nullptr;
  std::string text;
  bool attached = false;    // printed after operand `slot`
  bool is_operand = false;  // printed in an operand's place
  Slot slot = Slot::kD;

  uint32_t Of(const Word128& word) const {
    return bits.num_ranges == 0 ? constant : static_cast<uint32_t>(bits.Of(word));
  }
};

struct OperandSpec {
  OperandKind kind = OperandKind::kNone;  // kNone: printed text or a modifier only
  Slot slot = Slot::kD;
  bool is_dest = false;
  BitField bits;
  BitField bank;  // constants: bank, or uniform register of the handle
  int16_t neg_bit = -1, abs_bit = -1, inv_bit = -1, reuse_bit = -1;
  uint8_t scale = 1;
  bool is_signed = false;
  bool complement = false;      // the 4-bit predicate field of loads and MMAs
  bool unsigned_if_rz = false;  // z
  bool indexes = false;         // y: printed inside the constant that follows
  bool joined = false;          // j: no comma before it
  bool spaced = false;          // a constant printed as c[0x0] [0x4], as FP16 forms are
  bool never_printed = false;   // !
  bool hide = false;            // ?
  int64_t hide_value = 0;
  bool opens = false, closes = false;  // of [ ]
  RegsRule rule = RegsRule::kFixed;
  uint8_t regs = 1;
  std::string text;   // literal
  int modifier = -1;  // index into Form::modifiers of an operand that is one
};

struct Form {
  Op op = Op::kNop;
  uint16_t opcode = 0;  // bits [11:0], bit 12 = word bit 91
  bool uniform = false;
  uint32_t min_arch = 0, max_arch = 0;
  std::vector<OperandSpec> operands;
  std::vector<ModifierSpec> modifiers;
  Word128 fixed_mask, fixed_value;
  Word128 explained;  // every bit that some field or rule accounts for
  std::array<int8_t, static_cast<size_t>(Field::kCount)> modifier_of;  // -1 = absent
};

struct Row {
  Op op;
  const char* code;
  const char* operands;
  const char* modifiers = "";
  const char* fixed = "";
  uint32_t min_arch = 80;
  uint32_t max_arch = 90;
};

// All forms whose opcode bits are `opcode` (13 bits), in the order they are to be tried.
std::span<const Form> FormsOf(uint32_t opcode);
// Every form, ordered by opcode.
std::span<const Form> AllForms();

// Parts of the table.
std::span<const Row> FloatRows();
std::span<const Row> IntegerRows();
std::span<const Row> ConvertRows();
std::span<const Row> TensorRows();
std::span<const Row> MemoryRows();
std::span<const Row> TextureRows();
std::span<const Row> ControlRows();
std::span<const Row> UniformRows();
// Null when there is no such key.
const NameList* FindNameList(std::string_view key);
// Appends the forms of one row.
void ExpandRow(const Row& row, std::vector<Form>& forms);

}  // namespace sm89::sass
