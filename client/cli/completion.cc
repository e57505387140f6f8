#include "client/cli/completion.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <map>

namespace sm89::client {
namespace {

constexpr char kBash[] = R"sh(# bash completion of sm89: source <(sm89 completion bash)
_sm89() {
  local cur="${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  # bash splits --option=value at the '=': the program puts it together again, and the value is all of cur.
  if [[ "$cur" == "=" ]]; then cur=""; fi
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then
      compopt -o default -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
    else
      COMPREPLY+=("$line")
    fi
  done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _sm89 sm89
)sh";

constexpr char kZsh[] = R"sh(#compdef sm89
# zsh completion of sm89: source <(sm89 completion zsh), or keep it as _sm89 in a folder of $fpath
_sm89() {
  local -a candidates
  local line
  local -i files=0
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then files=1; else candidates+=("$line"); fi
  done < <("${words[1]}" __complete -- "${(@)words[2,$CURRENT]}" 2>/dev/null)
  (( ${#candidates} )) && compadd -- "${candidates[@]}"
  (( files )) && _files
  return 0
}
compdef _sm89 sm89
)sh";

constexpr char kFish[] = R"sh(# fish completion of sm89: sm89 completion fish | source
function __sm89_complete
    set -l tokens (commandline -opc) (commandline -ct)
    for line in ($tokens[1] __complete -- $tokens[2..-1] 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c sm89 -f -a "(__sm89_complete)"
)sh";

bool StartsWith(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

// Names that are completed from the server, by the option or positional that takes them.
const std::map<std::string, NameKind>& KindsByOption() {
  static const auto& kinds = *new std::map<std::string, NameKind>{
      {"--config", NameKind::kConfig}, {"--base", NameKind::kConfig}, {"--trace", NameKind::kTrace},
      {"CONFIG", NameKind::kConfig},   {"LEFT", NameKind::kConfig},   {"RIGHT", NameKind::kConfig},
      {"TRACE", NameKind::kTrace},     {"PROGRAM", NameKind::kTrace}, {"JOB", NameKind::kJob},
      {"--job", NameKind::kJob},       {"WORKER", NameKind::kWorker}};
  return kinds;
}

bool TakesFiles(const std::string& option) {
  constexpr const char* kTakers[] = {"PATH",    "FILE",     "CONFIG",     "LEFT",    "RIGHT",
                                     "--trace", "--cubin",  "--launch",   "--suite", "--cubin-dir",
                                     "--ptx",   "--config", "--settings", "--json",  "--csv",
                                     "--text",  "--table",  "--measured", "--output"};
  return std::any_of(std::begin(kTakers), std::end(kTakers), [&](const char* t) { return option == t; });
}

std::vector<std::string> FixedValues(const std::string& option) {
  if (option == "--color") return {"auto", "always", "never"};
  if (option == "KIND")
    return {"banks", "dis", "info", "live", "mix", "mma-layout", "ptx", "spills", "stalls"};
  if (option == "--arch") return {"sm_80", "sm_86", "sm_89", "sm_90"};
  if (option == "SHELL") return {"bash", "fish", "zsh"};
  if (option == "--state") {
    return {"queued",     "starting",  "running", "lost_contact",
            "cancelling", "succeeded", "failed",  "cancelled"};
  }
  return {};
}

// bash hands "--a=b" over as "--a", "=", "b".
std::vector<std::string> JoinEquals(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_equals = words[i] == "=" && !joined.empty() && StartsWith(joined.back(), "--");
    if (is_equals) {
      if (i + 1 == words.size()) joined.emplace_back();  // the value is still to be typed
    } else {
      joined.push_back(words[i]);
    }
  }
  return joined;
}

// Walks the words that are complete and knows what the last one is.
class Walker {
 public:
  Walker(const CLI::App& app, const NameSource& names) : app_(&app), root_(&app), names_(names) {}

  void Step(const std::string& word) {
    if (pending_ != nullptr) {
      pending_ = nullptr;
      return;
    }
    if (StartsWith(word, "-") && word.size() > 1) {
      const CLI::Option* option = FindOption(word.substr(0, word.find('=')));
      const bool takes_value = option != nullptr && option->get_items_expected_min() > 0;
      if (takes_value && word.find('=') == std::string::npos) pending_ = option;
      return;
    }
    for (const CLI::App* command : app_->get_subcommands(nullptr)) {
      if (command->get_name() == word && !StartsWith(word, "__")) {
        app_ = command;
        positionals_ = 0;
        return;
      }
    }
    ++positionals_;
  }

  Completions Last(const std::string& word) const {
    Completions found;
    if (pending_ != nullptr) {
      AddValues(NameOf(*pending_), word, &found);
    } else if (StartsWith(word, "-")) {
      AddOptions(word, &found);
    } else {
      AddCommands(word, &found);
      if (const CLI::Option* positional = NextPositional(); positional != nullptr) {
        AddValues(NameOf(*positional), word, &found);
      }
    }
    std::sort(found.words.begin(), found.words.end());
    found.words.erase(std::unique(found.words.begin(), found.words.end()), found.words.end());
    return found;
  }

 private:
  static std::string NameOf(const CLI::Option& option) {
    if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
    return option.get_positional() ? option.get_name(true) : option.get_name();
  }

  const CLI::Option* FindOption(const std::string& name) const {
    for (const CLI::App* app : {app_, root_}) {
      if (const CLI::Option* option = app->get_option_no_throw(name); option != nullptr) return option;
    }
    return nullptr;
  }

  const CLI::Option* NextPositional() const {
    size_t at = 0;
    for (const CLI::Option* option : app_->get_options()) {
      if (!option->get_positional()) continue;
      const bool repeats = option->get_items_expected_max() > 1;
      if (at++ == positionals_ || repeats) return option;
    }
    return nullptr;
  }

  void Add(const std::string& candidate, const std::string& word, Completions* found) const {
    if (StartsWith(candidate, word)) found->words.push_back(candidate);
  }

  void AddOptions(const std::string& word, Completions* found) const {
    for (const CLI::App* app : {app_, root_}) {
      for (const CLI::Option* option : app->get_options()) {
        for (const std::string& name : option->get_lnames()) Add("--" + name, word, found);
        for (const std::string& name : option->get_snames()) Add("-" + name, word, found);
      }
    }
  }

  void AddCommands(const std::string& word, Completions* found) const {
    if (positionals_ > 0) return;
    for (const CLI::App* command : app_->get_subcommands(nullptr)) {
      if (!StartsWith(command->get_name(), "__")) Add(command->get_name(), word, found);
    }
  }

  void AddValues(const std::string& option, const std::string& word, Completions* found) const {
    for (const std::string& value : FixedValues(option)) Add(value, word, found);
    if (option == "COMMAND") {
      for (const CLI::App* command : root_->get_subcommands(nullptr)) {
        if (!StartsWith(command->get_name(), "__")) Add(command->get_name(), word, found);
      }
    }
    if (const auto kind = KindsByOption().find(option); kind != KindsByOption().end()) {
      for (const std::string& name : names_(kind->second)) Add(name, word, found);
    }
    found->files = TakesFiles(option);
  }

  const CLI::App* app_;
  const CLI::App* root_;
  const NameSource& names_;
  const CLI::Option* pending_ = nullptr;  // an option that waits for its value
  size_t positionals_ = 0;
};

}  // namespace

Completions Complete(const CLI::App& app, const std::vector<std::string>& words, const NameSource& names) {
  const std::vector<std::string> joined = JoinEquals(words);
  Walker walker(app, names);
  for (size_t i = 0; i + 1 < joined.size(); ++i) walker.Step(joined[i]);
  return walker.Last(joined.empty() ? "" : joined.back());
}

std::string CompletionScript(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  return kFish;
}

}  // namespace sm89::client
