// Runs a fuzz target without a fuzzer: every file of the given folders (or single files), then deterministic
// mutations of each. Ends with 0, or with 1 after saying which input crashed.
//
//   fuzz_replay_NAME [--mutations N] [--only MUTATION] [--save OUT] FOLDER|FILE ...
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

struct Options {
  std::vector<std::string> inputs;
  uint64_t mutations = 0;
  std::string save;   // write the last input there before it runs
  uint64_t only = 0;  // run just this mutation (0 = all)
};

// What the crash handler says; filled before each run, so that the handler only writes.
char crash_note[512];

void OnCrash(int signal) {
  const size_t length = strnlen(crash_note, sizeof crash_note);
  [[maybe_unused]] const auto written = write(STDERR_FILENO, crash_note, length);
  // A plain exit code, so that a test runner can tell what was found from what broke the runner.
  _exit(signal == 0 ? 0 : 1);
}

bool ParseNumber(const char* text, uint64_t* value) {
  const char* end = text + std::strlen(text);
  return std::from_chars(text, end, *value).ptr == end && end != text;
}

bool Parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const bool has_value = i + 1 < argc;
    if (arg == "--mutations" && has_value) {
      if (!ParseNumber(argv[++i], &options->mutations)) return false;
    } else if (arg == "--only" && has_value) {
      if (!ParseNumber(argv[++i], &options->only)) return false;
    } else if (arg == "--save" && has_value) {
      options->save = argv[++i];
    } else if (arg.starts_with("--")) {
      return false;
    } else {
      options->inputs.emplace_back(arg);
    }
  }
  return !options->inputs.empty();
}

std::vector<std::string> FilesOf(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    if (!std::filesystem::is_directory(input)) {
      files.push_back(input);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(input)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// Mutation `number` of `seed`: one to four edits. Depends on nothing else.
std::string Mutate(const std::string& seed, uint64_t number) {
  std::mt19937_64 random(number * 0x9E3779B97F4A7C15u + seed.size());
  std::string bytes = seed;
  const uint64_t edits = random() % 4 + 1;
  for (uint64_t e = 0; e < edits; ++e) {
    const size_t at = bytes.empty() ? 0 : random() % bytes.size();
    switch (random() % 6) {
      case 0:  // another byte
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random());
        break;
      case 2:  // another bit
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 3:  // one byte more
        bytes.insert(at, 1, static_cast<char>(random()));
        break;
      case 4:  // a cut
        bytes.erase(at, random() % 8 + 1);
        break;
      default:  // a piece of itself once more
        bytes.insert(at, bytes.substr(bytes.empty() ? 0 : random() % bytes.size(), random() % 32));
        break;
    }
  }
  return bytes;
}

void RunOne(const Options& options, const std::string& file, uint64_t mutation, const std::string& bytes) {
  std::snprintf(crash_note, sizeof crash_note, "fuzz replay: crashed at mutation %llu of %s\n",
                static_cast<unsigned long long>(mutation), file.c_str());
  if (!options.save.empty()) std::ofstream(options.save, std::ios::binary) << bytes;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, &options)) {
    std::fprintf(stderr, "usage: %s [--mutations N] [--only N] [--save FILE] FOLDER|FILE ...\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> files = FilesOf(options.inputs);
  if (files.empty()) {
    std::fprintf(stderr, "fuzz replay: the corpus is empty\n");
    return 2;
  }
  for (const std::string& file : files) {
    if (std::filesystem::is_regular_file(file)) continue;
    std::fprintf(stderr, "fuzz replay: there is no file or folder '%s'\n", file.c_str());
    return 2;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, OnCrash);
  uint64_t runs = 0;
  for (const std::string& file : files) {
    const std::string seed = Read(file);
    for (uint64_t m = 0; m <= options.mutations; ++m) {
      if (options.only != 0 && m != options.only) continue;
      RunOne(options, file, m, m == 0 ? seed : Mutate(seed, m));
      ++runs;
    }
  }
  std::printf("fuzz replay: %llu inputs from %zu files\n", static_cast<unsigned long long>(runs),
              files.size());
  return 0;
}
