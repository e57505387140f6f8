// Every command with its help: one row a command.
#pragma once

#include <span>
#include <string_view>

#include "sim/debug/debugger.h"
#include "sim/debug/words.h"

namespace sm89::debug {

struct CommandDef {
  std::string_view name;
  std::string_view alias;  // empty: none
  std::string_view usage;  // behind the name
  std::string_view summary;
  std::string_view details;  // whole lines; may be empty
  Debugger::Text (Debugger::*run)(Words words) = nullptr;
};

struct CommandTable {
  static std::span<const CommandDef> All();  // in the order of "help"
  // By name or alias; null: none.
  static const CommandDef* Find(std::string_view name);
};

}  // namespace sm89::debug
