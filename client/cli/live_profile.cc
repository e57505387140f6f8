#include "client/cli/live_profile.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/cli/format.h"
#include "client/cli/table.h"

namespace sm89::client {
namespace {

constexpr int kColumnsMin = 20;
constexpr int kRowsMin = 1;

// In percent with so many `digits`.
std::string Share(uint64_t part, uint64_t whole, int digits) {
  if (whole == 0) return "-";
  return absl::StrFormat("%.*f", digits, 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string Lanes(const v1::LiveProfileRow& row) {
  if (row.issued() == 0) return "-";
  return absl::StrFormat("%.1f", static_cast<double>(row.threads()) / static_cast<double>(row.issued()));
}

}  // namespace

std::vector<std::string> LiveProfileLines(const v1::LiveProfile& profile) {
  using Align = Table::Align;
  // What a narrow window cuts stands last.
  Table table({{"pc", Align::kRight},
               {"instruction"},
               {"issued", Align::kRight},
               {"lanes", Align::kRight},
               {"waits %", Align::kRight},
               {"waits for, % of them"}});
  for (const v1::LiveProfileRow& row : profile.rows()) {
    std::string reasons;
    for (const v1::WaitReason& reason : row.reasons()) {
      const std::string share = Share(reason.cycles(), row.waited(), 0);
      if (share == "0" && !reasons.empty()) break;  // largest first: nor do the others matter
      absl::StrAppend(&reasons, reasons.empty() ? "" : ", ", Printable(reason.name()), " ", share);
    }
    table.AddRow({absl::StrFormat("%04x", row.pc()), Printable(row.opcode()),
                  HumanCount(static_cast<double>(row.issued())), Lanes(row),
                  Share(row.waited(), profile.waited(), 1), reasons});
  }
  std::ostringstream text, unused;
  Terminal plain(text, unused);
  text << "kernel " << profile.kernel_index() + 1 << " " << Printable(profile.kernel_name()) << ": "
       << HumanCount(static_cast<double>(profile.issued())) << " warp instructions, "
       << HumanCount(static_cast<double>(profile.waited())) << " of "
       << HumanCount(static_cast<double>(profile.warp_cycles())) << " warp-cycles waiting, "
       << profile.rows_size() << " of " << profile.instructions() << " instructions\n";
  if (!table.empty()) table.Print(plain);
  std::vector<std::string> lines = absl::StrSplit(text.str(), '\n');
  lines.pop_back();  // behind the last newline
  return lines;
}

void LiveProfileView::Show(const v1::LiveProfile& profile, ProgressLine& line) {
  const bool in_place = terminal_.draws_in_place();
  std::vector<std::string> lines = LiveProfileLines(profile);
  // What has left the window cannot be drawn over. The progress stands below, and one row stays free.
  const auto rows = static_cast<size_t>(std::max(terminal_.rows() - 2, kRowsMin));
  if (in_place && lines.size() > rows) lines.resize(rows);
  line.Clear();
  if (in_place && lines_drawn_ > 0) terminal_.err() << "\x1b[" << lines_drawn_ << "A\r\x1b[J";
  const auto columns = static_cast<size_t>(std::max(terminal_.columns(), kColumnsMin));
  for (const std::string& text : lines) {
    // A full line would wrap and be counted as one.
    terminal_.err() << (in_place ? Shorten(text, columns - 1) : text) << '\n';
  }
  terminal_.err() << std::flush;
  lines_drawn_ = lines.size();
}

}  // namespace sm89::client
