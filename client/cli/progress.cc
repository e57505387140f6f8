#include "client/cli/progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/format.h"

namespace sm89::client {
namespace {

constexpr std::chrono::milliseconds kRedrawMin{100};
constexpr std::chrono::seconds kPlainMin{5};
constexpr size_t kBarColumns = 22;

}  // namespace

std::string Bar(double fraction, size_t columns) {
  const size_t inner = columns > 2 ? columns - 2 : 0;
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto full = static_cast<size_t>(clamped * static_cast<double>(inner));
  return absl::StrCat("[", std::string(full, '#'), std::string(inner - full, '.'), "]");
}

ProgressLine::ProgressLine(Terminal& terminal, bool quiet, Clock clock)
    : terminal_(terminal),
      quiet_(quiet),
      in_place_(terminal.draws_in_place()),
      clock_(std::move(clock)),
      last_(clock_()) {}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Update(const std::string& text, double fraction) {
  if (quiet_) return;
  const auto now = clock_();
  const std::chrono::milliseconds gap = in_place_ ? kRedrawMin : std::chrono::milliseconds(kPlainMin);
  // The first drawing on a terminal comes at once; what takes only moments prints no line elsewhere.
  const bool at_once = in_place_ && !drawn_;
  if (!at_once && now - last_ < gap) return;
  last_ = now;
  std::string line = text;
  if (fraction >= 0) {
    const std::string percent = absl::StrFormat("%3.0f%% ", std::clamp(fraction, 0.0, 1.0) * 100);
    line = in_place_ ? absl::StrCat(Bar(fraction, kBarColumns), " ", percent, text)
                     : absl::StrCat(percent, text);
  }
  if (!in_place_) {
    terminal_.err() << Printable(line) << '\n' << std::flush;
    return;
  }
  // One column stays free: a full line would wrap on some terminals.
  const int columns = std::max(terminal_.columns(), 20);
  terminal_.err() << "\r\x1b[K" << Shorten(line, static_cast<size_t>(columns) - 1) << std::flush;
  drawn_ = true;
}

void ProgressLine::Note(const std::string& text) {
  if (quiet_) return;
  Clear();
  terminal_.err() << text << '\n' << std::flush;
}

void ProgressLine::Clear() {
  if (!drawn_) return;
  terminal_.err() << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace sm89::client
