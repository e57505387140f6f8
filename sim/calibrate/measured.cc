#include "sim/calibrate/measured.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/calibrate/csv_records.h"
#include "sim/calibrate/numbers.h"

namespace sm89::calibrate {
namespace {

absl::Status RowFault(const std::string& file, uint64_t line, const std::string& field,
                      const std::string& value, const std::string& expected, const std::string& message) {
  return InputError(absl::StatusCode::kInvalidArgument, Fault{.file = file,
                                                              .line = line,
                                                              .field = field,
                                                              .value = value.substr(0, 80),
                                                              .expected = expected,
                                                              .message = message});
}

// Columns by name.
class Header {
 public:
  explicit Header(const CsvFile& csv) : csv_(csv) {}
  // -1: there is none.
  int Find(std::string_view name) const {
    const auto& fields = csv_.header.fields;
    const auto at = std::find(fields.begin(), fields.end(), name);
    return at == fields.end() ? -1 : static_cast<int>(at - fields.begin());
  }
  // The column whose name begins so, and what stands in brackets behind it: "Duration (ns)".
  int FindWithUnit(std::string_view begin, std::string* unit) const {
    for (size_t i = 0; i < csv_.header.fields.size(); ++i) {
      const std::string& name = csv_.header.fields[i];
      if (!name.starts_with(begin)) continue;
      const size_t open = name.find('(');
      const size_t close = name.find(')');
      if (open == std::string::npos || close == std::string::npos || close < open) continue;
      *unit = name.substr(open + 1, close - open - 1);
      return static_cast<int>(i);
    }
    return -1;
  }
  absl::StatusOr<int> Need(std::string_view name, const std::string& file) const {
    const int at = Find(name);
    if (at >= 0) return at;
    return RowFault(file, csv_.header.line, std::string(name), "", "a column of this name",
                    "a column is missing");
  }

 private:
  const CsvFile& csv_;
};

// Empty for a column that the row does not reach.
const std::string& Cell(const CsvRow& row, int column) {
  static const std::string kEmpty;
  return column >= 0 && static_cast<size_t>(column) < row.fields.size()
             ? row.fields[static_cast<size_t>(column)]
             : kEmpty;
}

// A row that ends early is that of a file that was cut.
absl::Status CheckCells(const CsvFile& csv, const CsvRow& row, size_t at_least, const std::string& file) {
  const size_t columns = csv.header.fields.size();
  if (row.fields.size() >= at_least && row.fields.size() <= columns) return absl::OkStatus();
  const bool few = row.fields.size() < at_least;
  return RowFault(file, row.line, "", absl::StrCat(row.fields.size(), " cells"),
                  absl::StrCat(columns, " as in the header"),
                  few ? "the row ends early: was the file cut?" : "more cells than columns");
}

// "(4096, 1, 1)"; thousands are not grouped in these.
std::optional<Dimensions> ReadTriple(std::string_view text) {
  Dimensions triple{};
  size_t part = 0;
  bool digits = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      if (part >= triple.size()) return std::nullopt;
      triple[part] = triple[part] * 10 + static_cast<uint64_t>(c - '0');
      if (triple[part] > uint64_t{1} << 40) return std::nullopt;
      digits = true;
    } else if (c == ',' || c == 'x') {
      if (!digits) return std::nullopt;
      ++part;
      digits = false;
    } else if (c != '(' && c != ')' && c != ' ') {
      return std::nullopt;
    }
  }
  if (part != 2 || !digits) return std::nullopt;
  return triple;
}

absl::StatusOr<NumberStyle> StyleOf(const CsvFile& csv, int first_column, const std::string& file,
                                    Measured* out) {
  NumberStyleVote vote;
  for (const CsvRow& row : csv.rows) {
    for (size_t i = static_cast<size_t>(first_column); i < row.fields.size(); ++i)
      vote.Add(row.fields[i], row.line);
  }
  ASSIGN_OR_RETURN(const NumberStyle style, vote.Decide(file));
  if (style == NumberStyle::kComma) out->notes.push_back("numbers are read with a decimal comma: 1.234,5");
  return style;
}

// What says which launch a row of Nsight Compute belongs to.
struct NcuColumns {
  int id = -1, name = -1, grid = -1, block = -1;
};

absl::StatusOr<NcuColumns> FindNcuColumns(const Header& header, const std::string& file) {
  NcuColumns columns;
  ASSIGN_OR_RETURN(columns.id, header.Need("ID", file));
  ASSIGN_OR_RETURN(columns.name, header.Need("Kernel Name", file));
  ASSIGN_OR_RETURN(columns.grid, header.Need("Grid Size", file));
  ASSIGN_OR_RETURN(columns.block, header.Need("Block Size", file));
  return columns;
}

absl::StatusOr<MeasuredKernel> Launch(const CsvRow& row, const NcuColumns& columns, const std::string& file) {
  MeasuredKernel kernel{.name = Cell(row, columns.name), .line = row.line};
  kernel.grid = ReadTriple(Cell(row, columns.grid));
  kernel.block = ReadTriple(Cell(row, columns.block));
  if (!kernel.grid.has_value())
    return RowFault(file, row.line, "Grid Size", Cell(row, columns.grid), "(x, y, z)", "not a grid");
  if (!kernel.block.has_value())
    return RowFault(file, row.line, "Block Size", Cell(row, columns.block), "(x, y, z)", "not a block");
  return kernel;
}

absl::Status Keep(MeasuredKernel kernel, Measured* out) {
  if (out->kernels.size() >= kLaunchesMax) {
    return absl::ResourceExhaustedError(absl::StrCat(out->file, ": more than ", kLaunchesMax, " launches"));
  }
  out->kernels.push_back(std::move(kernel));
  return absl::OkStatus();
}

// In base units; nothing where the profiler has no figure. Metrics without a unit may be texts ("all"); a
// cell with one is a number or a word for "none".
absl::StatusOr<std::optional<double>> MetricValue(const std::string& cell, const std::string& unit,
                                                  const std::string& metric, NumberStyle style,
                                                  const std::string& file, uint64_t line) {
  const std::optional<double> number = ReadNumber(cell, style);
  if (!number.has_value()) {
    if (unit.empty() || IsAbsent(cell)) return std::nullopt;
    return RowFault(file, line, metric, cell, "a number, n/a or nothing", "not a number");
  }
  if (*number < 0) return RowFault(file, line, metric, cell, "0 or more", "a negative measurement");
  const bool cycles = metric == kCyclesMetric;
  if (cycles && unit == "cycle" && (*number < 1 || *number != std::floor(*number)))
    return RowFault(file, line, metric, cell,
                    "a whole number from 1 (thousands and decimals as in the file's other numbers)",
                    "not a number of cycles");
  if (cycles && !unit.empty() && !unit.ends_with("cycle") && !unit.ends_with("cycles"))
    return RowFault(file, line, metric, unit, "cycle, Kcycle, Mcycle ...", "not a unit of cycles");
  if (metric == kDurationMetric && !IsTimeUnit(unit))
    return RowFault(file, line, metric, unit, "ns, us, ms or s", "not a unit of time");
  return *number * UnitScale(unit);
}

// One row a launch, one column a metric; the second line has units.
absl::Status ReadRawPage(const CsvFile& csv, const NcuColumns& columns, Measured* out) {
  out->format = "ncu raw page";
  const int first = std::max({columns.id, columns.name, columns.grid, columns.block, Header(csv).Find("CC"),
                              Header(csv).Find("Device")}) +
                    1;
  ASSIGN_OR_RETURN(const NumberStyle style, StyleOf(csv, first, out->file, out));
  std::vector<std::string> units(csv.header.fields.size());
  for (const CsvRow& row : csv.rows) {
    if (Cell(row, columns.id).empty()) {
      std::copy_n(row.fields.begin(), std::min(row.fields.size(), units.size()), units.begin());
      continue;
    }
    RETURN_IF_ERROR(CheckCells(csv, row, csv.header.fields.size(), out->file));
    ASSIGN_OR_RETURN(MeasuredKernel kernel, Launch(row, columns, out->file));
    for (size_t i = static_cast<size_t>(first); i < row.fields.size(); ++i) {
      const std::string& metric = csv.header.fields[i];
      ASSIGN_OR_RETURN(const std::optional<double> value,
                       MetricValue(row.fields[i], units[i], metric, style, out->file, row.line));
      if (value.has_value()) kernel.metrics[metric] = *value;
    }
    RETURN_IF_ERROR(Keep(std::move(kernel), out));
  }
  return absl::OkStatus();
}

// One row a metric of a launch: --csv with --metrics, or the details page.
absl::Status ReadMetricRows(const CsvFile& csv, const NcuColumns& columns, Measured* out) {
  out->format = "ncu metrics";
  const Header header(csv);
  const int metric = header.Find("Metric Name");
  ASSIGN_OR_RETURN(const int unit, header.Need("Metric Unit", out->file));
  ASSIGN_OR_RETURN(const int value, header.Need("Metric Value", out->file));
  NumberStyleVote vote;
  for (const CsvRow& row : csv.rows) vote.Add(Cell(row, value), row.line);
  ASSIGN_OR_RETURN(const NumberStyle style, vote.Decide(out->file));
  if (style == NumberStyle::kComma) out->notes.push_back("numbers are read with a decimal comma: 1.234,5");
  std::map<std::string, size_t> by_id;  // launch's number -> place in kernels
  for (const CsvRow& row : csv.rows) {
    const auto [place, added] = by_id.emplace(Cell(row, columns.id), out->kernels.size());
    if (added) {
      ASSIGN_OR_RETURN(MeasuredKernel kernel, Launch(row, columns, out->file));
      RETURN_IF_ERROR(Keep(std::move(kernel), out));
    }
    // Behind the values the details page has columns for rules, which rows of metrics leave out.
    RETURN_IF_ERROR(
        CheckCells(csv, row, static_cast<size_t>(std::max({metric, unit, value})) + 1, out->file));
    if (Cell(row, metric).empty()) continue;  // a rule's text
    const std::string name = MetricName(Cell(row, metric), Cell(row, unit));
    ASSIGN_OR_RETURN(const std::optional<double> number,
                     MetricValue(Cell(row, value), Cell(row, unit), name, style, out->file, row.line));
    // Sections repeat some metrics.
    if (number.has_value()) out->kernels[place->second].metrics.emplace(name, *number);
  }
  return absl::OkStatus();
}

std::optional<Dimensions> NsysTriple(const CsvRow& row, const Header& header, std::string_view prefix) {
  Dimensions triple{};
  for (size_t i = 0; i < triple.size(); ++i) {
    const std::string column = absl::StrCat(Av(prefix), std::string(1, "XYZ"[i]));
    if (!absl::SimpleAtoi(Cell(row, header.Find(column)), &triple[i])) return std::nullopt;
  }
  return triple;
}

absl::Status ReadNsys(const CsvFile& csv, Measured* out) {
  const Header header(csv);
  std::string unit;
  const bool summary = header.Find("Instances") >= 0;
  const int duration = header.FindWithUnit(summary ? "Avg" : "Duration", &unit);
  const std::string column = summary ? "Avg (ns)" : "Duration (ns)";
  if (duration < 0) return header.Need(column, out->file).status();
  if (!IsTimeUnit(unit))
    return RowFault(out->file, csv.header.line, column, unit, "ns, us, ms or s", "not a unit of time");
  out->format = summary ? "nsys gpu_kern_sum" : "nsys gpu_trace";
  ASSIGN_OR_RETURN(const int name, header.Need("Name", out->file));
  NumberStyleVote vote;
  for (const CsvRow& row : csv.rows) vote.Add(Cell(row, duration), row.line);
  ASSIGN_OR_RETURN(const NumberStyle style, vote.Decide(out->file));
  if (style == NumberStyle::kComma) out->notes.push_back("numbers are read with a decimal comma: 1.234,5");
  for (const CsvRow& row : csv.rows) {
    RETURN_IF_ERROR(CheckCells(csv, row, csv.header.fields.size(), out->file));
    const std::optional<double> value = ReadNumber(Cell(row, duration), style);
    if (!value.has_value() || *value < 0) {
      return RowFault(out->file, row.line, csv.header.fields[static_cast<size_t>(duration)],
                      Cell(row, duration), "a number from 0", "not a duration");
    }
    MeasuredKernel kernel{.name = Cell(row, name), .line = row.line};
    kernel.metrics[kDurationMetric] = *value * UnitScale(unit);
    if (summary) {
      if (!absl::SimpleAtoi(Cell(row, header.Find("Instances")), &kernel.instances) || kernel.instances == 0)
        return RowFault(out->file, row.line, "Instances", Cell(row, header.Find("Instances")),
                        "a number from 1", "not a number of launches");
    } else {
      kernel.grid = NsysTriple(row, header, "Grd");
      kernel.block = NsysTriple(row, header, "Blk");
      // Copies and memsets have no grid.
      if (!kernel.grid.has_value() || kernel.name.starts_with("[CUDA mem")) {
        ++out->copies;
        continue;
      }
    }
    RETURN_IF_ERROR(Keep(std::move(kernel), out));
  }
  return absl::OkStatus();
}

}  // namespace

std::string MetricName(std::string_view name, std::string_view unit) {
  struct Row {
    std::string_view details, unit, raw;  // unit: what it ends with; empty = any
  };
  // Pairs as the two pages of one report show them (checked on a report of 45 kernels).
  constexpr auto kRows =
      std::to_array<Row>({{"Elapsed Cycles", "", kCyclesMetric},
                          {"Duration", "", kDurationMetric},
                          {"L1/TEX Hit Rate", "", "l1tex__t_sector_hit_rate.pct"},
                          {"L2 Hit Rate", "", "lts__t_sector_hit_rate.pct"},
                          {"Memory Throughput", "/s", "dram__bytes.sum.per_second"},
                          {"Memory Throughput", "/second", "dram__bytes.sum.per_second"},
                          {"Executed Ipc Active", "", "sm__inst_executed.avg.per_cycle_active"},
                          {"Executed Instructions", "", "smsp__inst_executed.sum"},
                          {"Achieved Occupancy", "", "sm__warps_active.avg.pct_of_peak_sustained_active"},
                          {"SM Active Cycles", "", "sm__cycles_active.avg"}});
  for (const Row& row : kRows) {
    if (name == row.details && unit.ends_with(row.unit)) return std::string(row.raw);
  }
  return std::string(name);
}

absl::StatusOr<Measured> ReadMeasured(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const CsvFile csv, ReadCsv(text, file));
  Measured out{.file = file};
  if (csv.tool == ProfilerTool::kNsightSystems) {
    RETURN_IF_ERROR(ReadNsys(csv, &out));
  } else {
    const Header header(csv);
    ASSIGN_OR_RETURN(const NcuColumns columns, FindNcuColumns(header, file));
    RETURN_IF_ERROR(header.Find("Metric Name") >= 0 ? ReadMetricRows(csv, columns, &out)
                                                    : ReadRawPage(csv, columns, &out));
  }
  if (csv.skipped_lines > 0)
    out.notes.push_back(absl::StrCat(csv.skipped_lines, " lines that are no rows were skipped"));
  for (const std::string& message : csv.messages)
    out.notes.push_back(absl::StrCat("the profiler says: ", message));
  if (!out.kernels.empty()) return out;
  std::string why = "no measurements: there is no row of a kernel";
  for (const std::string& message : csv.messages) absl::StrAppend(&why, "; ", message);
  return RowFault(file, csv.header.line, "", "", "at least one kernel", why);
}

absl::StatusOr<Measured> ReadMeasuredFile(const std::string& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, ignored)) {
    const auto code = errno == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kInvalidArgument;
    return InputError(
        code,
        Fault{.file = file, .message = absl::StrCat("cannot be read: ", std::strerror(in ? EISDIR : errno))});
  }
  std::string text;
  std::string piece(1 << 20, '\0');
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    text.append(piece, 0, static_cast<size_t>(in.gcount()));
    if (text.size() > kFileBytesMax) break;  // what reads it says so
  }
  return ReadMeasured(text, file);
}

}  // namespace sm89::calibrate
