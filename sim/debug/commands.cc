#include "sim/debug/commands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89::debug {
namespace {

constexpr std::string_view kPlaceHelp =
    "A PLACE is one or more of these, all of which have to hold:\n"
    "  kernel N     position in the trace, from 1\n"
    "  cta X,Y,Z    coordinates; those left out are 0\n"
    "  warp W       number in its CTA, from 0\n"
    "  sm S         number of the SM, from 0\n"
    "  pc P         bytes from the kernel's start, as 0x1b0\n"
    "  op NAME      opcode without some of its last modifiers, as LDG or LDG.E\n"
    "  line N       source line, where the code has line information\n";

}  // namespace

std::span<const CommandDef> CommandTable::All() {
  static constexpr CommandDef kCommands[] = {
      {"break", "b", "PLACE | cycle N",
       "stop when such an instruction has issued, or at the begin of a cycle",
       "With pc, op or line: behind each cycle in which a warp at PLACE issues such an instruction.\n"
       "Without: at the first instruction of each warp, else of each CTA (cta, sm), else of each run\n"
       "of the kernel. The warp becomes the selected one.\n",
       &Debugger::Break},
      {"tbreak", "tb", "PLACE | cycle N", "the same, once", "", &Debugger::Tbreak},
      {"watch", "", "REGISTER [lane L] [PLACE] | SPACE ADDRESS [BYTES] [read|write] [PLACE]",
       "stop when a register changes or an address is accessed",
       "REGISTER: R4, P0 (both also of one lane), UR2 or UP1 of the selected warp, or of the one at\n"
       "PLACE (cta and warp, and kernel if it is not the first). Stops behind the cycle in which\n"
       "the instruction that changes it issues. Needs machine code (--cubin).\n"
       "SPACE: global, shared or local; in the last two an ADDRESS counts from the begin of the\n"
       "CTA's or the thread's memory. In global memory it may be a buffer of the launch: NAME or\n"
       "NAME+OFFSET, of the kernel in PLACE, else of the selected warp's, else of the first one. The\n"
       "accesses are those of the trace; without read or write both count.\n",
       &Debugger::Watch},
      {"delete", "d", "N | all", "remove a breakpoint or a watch", "", &Debugger::Delete},
      {"stops", "", "", "list breakpoints and watches", "", &Debugger::Stops},
      {"continue", "c", "", "run to the next stop or the end", "", &Debugger::Continue},
      {"cycle", "cy", "[N]", "run N cycles (1), and say what issues in them",
       "With a selected warp only what issues in its SM is listed. Idle time of the whole GPU is\n"
       "passed over as one step.\n",
       &Debugger::Cycles},
      {"step", "s", "[N] [alone]", "run until the selected warp has issued N more instructions (1)",
       "Without a selected warp any warp counts. Breakpoints and watches stop it, not with 'alone'.\n",
       &Debugger::Step},
      {"kernels", "k", "[kernel N]", "list the kernels: name, grid, block, how far they are",
       "Without N the first 256.\n", &Debugger::Kernels},
      {"warps", "ws", "[state NAME] [PLACE]", "list resident warps: PC, lanes, state, dependence counters",
       "At most 256 lines, and how many are in which state. An instruction in PLACE is the next one.\n",
       &Debugger::Warps},
      {"warp", "w", "[kernel N] [cta X,Y,Z] [warp W] [sm S]",
       "show the selected warp, or select the first resident one at that place",
       "The state is the one of 18 that the coming cycle counts as if the warp does not issue in it.\n",
       &Debugger::ShowWarp},
      {"regs", "r", "[REGISTER...|all] [lane L] [before] [f32|s32]", "show registers of the selected warp",
       "Without names: those that its last issued instruction names. Values are those behind that\n"
       "instruction, with 'before' those in front of it, whether or not the timing model has\n"
       "delivered them yet. Needs machine code (--cubin).\n",
       &Debugger::Registers},
      {"preds", "p", "[before]", "show predicates of the selected warp as masks of lanes",
       "Needs machine code (--cubin).\n", &Debugger::Predicates},
      {"access", "a", "[next]", "show the addresses of its last issued instruction, lane by lane",
       "'next': of the one that it issues next. The last one without addresses: an error.\n",
       &Debugger::Access},
      {"banks", "bk", "[next]", "show which lane hits which shared-memory bank in which pass",
       "A column a bank, a row a pass, the lane in it; '+' behind it: further lanes read the same word, "
       "listed below.\n",
       &Debugger::Banks},
      {"queues", "q", "[sm S|memory]", "show what waits in an SM, or in crossbar, L2 and DRAM",
       "Without words: in the SM of the selected warp, without one in every SM that has CTAs.\n"
       "Crossbar, L2 and DRAM are shown as of a cycle that may lie ahead, which is said.\n",
       &Debugger::Queues},
      {"list", "l", "[N]", "show N instructions (11) around the selected warp's PC",
       "'>' marks the next one, '*' the last issued one.\n", &Debugger::List},
      {"buffers", "", "[kernel N]", "list the buffers of a launch with their addresses",
       "Without N those of the selected warp's launch, without a warp the first 256 of all launches.\n",
       &Debugger::Buffers},
      {"report", "", "", "show the result table so far", "", &Debugger::Report},
      {"help", "h", "[COMMAND]", "this list, or one command", "", &Debugger::Help},
      {"quit", "exit", "", "end the debugger", "", &Debugger::Quit},
  };
  return kCommands;
}

const CommandDef* CommandTable::Find(std::string_view name) {
  for (const CommandDef& command : All()) {
    if (name == command.name || (!command.alias.empty() && name == command.alias)) return &command;
  }
  return nullptr;
}

Debugger::Text Debugger::Help(Words words) {
  std::string text;
  if (!words.empty()) {
    const std::string name = words.Take();
    RETURN_IF_ERROR(words.Finish("help"));
    const CommandDef* const command = CommandTable::Find(name);
    if (command == nullptr) return Mistake("help", name, "a command; 'help' lists them", "no such command");
    absl::StrAppend(&text, Av(command->name), command->usage.empty() ? "" : " ", Av(command->usage), "\n");
    if (!command->alias.empty()) absl::StrAppend(&text, "short: ", Av(command->alias), "\n");
    absl::StrAppend(&text, Av(command->summary), "\n", Av(command->details));
    if (command->usage.find("PLACE") != std::string_view::npos) text += kPlaceHelp;
    return text;
  }
  for (const CommandDef& command : CommandTable::All()) {
    const std::string name =
        absl::StrCat(Av(command.name), command.alias.empty() ? "" : ", ", Av(command.alias));
    absl::StrAppendFormat(&text, "%-13s %s\n", name, Av(command.summary));
  }
  absl::StrAppend(&text, "\n", Av(kPlaceHelp),
                  "Numbers are decimal, or hexadecimal behind 0x. '#' begins a comment.\n");
  return text;
}

Debugger::Text Debugger::Quit(Words words) {
  RETURN_IF_ERROR(words.Finish("quit"));
  quit_ = true;
  return "";
}

Debugger::Text Debugger::Execute(std::string_view line) {
  if (line.size() > kMaxLineBytes) {
    // A reader may have cut it: how long it is is not known here.
    return Mistake("line", absl::StrCat("more than ", kMaxLineBytes, " bytes"), "a shorter one", "too long");
  }
  Words words(line);
  if (words.empty()) return "";
  const std::string name = words.Take();
  const CommandDef* const command = CommandTable::Find(name);
  if (command == nullptr)
    return Mistake("command", name, "one of those that 'help' lists", "no such command");
  return (this->*command->run)(std::move(words));
}

}  // namespace sm89::debug
