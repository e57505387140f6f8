#include "client/cli/target_option.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <vector>

namespace sm89::client {

void AddTarget(CLI::App* command, const char* option, std::string* target, const char* help) {
  command
      ->add_option_function<std::vector<std::string>>(
          option,
          [target](const std::vector<std::string>& given) {
            *target = given.empty() || given.front().empty() ? kToOutput : given.front();
          },
          help)
      ->expected(0, 1)
      ->type_name("[FILE]");
}

}  // namespace sm89::client
