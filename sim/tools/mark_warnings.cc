#include "sim/tools/mark_warnings.h"

#include <array>
#include <ostream>

#include "sim/report/text.h"

namespace sm89 {
namespace {

struct MarkFlag {
  std::string_view kind;
  std::string_view flag;
  bool IngestOptions::*given;
};
constexpr std::array<MarkFlag, 3> kMarkFlags = {{
    {"foreign_arch", "--foreign-arch", &IngestOptions::foreign_arch},
    {"allow_partial", "--allow-partial", &IngestOptions::allow_partial},
    {"unknown_as_nop", "--unknown-as-nop", &IngestOptions::unknown_as_nop},
}};

}  // namespace

void WarnOfMarks(std::string_view program, const std::vector<TraceMark>& marks, const IngestOptions& flags,
                 std::ostream& err) {
  for (const TraceMark& mark : marks) {
    std::string_view flag;
    bool given = false;
    for (const MarkFlag& row : kMarkFlags) {
      if (row.kind != mark.kind) continue;
      flag = row.flag;
      given = flags.*row.given;
    }
    if (given) continue;
    err << program << ": warning: the compact trace is marked " << Printable(mark.kind);
    if (!flag.empty()) err << " (made with " << flag << ", not given now)";
    err << ": " << Printable(mark.detail) << "\n";
  }
}

}  // namespace sm89
