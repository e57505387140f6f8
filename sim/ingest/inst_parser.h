// One instruction line -> static instruction, mask, addresses. Remembers the static text met at each PC, so
// that a line of a loop costs one comparison instead of a parse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/fault.h"
#include "sim/ingest/inst_tail.h"
#include "sim/ingest/kernel_header.h"
#include "sim/ingest/static_table.h"

namespace sm89 {

struct ParsedInst {
  uint32_t static_id = 0;
  LaneMask mask = 0;
  Tail tail;
};

// Not thread-safe.
class InstParser {
 public:
  InstParser(LineFormat format, std::string file, StaticTable& table);

  // The section that the next lines belong to; lines that carry their block and warp are checked against it.
  void SetSection(const Dim3& cta, uint32_t warp) {
    cta_ = cta;
    warp_ = warp;
  }
  // False: the line is malformed and fault() says how.
  bool Parse(std::string_view line, uint64_t number, ParsedInst* out);
  const Fault& fault() const { return fault_; }

 private:
  struct Head {
    uint32_t pc = 0;
    uint32_t source_line = 0;
    LaneMask mask = 0;
  };
  // A static instruction without its immediates.
  struct Known {
    uint32_t pc = 0;
    uint32_t source_line = 0;
    uint32_t next = 0;  // index + 1 of the next one in the same bucket; 0 = none
    std::string text;   // from the number of destinations to the memory width
    TailShape shape;
    StaticInst inst;
    struct Variant {
      bool has_immediate = false;
      int64_t immediate = 0;
      int64_t immediate2 = 0;
      uint32_t static_id = 0;
    };
    std::vector<Variant> variants;
  };

  bool ParseHead(Cursor& cursor, Head* head);
  bool ParsePrefixedHead(std::string_view first, std::string_view second, Cursor& cursor, Head* head);
  Known* Find(const Head& head, std::string_view rest);
  // Parses the static part and remembers it; null with fault_ set when it is malformed.
  Known* Learn(const Head& head, std::string_view rest);
  bool ParseOperands(Cursor& cursor, const Head& head, StaticInst* inst, TailShape* shape);
  bool ParseRegisters(Cursor& cursor, const char* what, size_t max, uint8_t* count, RegRef* out);
  bool StaticId(Known& known, const Tail& tail, uint32_t* id);
  bool Fail(std::string field, std::string_view value, std::string expected, std::string message);

  const LineFormat format_;
  const std::string file_;
  StaticTable& table_;
  Dim3 cta_;
  uint32_t warp_ = 0;
  std::string_view line_;
  uint64_t line_number_ = 0;
  std::vector<uint32_t> buckets_;  // index + 1 into known_; 0 = empty
  std::vector<Known> known_;
  Fault fault_;
};

// What is wrong with a tail that ParseTail refused. `tail` is the text behind the memory width.
Fault DiagnoseTail(std::string_view tail, const TailShape& shape, LaneMask mask,
                   LineFormat::Immediate immediate);

}  // namespace sm89
