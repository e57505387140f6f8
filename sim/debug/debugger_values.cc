// Registers and predicates: values of the executed code, not of the timing model.
#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/debug/debugger.h"
#include "sim/debug/instruction_text.h"
#include "sim/gpu/gpu.h"
#include "sim/isa/register_text.h"

namespace sm89::debug {
namespace {

constexpr int kLanesPerLine = 8;
constexpr int kMaxChangedLanes = 4;

bool AllLanesAlike(const RegisterValue& value) {
  return std::all_of(value.lanes.begin(), value.lanes.end(), [&](uint32_t v) { return v == value.lanes[0]; });
}

enum class Format { kHex, kFloat, kSigned };

std::string WordText(uint32_t word, Format format) {
  switch (format) {
    case Format::kFloat:
      return absl::StrFormat("%13.6g", static_cast<double>(std::bit_cast<float>(word)));
    case Format::kSigned:
      return absl::StrFormat("%11d", std::bit_cast<int32_t>(word));
    case Format::kHex:
      break;
  }
  return HexText(word, 8);
}

std::string ValueText(RegFile file, uint32_t index, const RegisterValue& value, Format format) {
  std::string text = absl::StrFormat("%-5s", RegistersText({file, static_cast<uint8_t>(index), 1}));
  if (file == RegFile::kUniformPredicate) return absl::StrCat(text, " ", value.lanes[0], "\n");
  if (IsUniform(file)) return absl::StrCat(text, " ", WordText(value.lanes[0], format), "\n");
  if (file == RegFile::kPredicate) {
    LaneMask mask = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) mask |= value.lanes[lane] << lane;
    return absl::StrCat(text, " lanes ", HexText(mask, 8), "\n");
  }
  if (AllLanesAlike(value))
    return absl::StrCat(text, " ", WordText(value.lanes[0], format), " in all lanes\n");
  for (int first = 0; first < kWarpSize; first += kLanesPerLine) {
    absl::StrAppendFormat(&text, "%s %2d:", first == 0 ? "" : "     ", first);
    for (int lane = first; lane < first + kLanesPerLine; ++lane) {
      absl::StrAppend(&text, " ", WordText(value.lanes[lane], format));
    }
    text += "\n";
  }
  return text;
}

std::string LaneText(RegFile file, uint32_t index, const RegisterValue& value, uint32_t lane, Format format) {
  const uint32_t word = value.lanes[IsUniform(file) ? 0 : lane];
  const bool bit = file == RegFile::kPredicate || file == RegFile::kUniformPredicate;
  return absl::StrFormat("%-5s %s\n", RegistersText({file, static_cast<uint8_t>(index), 1}),
                         bit ? absl::StrCat(word) : WordText(word, format));
}

}  // namespace

absl::StatusOr<const CtaHistory*> Debugger::HistoryOf(uint32_t kernel, const Dim3& cta) {
  if (histories_ == nullptr) {
    return absl::FailedPreconditionError(
        "a trace holds no register values; they come from machine code that is executed: give --cubin with "
        "--launch "
        "instead of --trace");
  }
  const Dim3& grid = gpu().trace().info().kernels[kernel].grid;
  const uint64_t linear = cta.x + uint64_t{grid.x} * (cta.y + uint64_t{grid.y} * cta.z);
  return histories_->Of(kernel, linear);
}

absl::StatusOr<uint64_t> Debugger::InstructionsOf(const WarpId& id, const CtaHistory& history) const {
  const auto view = ViewOfSelected();
  const uint64_t all = history.num_instructions(id.warp);
  return view.ok() ? std::min(view->issued, all) : all;  // of an ended warp: all of them
}

Debugger::Text Debugger::Registers(Words words) {
  std::vector<RegRange> ranges;
  bool all = false, before = false;
  Format format = Format::kHex;
  std::optional<uint32_t> lane;
  while (!words.empty()) {
    if (words.TakeIf("all")) {
      all = true;
    } else if (words.TakeIf("before")) {
      before = true;
    } else if (words.TakeIf("f32")) {
      format = Format::kFloat;
    } else if (words.TakeIf("s32")) {
      format = Format::kSigned;
    } else if (words.TakeIf("lane")) {
      ASSIGN_OR_RETURN(const uint64_t number, words.TakeNumber("lane", 0, kWarpSize - 1));
      lane = static_cast<uint32_t>(number);
    } else {
      ASSIGN_OR_RETURN(const RegRange range, ParseRegisters(words.Take()));
      ranges.push_back(range);
    }
  }
  ASSIGN_OR_RETURN(const WarpId id, Selected());
  ASSIGN_OR_RETURN(const CtaHistory* const history, HistoryOf(KernelOf(id.run), id.cta));
  ASSIGN_OR_RETURN(const uint64_t issued, InstructionsOf(id, *history));
  if (all) ranges.push_back({RegFile::kGeneral, 0, static_cast<uint8_t>(history->num_registers())});
  if (ranges.empty()) {
    const KeptIssue* const last = finder_.LastIssue(id.sm, id.slot);
    if (issued == 0 || last == nullptr || last->id != id || last->number + 1 != issued) {
      return absl::FailedPreconditionError(absl::StrCat("the last issued instruction of ", WarpText(id),
                                                        " is not at hand; name registers, or 'all'"));
    }
    ranges = RegistersNamedBy(StaticOf(id.run, last->inst.static_id),
                              gpu().trace().info().kernels[KernelOf(id.run)].binary_version);
  }
  const uint64_t instructions = issued - (before && issued != 0 ? 1 : 0);
  std::string text = absl::StrCat(WarpText(id), " behind ", instructions, " of its instructions\n");
  for (const RegRange& range : ranges) {
    for (uint32_t i = range.first; i < uint32_t{range.first} + range.count; ++i) {
      if (range.file == RegFile::kGeneral && i >= history->num_registers()) {
        return Mistake("register", absl::StrCat("R", i), absl::StrCat("below R", history->num_registers()),
                       "the kernel does not use it");
      }
      const RegisterValue value = history->At(id.warp, instructions, range.file, i);
      text += lane ? LaneText(range.file, i, value, *lane, format) : ValueText(range.file, i, value, format);
    }
  }
  return text;
}

Debugger::Text Debugger::Predicates(Words words) {
  const bool before = words.TakeIf("before");
  RETURN_IF_ERROR(words.Finish("preds"));
  ASSIGN_OR_RETURN(const WarpId id, Selected());
  ASSIGN_OR_RETURN(const CtaHistory* const history, HistoryOf(KernelOf(id.run), id.cta));
  ASSIGN_OR_RETURN(const uint64_t issued, InstructionsOf(id, *history));
  const uint64_t instructions = issued - (before && issued != 0 ? 1 : 0);
  std::string text = absl::StrCat(WarpText(id), " behind ", instructions, " of its instructions\n");
  for (uint32_t p = 0; p < emu::RegisterView::kNumPredicates; ++p) {
    text += ValueText(RegFile::kPredicate, p, history->At(id.warp, instructions, RegFile::kPredicate, p),
                      Format::kHex);
  }
  for (uint32_t p = 0; p < emu::RegisterView::kNumPredicates; ++p) {
    absl::StrAppend(&text, p == 0 ? "" : "  ", "UP", p, " ",
                    history->At(id.warp, instructions, RegFile::kUniformPredicate, p).lanes[0]);
  }
  return text + "\n";
}

std::string Debugger::ChangeText(const RegisterWatch& watch, uint64_t number) {
  const auto history = HistoryOf(watch.kernel, watch.cta);
  if (!history.ok()) return absl::StrCat("  ", history.status().message(), "\n");
  const RegisterValue old = (*history)->At(watch.warp, number, watch.file, watch.index);
  const RegisterValue now = (*history)->At(watch.warp, number + 1, watch.file, watch.index);
  const std::string name = RegistersText({watch.file, static_cast<uint8_t>(watch.index), 1});
  std::string text = absl::StrCat("  ", name);
  int changed = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (old.lanes[lane] == now.lanes[lane] || (watch.lane && static_cast<int>(*watch.lane) != lane)) continue;
    if (++changed > kMaxChangedLanes) continue;
    absl::StrAppend(&text, changed == 1 ? "" : ",");
    if (!IsUniform(watch.file)) absl::StrAppend(&text, " lane ", lane);
    absl::StrAppend(&text, " ", HexText(old.lanes[lane]), " -> ", HexText(now.lanes[lane]));
  }
  if (changed > kMaxChangedLanes) absl::StrAppend(&text, " and ", changed - kMaxChangedLanes, " more lanes");
  return text + "\n";
}

}  // namespace sm89::debug
