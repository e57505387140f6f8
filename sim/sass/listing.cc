#include "sim/sass/listing.h"

#include <charconv>
#include <optional>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89::sass {
namespace {

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<uint64_t> Hex(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Walks the comments of a line.
class Comments {
 public:
  explicit Comments(std::string_view line) : rest_(line) {}

  bool Next(std::string_view* comment) {
    const size_t begin = rest_.find("/*");
    if (begin == std::string_view::npos) return false;
    const size_t end = rest_.find("*/", begin + 2);
    if (end == std::string_view::npos) return false;
    *comment = Trim(rest_.substr(begin + 2, end - begin - 2));
    rest_.remove_prefix(end + 2);
    return true;
  }

 private:
  std::string_view rest_;
};

class ListingReader {
 public:
  ListingReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  absl::StatusOr<std::vector<ListedFunction>> Read() {
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++line_;
      RETURN_IF_ERROR(ReadLine(line));
    }
    RETURN_IF_ERROR(EndInst());
    std::erase_if(functions_, [](const ListedFunction& function) { return function.insts.empty(); });
    if (functions_.empty()) {
      return Fail("", "text of cuobjdump -sass or nvdisasm -hex", "no instruction with its encoding");
    }
    return std::move(functions_);
  }

 private:
  absl::Status Fail(std::string value, std::string expected, std::string message) const {
    Fault fault;
    fault.file = name_;
    fault.line = line_;
    fault.value = std::move(value);
    fault.expected = std::move(expected);
    fault.message = std::move(message);
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }

  absl::Status ReadLine(std::string_view line) {
    ReadArch(line);
    if (const std::optional<std::string_view> function = FunctionOf(line)) {
      RETURN_IF_ERROR(EndInst());
      functions_.push_back({std::string(*function), arch_, {}});
      return absl::OkStatus();
    }
    Comments comments(line);
    bool first = true;
    for (std::string_view comment; comments.Next(&comment); first = false) {
      const bool word = comment.starts_with("0x");
      if (!word && !first) continue;
      const std::optional<uint64_t> value = Hex(comment.substr(word ? 2 : 0));
      if (!value.has_value()) continue;  // a remark
      RETURN_IF_ERROR(word ? AddWord(*value, comment) : BeginInst(*value));
    }
    return absl::OkStatus();
  }

  // "code for sm_89", ".target sm_89", "EF_CUDA_SM89".
  void ReadArch(std::string_view line) {
    for (const std::string_view mark : {"code for sm_", ".target\tsm_", ".target sm_", "EF_CUDA_SM"}) {
      const size_t at = line.find(mark);
      if (at == std::string_view::npos) continue;
      uint32_t arch = 0;
      const std::string_view digits = line.substr(at + mark.size());
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), arch);
      if (error != std::errc()) continue;
      arch_ = arch;
      if (!functions_.empty() && functions_.back().insts.empty()) functions_.back().arch = arch;
    }
  }

  static std::optional<std::string_view> FunctionOf(std::string_view line) {
    constexpr std::string_view kDumped = "Function : ", kSection = ".text.";
    const std::string_view text = Trim(line);
    if (text.starts_with(kDumped)) return Trim(text.substr(kDumped.size()));
    if (text.starts_with(kSection) && text.ends_with(':')) {
      return text.substr(kSection.size(), text.size() - kSection.size() - 1);
    }
    return std::nullopt;
  }

  absl::Status BeginInst(uint64_t pc) {
    RETURN_IF_ERROR(EndInst());
    if (functions_.empty()) {
      return Fail(absl::StrCat("0x", absl::Hex(pc)), "'Function : NAME' or '.text.NAME:' before it",
                  "an instruction outside a function");
    }
    const std::vector<ListedInst>& insts = functions_.back().insts;
    if (!insts.empty() && pc <= insts.back().pc) {
      return Fail(absl::StrCat("0x", absl::Hex(pc)), absl::StrCat("above 0x", absl::Hex(insts.back().pc)),
                  "addresses of a function do not ascend");
    }
    functions_.back().insts.push_back({pc, {}});
    words_ = 0;
    open_ = true;
    return absl::OkStatus();
  }

  absl::Status AddWord(uint64_t value, std::string_view comment) {
    constexpr size_t kDigits = 18;  // with 0x
    if (!open_ || comment.size() != kDigits) return absl::OkStatus();
    if (words_ == 2) {
      return Fail(std::string(comment), "two words of 64 bits", "an instruction with a third word");
    }
    Word128& word = functions_.back().insts.back().word;
    (words_++ == 0 ? word.lo : word.hi) = value;
    return absl::OkStatus();
  }

  absl::Status EndInst() {
    if (open_ && words_ != 2) {
      const ListedInst& inst = functions_.back().insts.back();
      return Fail(absl::StrCat("0x", absl::Hex(inst.pc), " of ", functions_.back().name),
                  "two comments with 64 bits each, as cuobjdump -sass and nvdisasm -hex print them",
                  "an instruction without its encoding");
    }
    open_ = false;
    return absl::OkStatus();
  }

  std::string_view text_;
  const std::string& name_;
  uint64_t line_ = 0;
  uint32_t arch_ = 0;
  std::vector<ListedFunction> functions_;
  int words_ = 0;      // of the last instruction
  bool open_ = false;  // the last instruction may still get words
};

}  // namespace

absl::StatusOr<std::vector<ListedFunction>> ReadListing(std::string_view text, const std::string& name) {
  return ListingReader(text, name).Read();
}

}  // namespace sm89::sass
