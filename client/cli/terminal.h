// Where the program's words go, and what that place can do.
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>

namespace sm89::client {

// The environment variables that the program looks at, taken once at start (and made up in tests).
class Environment {
 public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  // Of the process: only the names that this program documents.
  static Environment OfProcess();
  // Empty when unset.
  std::string Get(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

enum class Style { kPlain, kBold, kDim, kGood, kBad, kBusy };

class Terminal {
 public:
  Terminal(std::ostream& out, std::ostream& err) : out_(out), err_(err) {}

  std::ostream& out() { return out_; }
  std::ostream& err() { return err_; }

  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool dumb = false;                                 // TERM=dumb: no cursor movement, no colours
  bool colour_allowed = true;                        // NO_COLOR unset and no --color=never
  bool colour_forced = false;                        // --color=always
  std::function<int()> columns = [] { return 80; };  // of the error stream's window
  std::function<int()> rows = [] { return 24; };     // likewise
  // What is on the error stream can be drawn over.
  bool draws_in_place() const { return err_is_terminal && !dumb; }

  // `text` in the style, when the stream shows colours.
  std::string OnOut(Style style, const std::string& text) const;
  std::string OnErr(Style style, const std::string& text) const;

 private:
  std::string Paint(bool is_terminal, Style style, const std::string& text) const;
  std::ostream& out_;
  std::ostream& err_;
};

}  // namespace sm89::client
