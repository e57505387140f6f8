#include "client/cli/terminal.h"

#include <cstdlib>

namespace sm89::client {

Environment Environment::OfProcess() {
  constexpr const char* kNames[] = {"SM89_ADDRESS", "SM89_CONFIG_FILE", "NO_COLOR",       "TERM",
                                    "HOME",         "XDG_CONFIG_HOME",  "XDG_STATE_HOME", "TMPDIR"};
  std::map<std::string, std::string> values;
  for (const char* name : kNames) {
    if (const char* value = std::getenv(name); value != nullptr) values[name] = value;
  }
  return Environment(std::move(values));
}

std::string Environment::Get(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? "" : found->second;
}

std::string Terminal::OnOut(Style style, const std::string& text) const {
  return Paint(out_is_terminal, style, text);
}
std::string Terminal::OnErr(Style style, const std::string& text) const {
  return Paint(err_is_terminal, style, text);
}

std::string Terminal::Paint(bool is_terminal, Style style, const std::string& text) const {
  const bool shown = colour_forced || (is_terminal && colour_allowed && !dumb);
  if (!shown || text.empty()) return text;
  const char* code = "";
  switch (style) {
    case Style::kPlain:
      return text;
    case Style::kBold:
      code = "1";
      break;
    case Style::kDim:
      code = "2";
      break;
    case Style::kGood:
      code = "32";
      break;
    case Style::kBad:
      code = "31";
      break;
    case Style::kBusy:
      code = "36";
      break;
  }
  return "\x1b[" + std::string(code) + "m" + text + "\x1b[0m";
}

}  // namespace sm89::client
