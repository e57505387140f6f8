#include "sim/config/option_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/config/text_value.h"

namespace sm89::settings {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsControl(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && !IsBlank(c)) || c == 0x7F;
}

class WordReader {
 public:
  WordReader(std::string_view text, size_t max_faults) : text_(text), max_faults_(max_faults) {}

  Words Read() {
    if (text_.substr(0, 2) == "\xFF\xFE" || text_.substr(0, 2) == "\xFE\xFF") {
      Report(1, "the text is UTF-16; save it as UTF-8");
      return std::move(out_);
    }
    if (text_.substr(0, kUtf8Mark.size()) == kUtf8Mark) at_ = kUtf8Mark.size();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (IsBlank(c)) {
        ++at_;
      } else if (c == '#') {
        SkipComment();
      } else if (c == '"') {
        ReadQuoted();
      } else {
        ReadPlain();
      }
    }
    return std::move(out_);
  }

 private:
  void Report(uint32_t line, const std::string& message) {
    if (out_.faults.size() < max_faults_) out_.faults.push_back({.line = line, .message = message});
  }

  void SkipComment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  bool AtEndOfWord() const {
    return at_ >= text_.size() || IsBlank(text_[at_]) || text_[at_] == '\n' || text_[at_] == '#';
  }

  void ReadPlain() {
    Word word{.line = line_};
    for (; !AtEndOfWord(); ++at_) {
      word.faulty = word.faulty || text_[at_] == '"' || IsControl(text_[at_]);
      word.text += text_[at_];
    }
    if (word.faulty) {
      Report(line_, absl::StrCat("a quote or control character inside '", Av(Printable(word.text)), "'"));
    }
    out_.words.push_back(std::move(word));
  }

  // A quote left open would swallow the options behind it: a line that starts with an option ends it.
  bool NextLineIsAnOption() const {
    size_t next = at_ + 1;
    while (next < text_.size() && IsBlank(text_[next])) ++next;
    return next + 1 < text_.size() && text_[next] == '-' && IsLetter(text_[next + 1]);
  }

  void ReadQuoted() {
    Word word{.line = line_, .quoted = true};
    const auto add_blank = [&word] {
      if (!word.text.empty() && word.text.back() != ' ') word.text += ' ';
    };
    for (++at_; at_ < text_.size() && text_[at_] != '"';) {
      const char c = text_[at_];
      if (c == '#') {
        SkipComment();
        continue;
      }
      if (c == '\n') {
        if (NextLineIsAnOption()) break;
        ++line_;
      }
      word.faulty = word.faulty || IsControl(c);
      if (c == '\n' || IsBlank(c)) {
        add_blank();
      } else {
        word.text += c;
      }
      ++at_;
    }
    FinishQuoted(std::move(word));
  }

  void FinishQuoted(Word word) {
    const bool closed = at_ < text_.size() && text_[at_] == '"';
    if (closed) ++at_;
    if (!closed) {
      Report(word.line, "the quote that opens here is not closed");
      word.faulty = true;
    } else if (word.faulty) {
      Report(word.line, "a control character inside quotes");
    } else if (!AtEndOfWord()) {
      Report(line_, "text directly behind a closing quote");
      word.faulty = true;
      while (!AtEndOfWord()) ++at_;
    }
    while (!word.text.empty() && word.text.back() == ' ') word.text.pop_back();
    out_.words.push_back(std::move(word));
  }

  std::string_view text_;
  size_t max_faults_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  Words out_;
};

}  // namespace

Words SplitWords(std::string_view text, size_t max_faults) { return WordReader(text, max_faults).Read(); }

bool IsOptionName(const Word& word) {
  if (word.quoted || word.text.empty() || word.text[0] != '-') return false;
  const char next = word.text.size() > 1 ? word.text[1] : '\0';
  return next != '.' && (next < '0' || next > '9');
}

}  // namespace sm89::settings
