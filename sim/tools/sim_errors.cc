#include "sim/tools/sim_errors.h"

#include <algorithm>
#include <ostream>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"

namespace sm89 {

void PrintError(std::string_view program, const absl::Status& status, std::ostream& err) {
  const std::vector<Fault> faults = FaultsOf(status);
  if (faults.empty()) {
    err << program << ": error: " << Sv(status.message()) << "\n";
    return;
  }
  for (const Fault& fault : faults) err << program << ": error: " << FormatFault(fault) << "\n";
}

std::string RepeatHint(const CLI::App& app, const std::vector<std::string>& args) {
  const std::vector<std::string> left = app.remaining(true);
  const auto extra = left.empty() ? args.end() : std::find(args.begin(), args.end(), left.front());
  if (extra == args.end() || extra - args.begin() < 2) return "";
  const std::string& option = *(extra - 2);
  const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  const CLI::Option* known = option.starts_with("--") ? command->get_option_no_throw(option) : nullptr;
  if (known == nullptr || known->get_items_expected_max() == 0) return "";
  if (known->get_items_expected_max() == 1) return absl::StrCat("; ", option, " takes one value");
  return absl::StrCat("; ", option, " takes one value each time: ", option, " ", *(extra - 1), " ", option,
                      " ", *extra);
}

}  // namespace sm89
