#include "client/kineto/merge_report.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/kineto/merge.h"

namespace sm89::client {
namespace {

constexpr size_t kTextRows = 10;  // of each list, for people
constexpr size_t kTextNameBytes = 60;
constexpr const char* kLists[] = {"pairs", "simulated_without_launch", "launches_without_simulation"};

// Kernels of one name and shape: one row with a count, by the first one's place.
class Groups {
 public:
  explicit Groups(const NameTable& names) : names_(names) {}

  void Add(const KernelIdentity& identity) {
    const auto key = std::tuple(identity.named, identity.name, identity.shape);
    const auto [it, added] = places_.emplace(key, rows_.size());
    if (added) rows_.emplace_back(identity, 0);
    ++rows_[it->second].second;
    ++total_;
  }

  // {"count": ..., "rows": [...], "rows_left_out": ...}
  TraceJson Json() const {
    TraceJson rows = TraceJson::array();
    for (size_t i = 0; i < std::min(rows_.size(), kMergeReportRows); ++i) {
      const auto& [identity, count] = rows_[i];
      TraceJson row;
      row["name"] = identity.named ? TraceJson(names_.text(identity.name)) : TraceJson(nullptr);
      const Shape& s = identity.shape;
      row["grid"] = {s[0], s[1], s[2]};
      row["block"] = {s[3], s[4], s[5]};
      row["count"] = count;
      rows.push_back(std::move(row));
    }
    return {{"count", total_},
            {"rows", std::move(rows)},
            {"rows_left_out", rows_.size() - std::min(rows_.size(), kMergeReportRows)}};
  }

 private:
  const NameTable& names_;
  std::map<std::tuple<bool, uint32_t, Shape>, size_t> places_;
  std::vector<std::pair<KernelIdentity, size_t>> rows_;
  size_t total_ = 0;
};

TraceJson Pairs(const MergeInputs& in) {
  TraceJson rows = TraceJson::array();
  size_t matched = 0;
  for (size_t s = 0; s < in.matches.size(); ++s) {
    const Match& match = in.matches[s];
    if (match.host == kNoMatch || ++matched > kMergeReportRows) continue;
    const SimKernel& kernel = in.simulated.kernels[s];
    const HostEntry& entry = in.host.order[match.host];
    TraceJson row;
    row["name"] = in.names.text(kernel.identity.name);
    row["matched_by"] = Name(match.kind);
    row["simulated_correlation"] = kernel.correlation;
    row["host_correlation"] = entry.launch != kNoIndex ? in.host.launches[entry.launch].correlation
                                                       : in.host.kernels[entry.kernel].correlation;
    row["simulated_us"] = MicrosecondsOf(kernel.duration_ns);
    row["measured_us"] = entry.kernel == kNoIndex ? TraceJson(nullptr)
                                                  : MicrosecondsOf(in.host.kernels[entry.kernel].duration_ns);
    rows.push_back(std::move(row));
  }
  return {{"count", matched},
          {"rows", std::move(rows)},
          {"rows_left_out", matched - std::min(matched, kMergeReportRows)}};
}

std::string Cut(const TraceJson& name) {
  if (!name.is_string()) return "(a launch whose kernel the profile does not tell)";
  std::string text = name.get<std::string>();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  if (text.size() <= kTextNameBytes) return text;
  size_t end = kTextNameBytes - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole characters
  return text.substr(0, end) + "...";
}

void AddGroups(const TraceJson& list, const char* title, std::string* text) {
  if (list["count"] == 0) return;
  absl::StrAppend(text, title, ": ", list["count"].get<size_t>(), "\n");
  const TraceJson& rows = list["rows"];
  for (size_t i = 0; i < std::min(rows.size(), kTextRows); ++i) {
    absl::StrAppendFormat(text, "  %6d x %s, grid %s, block %s\n", rows[i]["count"].get<size_t>(),
                          Cut(rows[i]["name"]), rows[i]["grid"].dump(), rows[i]["block"].dump());
  }
  const size_t more = rows.size() - std::min(rows.size(), kTextRows) + list["rows_left_out"].get<size_t>();
  if (more != 0) absl::StrAppend(text, "  and ", more, " other kinds (all in the JSON report)\n");
}

}  // namespace

TraceJson MergeReport(const MergeInputs& in) {
  Groups simulated_only(in.names), host_only(in.names);
  std::vector<bool> taken(in.host.order.size(), false);
  TraceJson by = TraceJson::object();
  size_t alone = 0;
  for (size_t s = 0; s < in.matches.size(); ++s) {
    const Match& match = in.matches[s];
    alone += in.placement.kernels[s].alone ? 1 : 0;
    if (match.host == kNoMatch) {
      simulated_only.Add(in.simulated.kernels[s].identity);
      continue;
    }
    taken[match.host] = true;
    TraceJson& count = by[std::string(Name(match.kind))];
    count = (count.is_null() ? 0 : count.get<size_t>()) + 1;
  }
  for (size_t h = 0; h < taken.size(); ++h) {
    const HostEntry& entry = in.host.order[h];
    if (taken[h]) continue;
    host_only.Add(entry.kernel == kNoIndex ? KernelIdentity{.named = false}
                                           : in.host.kernels[entry.kernel].identity);
  }
  TraceJson report;
  report["format"] = "sm89-kineto-merge/1";
  report["host"] = {{"events", in.host.events},
                    {"launches", in.host.launches.size()},
                    {"kernels", in.host.kernels.size()},
                    {"kernels_left_out", in.replaced}};
  report["simulated"] = {
      {"kernels", in.simulated.kernels.size()},
      {"copies_left_out", in.simulated.copies},
      {"kernels_without_counters",
       in.simulated.counters == 0 ? TraceJson(nullptr) : TraceJson(in.matches.size() - alone)}};
  report["matched_by"] = std::move(by);
  report["out_of_order"] = OutOfOrder(in.matches);
  report["pairs"] = Pairs(in);
  report["simulated_without_launch"] = simulated_only.Json();
  report["launches_without_simulation"] = host_only.Json();
  return report;
}

TraceJson MergeSummary(const TraceJson& report) {
  TraceJson summary = report;
  for (const char* list : kLists) summary[list] = report[list]["count"];
  return summary;
}

std::string MergeReportText(const TraceJson& report) {
  std::string text =
      absl::StrFormat("host profile: %d events, %d launch calls, %d kernels\nsimulation: %d kernels\n",
                      report["host"]["events"].get<size_t>(), report["host"]["launches"].get<size_t>(),
                      report["host"]["kernels"].get<size_t>(), report["simulated"]["kernels"].get<size_t>());
  absl::StrAppend(&text, "matched: ", report["pairs"]["count"].get<size_t>(), "\n");
  for (const auto& [kind, count] : report["matched_by"].items()) {
    absl::StrAppendFormat(&text, "  %6d by %s\n", count.get<size_t>(), kind);
  }
  const size_t disordered = report["out_of_order"];
  if (disordered != 0) {
    absl::StrAppend(&text, "  of these, ", disordered, " in another order than their launches\n");
  }
  AddGroups(report["simulated_without_launch"], "simulated kernels without a launch in the profile", &text);
  AddGroups(report["launches_without_simulation"], "launches without a simulated kernel", &text);
  const size_t replaced = report["host"]["kernels_left_out"];
  if (replaced != 0) absl::StrAppend(&text, "measured kernels left out, as asked: ", replaced, "\n");
  const size_t copies = report["simulated"]["copies_left_out"];
  if (copies != 0) {
    absl::StrAppend(&text, "copies of the simulation left out (they take no time there): ", copies, "\n");
  }
  const TraceJson& counters = report["simulated"]["kernels_without_counters"];
  if (!counters.is_null() && counters != 0) {
    absl::StrAppend(&text, "kernels that were not alone on the GPU and have no counters here: ",
                    counters.get<size_t>(), "\n");
  }
  return text;
}

}  // namespace sm89::client
