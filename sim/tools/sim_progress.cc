#include "sim/tools/sim_progress.h"

#include <algorithm>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/report/text.h"

namespace sm89 {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kTerminalInterval{200};
constexpr milliseconds kPlainInterval{5000};
constexpr size_t kNameBytes = 32;

std::string Eta(const SimProgress& p, double seconds) {
  const bool known = p.warp_instructions_total != 0;
  if (!known || p.warp_instructions == 0 || p.warp_instructions > p.warp_instructions_total) return "ETA -";
  const double left = static_cast<double>(p.warp_instructions_total - p.warp_instructions);
  const auto eta = static_cast<uint64_t>(seconds * left / static_cast<double>(p.warp_instructions));
  if (eta < 100) return absl::StrCat("ETA ", eta, " s");
  if (eta < 6000) return absl::StrCat("ETA ", eta / 60, " min");
  return absl::StrCat("ETA ", eta / 3600, " h");
}

}  // namespace

std::string FormatProgress(const SimProgress& p, double seconds) {
  // Cut at 32 bytes before cleaning, so that half a character shows as one replacement.
  const std::string name = Printable(p.kernel_name.substr(0, kNameBytes));
  const double done = static_cast<double>(p.warp_instructions);
  // Of a kernel that is executed while it is simulated nobody knows how much is to come.
  const double total = static_cast<double>(p.warp_instructions_total);
  const std::string of_total = p.warp_instructions_total == 0
                                   ? "/?"
                                   : absl::StrCat("/", Compact(p.warp_instructions_total),
                                                  absl::StrFormat(" %.0f%%", 100.0 * done / total));
  const std::string ipc = p.cycle == 0 ? "-" : absl::StrFormat("%.2f", done / static_cast<double>(p.cycle));
  const std::string speed = seconds <= 0 ? "-" : Compact(static_cast<uint64_t>(done / seconds));
  return absl::StrCat("kernel ", std::min(p.kernels_done + 1, p.kernels_total), "/", p.kernels_total, " ",
                      name, "  cycle ", Compact(p.cycle), "  inst ", Compact(p.warp_instructions), of_total,
                      "  IPC ", ipc, "  ", speed, " inst/s  ", Eta(p, seconds));
}

bool ProgressPrinter::Due() {
  const Clock::time_point now = Clock::now();
  if (now - last_ < (terminal_ ? kTerminalInterval : kPlainInterval)) return false;
  last_ = now;
  return true;
}

void ProgressPrinter::Show(const std::string& line) {
  if (!terminal_) {
    err_ << line << "\n" << std::flush;
    return;
  }
  const size_t blanks = shown_columns_ > line.size() ? shown_columns_ - line.size() : 0;
  err_ << '\r' << line << std::string(blanks, ' ') << std::flush;
  shown_columns_ = line.size();
}

void ProgressPrinter::Reading(uint64_t done_bytes, uint64_t total_bytes) {
  if (!Due()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  Show(absl::StrFormat("reading trace  %sB of %sB  %.0f s", Compact(done_bytes), Compact(total_bytes),
                       seconds));
}

void ProgressPrinter::Simulating(const SimProgress& progress) {
  if (simulation_start_ == Clock::time_point{}) simulation_start_ = Clock::now();
  if (!progress.done && !Due()) return;
  Show(FormatProgress(progress, std::chrono::duration<double>(Clock::now() - simulation_start_).count()));
}

void ProgressPrinter::Finish() {
  if (terminal_ && shown_columns_ > 0) err_ << "\n" << std::flush;
  shown_columns_ = 0;
}

}  // namespace sm89
