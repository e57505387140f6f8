#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/emu/machine.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

bool EndsRun(FindingKind kind) { return kind != FindingKind::kUninitialised; }

std::string Text(const Dim3& d) { return absl::StrFormat("(%d,%d,%d)", d.x, d.y, d.z); }

// "out-of-bounds load of 4 bytes at global address 0x7f..".
std::string What(const Finding& f, const char* verb) {
  const char* kind = f.kind == FindingKind::kOutOfBounds  ? "out-of-bounds "
                     : f.kind == FindingKind::kMisaligned ? "misaligned "
                                                          : "uninitialised ";
  return absl::StrFormat("%s%s of %d bytes at %s address 0x%x", kind, verb, f.size_bytes, f.space, f.address);
}

const char* Verb(sass::Op op) {
  switch (op) {
    case sass::Op::kSt:
    case sass::Op::kStg:
    case sass::Op::kSts:
    case sass::Op::kStl:
      return "store";
    case sass::Op::kAtom:
    case sass::Op::kAtomg:
    case sass::Op::kAtoms:
    case sass::Op::kRed:
    case sass::Op::kRedg:
    case sass::Op::kArrives:
      return "atomic";
    case sass::Op::kLdgsts:
      return "copy";
    default:
      return "load";
  }
}

Finding Describe(const Machine& m, uint32_t inst_index, const FindingPlace& place) {
  Finding f;
  const sass::Instruction& inst = m.program->instructions()[inst_index];
  const Placed& placed = m.program->PlaceOf(inst_index);
  f.kind = place.kind;
  f.kernel = m.program->kernel().name;
  f.pc = (inst_index - placed.first) * 16;
  f.opcode = sass::PrintOpcode(inst);
  const std::vector<cubin::SourceLine>& lines = placed.function->lines;
  if (inst_index - placed.first < lines.size()) {
    const cubin::SourceLine& line = lines[inst_index - placed.first];
    const std::vector<std::string>& files = m.program->module().files;
    f.line = line.line;
    if (line.line != 0 && line.file < files.size()) f.file = files[line.file];
  }
  f.thread = ThreadId(m, m.warp->index, place.lane);
  f.cta = m.cta->id;
  f.space = place.space;
  f.address = place.address;
  f.size_bytes = place.size_bytes;
  if (f.space == "global" && EndsRun(f.kind)) f.nearest = DescribeNearest(m.memory, f.address);
  std::string where = absl::StrFormat(" in %s at +0x%04x", placed.function->name, f.pc);
  if (f.line != 0) absl::StrAppend(&where, " (", f.file, ":", f.line, ")");
  absl::StrAppend(&where, ", thread ", Text(f.thread), " of CTA ", Text(f.cta));
  f.message = f.kind == FindingKind::kTrap ? f.opcode : What(f, Verb(inst.op));
  if (f.kind != FindingKind::kTrap) absl::StrAppend(&f.message, " by ", f.opcode);
  absl::StrAppend(&f.message, where);
  if (!place.detail.empty()) absl::StrAppend(&f.message, ": ", place.detail);
  if (!f.nearest.empty()) absl::StrAppend(&f.message, ": ", f.nearest);
  return f;
}

}  // namespace

Dim3 ThreadId(const Machine& m, uint32_t warp, uint32_t lane) {
  const std::array<Row, 3>& ids = m.thread_ids[warp];
  return {ids[0].lane[lane], ids[1].lane[lane], ids[2].lane[lane]};
}

void Report(Exec& x, const FindingPlace& place) {
  Machine& m = *x.machine;
  const bool ends = EndsRun(place.kind);
  if (m.failed && ends) return;  // the first one ends the run
  ++m.num_findings;
  if (ends) {
    m.failed = true;
    x.stop = true;
  }
  if (m.findings.size() >= m.options->max_findings && !ends) return;
  Finding f = Describe(m, x.pc, place);
  if (ends) m.failure = f.message;
  m.findings.push_back(std::move(f));
}

}  // namespace sm89::emu
