// "--json [FILE]": what a command writes, to a file or to the output.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sm89::client {

// The target that stands for the output stream.
inline constexpr char kToOutput[] = "-";

// Sets `target` to the FILE given, kToOutput without one; untouched without the option.
void AddTarget(CLI::App* command, const char* option, std::string* target, const char* help);

}  // namespace sm89::client
