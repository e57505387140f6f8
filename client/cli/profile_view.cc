#include "client/cli/profile_view.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/format.h"
#include "client/cli/table.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

using Json = nlohmann::json;

constexpr char kFormat[] = "sm89-profile/1";
// The states of warps are the columns from the one to before the other.
constexpr char kFirstState[] = "selected";
constexpr char kBehindStates[] = "requests";
constexpr size_t kTextColumns = 60;

std::string TextOr(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

// `file` counts from 1.
std::string PlaceText(const Json& file, const Json& line, const std::vector<std::string>& files) {
  if (!line.is_number_unsigned()) return "";
  const size_t number = file.is_number_unsigned() ? file.get<size_t>() : 0;
  if (number == 0 || number > files.size()) return absl::StrCat("line ", line.get<uint64_t>());
  return absl::StrCat(std::filesystem::path(files[number - 1]).filename().string(), ":",
                      line.get<uint64_t>());
}

ProfileCounts CountsOf(const Json& row, size_t first) {
  ProfileCounts counts;
  for (size_t i = first; i < row.size(); ++i) counts.push_back(row.at(i).get<uint64_t>());
  return counts;
}

ProfileKernel KernelOf(const Json& json) {
  ProfileKernel kernel;
  kernel.index = json.at("index");
  kernel.name = json.at("name");
  kernel.case_id = TextOr(json.at("case"));
  kernel.cycles = json.at("cycles");
  kernel.control_bits = json.at("control_bits");
  kernel.total = CountsOf(json.at("total"), 0);
  const auto files = json.at("files").get<std::vector<std::string>>();
  for (const Json& row : json.at("rows")) {
    ProfileRow& out = kernel.rows.emplace_back();
    out.pc = row.at(0);
    const std::string sass = TextOr(row.at(2));
    out.text = sass.empty() ? row.at(1).get<std::string>() : sass;
    out.place = PlaceText(row.at(3), row.at(4), files);
    out.ptx = TextOr(row.at(5));
    if (row.at(6).is_number_unsigned()) out.live = row.at(6);
    out.counts = CountsOf(row, 7);
  }
  for (const Json& row : json.at("lines")) {
    ProfileRow& out = kernel.lines.emplace_back();
    out.place = PlaceText(row.at(0), row.at(1), files);
    out.counts = CountsOf(row, 2);
  }
  return kernel;
}

size_t IndexOf(const std::vector<std::string>& names, const char* name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

absl::Status CheckShape(const Profile& profile) {
  const size_t columns = profile.columns.size();
  const size_t first_state = IndexOf(profile.columns, kFirstState);
  const size_t behind_states = IndexOf(profile.columns, kBehindStates);
  if (first_state >= behind_states || behind_states == columns) {
    return absl::DataLossError(absl::StrCat("it has no columns ", kFirstState, " to ", kBehindStates));
  }
  bool good = true;
  for (const ProfileKernel& kernel : profile.kernels) {
    good &= kernel.total.size() == columns;
    for (const auto* rows : {&kernel.rows, &kernel.lines}) {
      for (const ProfileRow& row : *rows) good &= row.counts.size() == columns;
    }
  }
  return good ? absl::OkStatus() : absl::DataLossError("its rows do not have its columns");
}

// Named counters of a profile's rows.
class Columns {
 public:
  explicit Columns(const Profile& profile)
      : names_(profile.columns),
        first_state_(IndexOf(names_, kFirstState)),
        behind_states_(IndexOf(names_, kBehindStates)) {}

  // The counter of a name, 0 where the profile has none.
  auto Counter(const char* name) const {
    return [index = IndexOf(names_, name), columns = names_.size()](const ProfileCounts& counts) {
      return index == columns ? 0 : counts[index];
    };
  }
  // Warp-cycles in all states.
  uint64_t Cycles(const ProfileCounts& counts) const {
    uint64_t cycles = 0;
    for (size_t s = first_state_; s < behind_states_; ++s) cycles += counts[s];
    return cycles;
  }
  // Without those in which the instruction issued.
  uint64_t Waited(const ProfileCounts& counts) const { return Cycles(counts) - counts[first_state_]; }

  // "long_scoreboard 81, wait 12": what was waited for in percent, the `most` largest parts.
  std::string Reasons(const ProfileCounts& counts, size_t most) const {
    const uint64_t waited = Waited(counts);
    std::vector<std::pair<uint64_t, size_t>> parts;
    for (size_t s = first_state_ + 1; s < behind_states_; ++s) {
      if (counts[s] != 0) parts.emplace_back(counts[s], s);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (size_t i = 0; i < std::min(most, parts.size()); ++i) {
      const double share = 100.0 * static_cast<double>(parts[i].first) / static_cast<double>(waited);
      if (i > 0 && share < 0.5) break;  // largest first: nor do the others matter
      absl::StrAppend(&text, i == 0 ? "" : ", ", Printable(names_[parts[i].second]), " ",
                      absl::StrFormat("%.0f", share));
    }
    return text;
  }

 private:
  const std::vector<std::string>& names_;
  const size_t first_state_;
  const size_t behind_states_;
};

std::string Ratio(uint64_t part, uint64_t whole, double scale) {
  if (whole == 0) return "-";
  return absl::StrFormat("%.1f", scale * static_cast<double>(part) / static_cast<double>(whole));
}

using CellText = std::function<std::string(const ProfileRow&)>;

struct ViewColumn {
  Table::Column column;
  CellText cell;
};

class View {
 public:
  void AddNumber(const char* title, CellText cell) { Add(title, Table::Align::kRight, std::move(cell)); }
  void AddText(const char* title, CellText cell) { Add(title, Table::Align::kLeft, std::move(cell)); }
  std::vector<ViewColumn> Take() { return std::move(columns_); }

 private:
  void Add(const char* title, Table::Align align, CellText cell) {
    ViewColumn& added = columns_.emplace_back();
    added.column.title = title;
    added.column.align = align;
    added.column.max_columns = kTextColumns;
    added.cell = std::move(cell);
  }

  std::vector<ViewColumn> columns_;
};

// What an instruction did, or a line's instructions together.
void AddCounters(const Columns& columns, uint64_t waited, View* view) {
  const auto of = [&columns](const char* name) {
    return [counter = columns.Counter(name)](const ProfileRow& row) { return counter(row.counts); };
  };
  const auto issued = of("issued"), threads = of("threads"), requests = of("requests"),
             loads = of("load_sectors"), hits = of("load_hits"), stores = of("store_sectors"),
             others = of("other_sectors"), passes = of("shared_passes"),
             conflicts = of("shared_bank_conflicts"), l2 = of("l2_read_sectors"),
             l2_hits = of("l2_read_hits");
  view->AddNumber("issued", [=](const ProfileRow& r) { return HumanCount(static_cast<double>(issued(r))); });
  view->AddNumber("lanes", [=](const ProfileRow& r) { return Ratio(threads(r), issued(r), 1); });
  view->AddNumber(
      "waits %", [=, &columns](const ProfileRow& r) { return Ratio(columns.Waited(r.counts), waited, 100); });
  view->AddText("waits for, % of them",
                [&columns](const ProfileRow& r) { return columns.Reasons(r.counts, 2); });
  view->AddNumber("L1 hit %", [=](const ProfileRow& r) { return Ratio(hits(r), loads(r), 100); });
  view->AddNumber("L2 hit %", [=](const ProfileRow& r) { return Ratio(l2_hits(r), l2(r), 100); });
  view->AddNumber("sectors/req", [=](const ProfileRow& r) {
    return Ratio(loads(r) + stores(r) + others(r), requests(r), 1);
  });
  view->AddNumber("conflicts %", [=](const ProfileRow& r) { return Ratio(conflicts(r), passes(r), 100); });
}

std::string PlaceOf(const ProfileRow& row) {
  return row.place.empty() ? std::string("-") : Printable(row.place);
}

std::vector<ViewColumn> ViewColumns(const Columns& columns, const ProfileKernel& kernel, bool lines) {
  const uint64_t waited = columns.Waited(kernel.total);
  View view;
  if (lines) {
    view.AddText("line", PlaceOf);
    AddCounters(columns, waited, &view);
    return view.Take();
  }
  view.AddNumber("pc", [](const ProfileRow& r) { return absl::StrFormat("%04x", r.pc); });
  AddCounters(columns, waited, &view);
  view.AddNumber("live",
                 [](const ProfileRow& r) { return r.live < 0 ? std::string("-") : absl::StrCat(r.live); });
  view.AddText("instruction", [](const ProfileRow& r) { return Printable(r.text); });
  view.AddText("line", PlaceOf);
  view.AddText("PTX",
               [](const ProfileRow& r) { return r.ptx.empty() ? std::string("-") : Printable(r.ptx); });
  return view.Take();
}

// Columns that no row has anything for are left out.
void PrintRows(const Columns& columns, const ProfileKernel& kernel,
               const std::vector<const ProfileRow*>& rows, bool lines, Terminal& terminal) {
  std::vector<ViewColumn> view = ViewColumns(columns, kernel, lines);
  std::erase_if(view, [&](const ViewColumn& column) {
    return std::all_of(rows.begin(), rows.end(), [&](const ProfileRow* row) {
      const std::string text = column.cell(*row);
      return text == "-" || text.empty();
    });
  });
  std::vector<Table::Column> heads;
  for (const ViewColumn& column : view) heads.push_back(column.column);
  Table table(heads);
  for (const ProfileRow* row : rows) {
    std::vector<Table::Cell> cells;
    for (const ViewColumn& column : view) cells.emplace_back(column.cell(*row));
    table.AddRow(std::move(cells));
  }
  table.Print(terminal);
}

absl::Status PrintKernel(const Columns& columns, const ProfileKernel& kernel,
                         const ProfileViewOptions& options, Terminal& terminal) {
  const std::vector<ProfileRow>& all = options.lines ? kernel.lines : kernel.rows;
  const bool known =
      std::any_of(all.begin(), all.end(), [](const ProfileRow& row) { return !row.place.empty(); });
  if (options.lines && !known) {
    return absl::InvalidArgumentError(absl::StrCat("no source line of kernel ", kernel.index + 1, " '",
                                                   Printable(kernel.name),
                                                   "' is known: compile with -lineinfo and give the cubin "
                                                   "(submit --cubin, or --sass beside the trace)"));
  }
  std::vector<const ProfileRow*> rows;
  for (const ProfileRow& row : all) rows.push_back(&row);
  if (!options.program_order) {
    std::stable_sort(rows.begin(), rows.end(), [&columns](const ProfileRow* a, const ProfileRow* b) {
      return columns.Waited(a->counts) > columns.Waited(b->counts);
    });
  }
  const size_t shown = options.top == 0 ? rows.size() : std::min(options.top, rows.size());
  const size_t left = rows.size() - shown;
  rows.resize(shown);
  const std::string label = kernel.case_id.empty() || kernel.case_id == kernel.name
                                ? std::string()
                                : absl::StrCat(" (", Printable(kernel.case_id), ")");
  terminal.out() << "kernel " << kernel.index + 1 << " " << Printable(kernel.name) << label << ": "
                 << kernel.cycles << " cycles, " << columns.Counter("issued")(kernel.total)
                 << " warp instructions, " << columns.Cycles(kernel.total) << " warp-cycles, "
                 << columns.Waited(kernel.total) << " of them waiting (" << columns.Reasons(kernel.total, 4)
                 << " %); control bits: " << Printable(kernel.control_bits) << "\n";
  PrintRows(columns, kernel, rows, options.lines, terminal);
  if (left != 0) {
    terminal.out() << "and " << left << " more: --top 0\n";
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Profile> ParseProfile(const std::string& json) {
  Profile profile;
  std::string place = "the document";
  try {  // the JSON library reports by exceptions; they end here
    const Json root = Json::parse(json);
    if (!root.is_object() || TextOr(root.value("format", Json())) != kFormat) {
      return absl::DataLossError(absl::StrCat("its format is not ", kFormat));
    }
    root.at("counter_columns").get_to(profile.columns);
    for (const Json& kernel : root.at("kernels")) {
      place = absl::StrCat("entry ", profile.kernels.size() + 1, " of 'kernels'");
      profile.kernels.push_back(KernelOf(kernel));
    }
  } catch (const Json::parse_error& error) {
    return absl::DataLossError(absl::StrCat("not JSON, or cut off, at byte ", error.byte));
  } catch (const Json::exception&) {
    return absl::DataLossError(absl::StrCat("a part of ", place, " is missing or of another kind"));
  }
  CLIENT_RETURN_IF_ERROR(CheckShape(profile));
  return profile;
}

absl::Status PrintProfile(const Profile& profile, const ProfileViewOptions& options, Terminal& terminal) {
  const Columns columns(profile);
  for (const uint64_t wanted : options.kernels) {
    const bool there = std::any_of(profile.kernels.begin(), profile.kernels.end(),
                                   [&](const ProfileKernel& kernel) { return kernel.index + 1 == wanted; });
    if (!there) {
      return absl::InvalidArgumentError(absl::StrCat("--kernel ", wanted, ": the job ran no such kernel"));
    }
  }
  bool first = true;
  for (const ProfileKernel& kernel : profile.kernels) {
    const auto& wanted = options.kernels;
    const bool chosen =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), kernel.index + 1) != wanted.end();
    if (!chosen) continue;
    if (!first) terminal.out() << "\n";
    first = false;
    CLIENT_RETURN_IF_ERROR(PrintKernel(columns, kernel, options, terminal));
  }
  return absl::OkStatus();
}

}  // namespace sm89::client
