#include "sim/calibrate/csv_records.h"

#include <csv.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"

namespace sm89::calibrate {
namespace {

constexpr size_t kMessagesMax = 20;
constexpr char kDelimiters[] = {',', ';'};

void AddField(void* text, size_t size, void* fields) {
  static_cast<std::vector<std::string>*>(fields)->emplace_back(static_cast<const char*>(text), size);
}
void EndRecord(int /*terminator*/, void* /*fields*/) {}

// Lines of a text without their ends ("\n" or "\r\n").
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }
  bool Next(std::string_view* line) {
    if (text_.empty()) return false;
    const size_t end = text_.find('\n');
    *line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    if (line->ends_with('\r')) line->remove_suffix(1);
    ++number_;
    return true;
  }
  uint64_t number() const { return number_; }

 private:
  std::string_view text_;
  uint64_t number_ = 0;
};

bool IsProfilerLine(std::string_view line) { return line.starts_with("=="); }

bool Has(const std::vector<std::string>& fields, std::string_view name) {
  return std::find(fields.begin(), fields.end(), name) != fields.end();
}

std::optional<ProfilerTool> HeaderOf(const std::vector<std::string>& fields) {
  if (Has(fields, "ID") && Has(fields, "Kernel Name")) return ProfilerTool::kNsightCompute;
  const bool timed = std::any_of(fields.begin(), fields.end(), [](const std::string& f) {
    return f.starts_with("Duration") || f.starts_with("Total Time");
  });
  if (timed && Has(fields, "Name")) return ProfilerTool::kNsightSystems;
  return std::nullopt;
}

bool FindHeader(std::string_view line, uint64_t number, CsvFile* out) {
  // Cheap first: most lines of an application's output hold neither.
  if (line.find("Name") == std::string_view::npos) return false;
  for (const char delimiter : kDelimiters) {
    std::vector<std::string> fields = SplitRecord(line, delimiter);
    const std::optional<ProfilerTool> tool = HeaderOf(fields);
    if (!tool.has_value()) continue;
    out->tool = *tool;
    out->delimiter = delimiter;
    out->header = {number, std::move(fields)};
    return true;
  }
  return false;
}

// A row of Nsight Compute begins with the launch's number (of the units with an empty cell); one of Nsight
// Systems with a time, a share or a name.
bool BeginsRow(std::string_view line, const CsvFile& file) {
  if (line.empty()) return false;
  if (file.tool == ProfilerTool::kNsightSystems) return line.find(file.delimiter) != std::string_view::npos;
  const std::string_view rest = line.starts_with('"') ? line.substr(1) : line;
  if (rest.empty()) return false;
  return std::isdigit(static_cast<unsigned char>(rest.front())) != 0 || line.starts_with("\"\"") ||
         line.front() == file.delimiter;
}

bool QuotesBalance(std::string_view text) { return std::count(text.begin(), text.end(), '"') % 2 == 0; }

void KeepMessage(std::string_view line, CsvFile* out) {
  const bool worth =
      line.find("ERROR") != std::string_view::npos || line.find("WARNING") != std::string_view::npos;
  if (worth && out->messages.size() < kMessagesMax) out->messages.emplace_back(line.substr(0, 400));
}

absl::Status TooMuch(const std::string& file, uint64_t line, const std::string& what, size_t most) {
  return InputError(absl::StatusCode::kResourceExhausted,
                    Fault{.file = file,
                          .line = line,
                          .expected = absl::StrCat("at most ", most, " ", what),
                          .message = absl::StrCat("too many ", what)});
}

// Collects one record, which may span lines, and appends it. False: it never ends.
bool ReadRecord(std::string_view first, Lines* lines, CsvFile* out) {
  CsvRow row{.line = lines->number()};
  std::string record(first);
  std::string_view more;
  while (!QuotesBalance(record)) {
    if (record.size() > kRowBytesMax || !lines->Next(&more)) return false;
    absl::StrAppend(&record, "\n", Av(more));
  }
  row.fields = SplitRecord(record, out->delimiter);
  out->rows.push_back(std::move(row));
  return true;
}

absl::Status NoMeasurements(const std::string& file, const CsvFile& found) {
  std::string why = "there is no CSV header";
  if (!found.messages.empty())
    absl::StrAppend(&why, "; the profiler says: ", absl::StrJoin(found.messages, " | "));
  return InputError(
      absl::StatusCode::kInvalidArgument,
      Fault{.file = file,
            .expected = "a CSV of ncu (--csv, raw or details page) or of nsys stats (gpu_trace, "
                        "gpu_kern_sum)",
            .message = absl::StrCat("no measurements: ", why)});
}

}  // namespace

std::vector<std::string> SplitRecord(std::string_view record, char delimiter) {
  std::vector<std::string> fields;
  csv_parser parser;
  SM89_ASSERT(csv_init(&parser, 0) == 0, "libcsv initialises a parser");
  csv_set_delim(&parser, static_cast<unsigned char>(delimiter));
  csv_parse(&parser, record.data(), record.size(), &AddField, &EndRecord, &fields);
  csv_fini(&parser, &AddField, &EndRecord, &fields);
  csv_free(&parser);
  return fields;
}

absl::StatusOr<CsvFile> ReadCsv(std::string_view text, const std::string& file) {
  if (text.size() > kFileBytesMax) return TooMuch(file, 0, "bytes", kFileBytesMax);
  CsvFile out;
  Lines lines(text);
  std::string_view line;
  bool found = false;
  while (!found && lines.Next(&line)) {
    if (IsProfilerLine(line)) KeepMessage(line, &out);
    found = line.size() <= kRowBytesMax && FindHeader(line, lines.number(), &out);
  }
  if (!found) return NoMeasurements(file, out);
  if (out.header.fields.size() > kColumnsMax) return TooMuch(file, out.header.line, "columns", kColumnsMax);
  while (lines.Next(&line)) {
    if (IsProfilerLine(line)) {
      KeepMessage(line, &out);
    } else if (!BeginsRow(line, out)) {
      if (!line.empty()) ++out.skipped_lines;
    } else {
      if (out.rows.size() >= kRowsMax) return TooMuch(file, lines.number(), "rows", kRowsMax);
      const uint64_t begin = lines.number();
      if (!ReadRecord(line, &lines, &out)) {
        return InputError(
            absl::StatusCode::kInvalidArgument,
            Fault{.file = file, .line = begin, .message = "a quoted field of this row never ends"});
      }
    }
  }
  return out;
}

}  // namespace sm89::calibrate
