// What the shells' completion scripts show. The candidates come from the parser itself (the hidden command
// `__complete`), so that the scripts never lag behind the options.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sm89::client {

// Kinds of names that live on the server.
enum class NameKind { kConfig, kTrace, kJob, kWorker };

// Short names of that kind; empty when the server does not answer quickly.
using NameSource = std::function<std::vector<std::string>(NameKind)>;

struct Completions {
  std::vector<std::string> words;  // start with the word being typed, sorted
  bool files = false;              // file names are right here, too
};

// `words`: what stands after the program's name; the last one (maybe empty) is being completed.
Completions Complete(const CLI::App& app, const std::vector<std::string>& words, const NameSource& names);

// The script for "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace sm89::client
