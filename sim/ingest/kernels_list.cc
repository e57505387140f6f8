#include "sim/ingest/kernels_list.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/ingest/input_file.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/text_scan.h"

namespace sm89 {
namespace {

constexpr char kHtoD[] = "MemcpyHtoD";
constexpr char kDtoH[] = "MemcpyDtoH";
constexpr size_t kMaxListFaults = 1000;  // as many as an error carries

// Fields between commas, trimmed; no more than `Limit` are kept, all are counted.
struct Fields {
  static constexpr size_t kLimit = 4;
  std::array<std::string_view, kLimit> text;
  size_t count = 0;
};

Fields SplitAtCommas(std::string_view line) {
  Fields fields;
  while (true) {
    const size_t comma = line.find(',');
    if (fields.count < Fields::kLimit) fields.text[fields.count] = TrimBlanks(line.substr(0, comma));
    ++fields.count;
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

class ListParser {
 public:
  ListParser(std::string file, IngestContext& context) : context_(context) { list_.file = std::move(file); }

  void Line(std::string_view raw, uint64_t number) {
    line_number_ = static_cast<uint32_t>(number);
    const std::string_view line = TrimBlanks(raw);
    if (line.empty()) return;
    const Fields fields = SplitAtCommas(line);
    if (fields.text[0] == kHtoD) return Copy(CommandKind::kMemcpyHtoD, fields, line);
    if (fields.text[0] == kDtoH) return Copy(CommandKind::kMemcpyDtoH, fields, line);
    if (absl::StartsWith(Av(line), "kernel") || HasTraceSuffix(line)) return Kernel(line);
    Ignore(line);
  }

  size_t num_commands() const { return list_.commands.size(); }

  absl::StatusOr<KernelsList> Finish() {
    if (!faults_.empty()) {
      const std::string summary =
          num_faults_ == 1 ? std::string() : absl::StrCat(list_.file, ": ", num_faults_, " bad lines");
      return InputError(absl::StatusCode::kInvalidArgument, summary, faults_);
    }
    if (list_.kernels.empty()) return NoKernels();
    return std::move(list_);
  }

 private:
  void Copy(CommandKind kind, const Fields& fields, std::string_view line) {
    // A fourth field names a dump of the copied bytes (written by a fork of the tracer); timing needs none.
    const std::optional<uint64_t> address = fields.count >= 3 ? ParseHex(fields.text[1]) : std::nullopt;
    const std::optional<uint64_t> bytes = fields.count >= 3 ? ParseUnsigned(fields.text[2]) : std::nullopt;
    if (!address || !bytes || fields.count > 4) {
      AddFault(line, absl::StrCat(Av(fields.text[0]), ",0x<address>,<bytes>"), "the copy cannot be read");
      return;
    }
    TraceCommand command;
    command.kind = kind;
    command.address = *address;
    command.bytes = *bytes;
    Push(std::move(command));
  }

  void Kernel(std::string_view line) {
    if (!IsPlainName(line)) {
      AddFault(line, "a plain file name inside the list's folder", "the kernel's file name leads elsewhere");
      return;
    }
    TraceCommand command;
    command.kind = CommandKind::kKernel;
    command.kernel = static_cast<uint32_t>(list_.kernels.size());
    list_.kernels.push_back({std::string(line), line_number_});
    Push(std::move(command));
  }

  void Ignore(std::string_view line) {
    TraceCommand command;
    command.kind = CommandKind::kIgnored;
    command.text = std::string(line.substr(0, kMaxIgnoredTextBytes));
    context_.warnings().Add(
        "ignored_list_line",
        absl::StrCat(list_.file, ":", line_number_, ": '", Excerpt(line), "' has no effect and was ignored"));
    Push(std::move(command));
  }

  void Push(TraceCommand command) {
    command.line = line_number_;
    list_.commands.push_back(std::move(command));
  }

  void AddFault(std::string_view line, std::string expected, std::string message) {
    if (++num_faults_ > kMaxListFaults) return;
    Fault fault;
    fault.file = list_.file;
    fault.line = line_number_;
    fault.value = Excerpt(line);
    fault.expected = std::move(expected);
    fault.message = std::move(message);
    faults_.push_back(std::move(fault));
  }

  absl::Status NoKernels() const {
    Fault fault;
    fault.file = list_.file;
    fault.expected = "at least one line that names a kernel's trace file (kernel-<n>.traceg)";
    fault.message = list_.commands.empty() ? "the list is empty" : "the list names no kernel";
    fault.facts = {{"kernels", "0"}};
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }

  IngestContext& context_;
  KernelsList list_;
  std::vector<Fault> faults_;
  uint64_t num_faults_ = 0;
  uint32_t line_number_ = 0;
};

absl::Status TooManyCommands(const std::string& file) {
  Fault fault;
  fault.file = file;
  fault.expected = absl::StrCat("at most ", kMaxListCommands, " commands");
  fault.message = "the list is too long";
  fault.facts = {{"limit_commands", absl::StrCat(kMaxListCommands)}};
  return InputError(absl::StatusCode::kResourceExhausted, fault);
}

}  // namespace

bool HasTraceSuffix(std::string_view name) {
  absl::string_view rest = Av(name);
  for (const char* packed : {".gz", ".xz", ".zst"}) {
    if (absl::EndsWith(rest, packed)) {
      rest.remove_suffix(absl::string_view(packed).size());
      break;
    }
  }
  return absl::EndsWith(rest, ".traceg") || absl::EndsWith(rest, ".trace") || absl::EndsWith(rest, ".tracez");
}

absl::StatusOr<KernelsList> ReadKernelsList(LineReader& reader, IngestContext& context) {
  ListParser parser(reader.file(), context);
  std::string_view line;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(&line));
    if (!more) return parser.Finish();
    parser.Line(line, reader.line_number());
    if (parser.num_commands() > kMaxListCommands) return TooManyCommands(reader.file());
  }
}

}  // namespace sm89
