#include "sim/debug/stops.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/isa/register_text.h"
#include "sim/report/text.h"

namespace sm89::debug {
namespace {

constexpr uint64_t kMost32 = UINT32_MAX;

// "LDG" and "LDG.E" are beginnings of "LDG.E.128", "LD" is not.
bool IsOpcode(const std::string& opcode, const std::string& begin) {
  return opcode.starts_with(begin) && (opcode.size() == begin.size() || opcode[begin.size()] == '.');
}

bool Reads(MemOp op) {
  return op == MemOp::kLoad || op == MemOp::kLoadMatrix || op == MemOp::kLoadToShared || op == MemOp::kAtomic;
}
bool Writes(MemOp op) { return IsAcknowledged(op) || op == MemOp::kAtomic; }

absl::StatusOr<uint32_t> Take32(Words* words, const std::string& what, uint64_t least) {
  ASSIGN_OR_RETURN(const uint64_t value, words->TakeNumber(what, least, kMost32));
  return static_cast<uint32_t>(value);
}

}  // namespace

bool Place::HoldsWarp(uint32_t in_kernel, const Dim3& in_cta, uint32_t in_warp, uint32_t on_sm) const {
  return kernel.value_or(in_kernel) == in_kernel && cta.value_or(in_cta) == in_cta &&
         warp.value_or(in_warp) == in_warp && sm.value_or(on_sm) == on_sm;
}

bool Place::Is(const StaticInst& inst) const {
  return pc.value_or(inst.pc) == inst.pc && line.value_or(inst.source_line) == inst.source_line &&
         (op.empty() || IsOpcode(inst.opcode, op));
}

bool Place::Holds(const Issue& issue) const {
  return Is(issue.inst) && HoldsWarp(issue.kernel, issue.what.cta, issue.what.warp, issue.what.sm);
}

std::string Place::Text() const {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    absl::StrAppend(&text, text.empty() ? "" : " ", name, " ", value);
  };
  if (kernel) add("kernel", absl::StrCat(uint64_t{*kernel} + 1));
  if (cta) add("cta", absl::StrCat(cta->x, ",", cta->y, ",", cta->z));
  if (warp) add("warp", absl::StrCat(*warp));
  if (sm) add("sm", absl::StrCat(*sm));
  if (pc) add("pc", HexText(*pc, 4));
  if (!op.empty()) add("op", Printable(op));
  if (line) add("line", absl::StrCat(*line));
  return text;
}

absl::StatusOr<Place> TakePlace(Words* words) {
  Place place;
  std::vector<std::string> seen;
  while (!words->empty()) {
    const std::string word = words->Peek();
    if (std::find(seen.begin(), seen.end(), word) != seen.end()) {
      return Mistake(word, "", "each word of a place once", "given twice");
    }
    seen.push_back(word);
    if (words->TakeIf("kernel")) {
      ASSIGN_OR_RETURN(place.kernel, Take32(words, "kernel", 1));
      --*place.kernel;
    } else if (words->TakeIf("cta")) {
      ASSIGN_OR_RETURN(const std::string text, words->TakeFor("cta", "coordinates X, X,Y or X,Y,Z"));
      ASSIGN_OR_RETURN(place.cta, ParseDim("cta", text));
    } else if (words->TakeIf("warp")) {
      ASSIGN_OR_RETURN(place.warp, Take32(words, "warp", 0));
    } else if (words->TakeIf("sm")) {
      ASSIGN_OR_RETURN(place.sm, Take32(words, "sm", 0));
    } else if (words->TakeIf("pc")) {
      ASSIGN_OR_RETURN(place.pc, Take32(words, "pc", 0));
    } else if (words->TakeIf("line")) {
      ASSIGN_OR_RETURN(place.line, Take32(words, "line", 1));
    } else if (words->TakeIf("op")) {
      ASSIGN_OR_RETURN(place.op, words->TakeFor("op", "an opcode, as LDG or LDG.E"));
    } else {
      break;
    }
  }
  return place;
}

std::string_view Name(LaneSpace space) {
  switch (space) {
    case LaneSpace::kGlobal:
      return "global";
    case LaneSpace::kShared:
      return "shared";
    case LaneSpace::kLocal:
      return "local";
  }
  return "?";
}

absl::StatusOr<LaneSpace> ParseSpace(std::string_view text) {
  for (const LaneSpace space : {LaneSpace::kGlobal, LaneSpace::kShared, LaneSpace::kLocal}) {
    if (text == Name(space)) return space;
  }
  return Mistake("space", text, "global, shared or local");
}

uint64_t AddressIn(LaneSpace space, const KernelCode& kernel, uint64_t address) {
  const uint64_t base = space == LaneSpace::kShared  ? kernel.shmem_base
                        : space == LaneSpace::kLocal ? kernel.local_base
                                                     : 0;
  return base != 0 && address - base < kGenericWindowBytes ? address - base : address;
}

LaneMask MemoryWatch::Touches(const Issue& issue) const {
  const SmInst& code = *issue.what.code;
  const KernelCode& kernel = *issue.what.kernel_code;
  if (!(reads && Reads(code.mem_op)) && !(writes && Writes(code.mem_op))) return 0;
  const uint64_t width = std::max<uint64_t>(code.width_bytes, 1);
  LaneMask touched = 0;
  for (const LaneAddress& lane : LaneAddresses(code, *issue.what.inst, kernel)) {
    if (lane.space != space) continue;
    const uint64_t at = AddressIn(space, kernel, lane.address);
    // Neither sum can wrap round: [at, at + width) meets [address, address + bytes).
    if (at >= address ? at - address < bytes : address - at < width) touched |= LaneMask{1} << lane.lane;
  }
  return touched;
}

std::string MemoryWatch::Text() const {
  std::string text = absl::StrCat(Av(Name(space)), " ", HexText(address));
  if (bytes != 1) absl::StrAppend(&text, " ", bytes);
  if (!reads || !writes) absl::StrAppend(&text, reads ? " read" : " write");
  return text;
}

Place RegisterWatch::Where() const {
  Place place;
  place.kernel = kernel;
  place.cta = cta;
  place.warp = warp;
  return place;
}

bool RegisterWatch::Holds(const Issue& issue) const {
  return issue.kernel == kernel && issue.what.warp == warp && issue.what.cta == cta &&
         std::binary_search(changes.begin(), changes.end(), issue.what.number);
}

std::string RegisterWatch::Text() const {
  std::string text = RegistersText({file, static_cast<uint8_t>(index), 1});
  if (lane) absl::StrAppend(&text, " lane ", *lane);
  return absl::StrCat(text, " of kernel ", uint64_t{kernel} + 1, " CTA ", DimText(cta), " warp ", warp);
}

bool Stop::Hits(const Issue& issue) const {
  if (cycle.has_value() || memory.has_value()) return false;
  if (reg.has_value()) return reg->Holds(issue);
  if (!place.Holds(issue)) return false;
  if (place.of_instruction()) return true;
  if (issue.what.number != 0) return false;
  if (place.warp) return true;
  return place.cta || place.sm ? issue.first_of_cta : issue.first_of_run;
}

std::string Stop::Name() const {
  return absl::StrCat(is_watch() ? "watch " : temporary ? "temporary breakpoint " : "breakpoint ", number);
}

std::string Stop::What() const {
  std::string text;
  if (cycle) absl::StrAppend(&text, "cycle ", *cycle);
  if (memory) text += memory->Text();
  if (reg) text += reg->Text();
  if (const std::string where = place.Text(); !where.empty()) {
    absl::StrAppend(&text, memory ? " " : "", where);
  }
  return text;
}

}  // namespace sm89::debug
