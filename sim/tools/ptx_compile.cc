#include "sim/tools/ptx_compile.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/tools/sim_temp_file.h"

extern char** environ;

namespace sm89 {
namespace {

constexpr size_t kMessageBytes = 4096;  // of what ptxas says

// "" when no folder of PATH has it.
std::string FindPtxas() {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return "";
  for (const absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    std::string candidate = absl::StrCat(folder, "/ptxas");
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

absl::Status NoPtxas(const std::string& name) {
  Fault fault;
  fault.file = name;
  fault.expected = "a cubin, or ptxas on PATH";
  fault.message =
      "PTX is compiled by NVIDIA's ptxas, which is not here: install it (package cuda-nvcc of the CUDA "
      "toolkit, or 'pip install nvidia-cuda-nvcc') and put it on PATH, or give a cubin";
  return InputError(absl::StatusCode::kFailedPrecondition, fault);
}

std::string ReadAll(const std::string& path, size_t most) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.size() > most) text.resize(most);
  return text;
}

// Waits for the child, or kills it when its time is up: false.
bool WaitFor(pid_t child, uint32_t wall_seconds, int* wait_status) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(wall_seconds);
  while (true) {
    const pid_t ended = waitpid(child, wait_status, WNOHANG);
    if (ended == child) return true;
    if (ended < 0 && errno != EINTR) return false;
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      while (waitpid(child, wait_status, 0) < 0 && errno == EINTR) {
      }
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Starts `arguments` with everything that it says going to the file `output`.
absl::StatusOr<pid_t> Start(const std::vector<std::string>& arguments, const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return child;
  return absl::UnavailableError(absl::StrCat("cannot start ", arguments[0], ": ", std::strerror(error)));
}

}  // namespace

bool LooksLikePtx(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    if (std::isspace(static_cast<unsigned char>(bytes[at])) != 0) {
      ++at;
    } else if (bytes.substr(at, 2) == "//") {
      at = bytes.find('\n', at);
    } else if (bytes.substr(at, 2) == "/*") {
      at = bytes.find("*/", at);
      if (at != std::string_view::npos) at += 2;
    } else {
      return bytes.substr(at, 8) == ".version";
    }
  }
  return false;
}

absl::StatusOr<std::string> CompilePtx(std::string_view ptx, const std::string& name, uint32_t arch,
                                       const PtxasOptions& options) {
  const std::string program = options.program.empty() ? FindPtxas() : options.program;
  if (program.empty()) return NoPtxas(name);
  ASSIGN_OR_RETURN(const TempFile input, TempFile::Create("sm89-ptx"));
  ASSIGN_OR_RETURN(const TempFile cubin, TempFile::Create("sm89-cubin"));
  ASSIGN_OR_RETURN(const TempFile said, TempFile::Create("sm89-ptxas"));
  std::ofstream(input.path(), std::ios::binary).write(ptx.data(), static_cast<std::streamsize>(ptx.size()));
  ASSIGN_OR_RETURN(const pid_t child, Start({program, "--gpu-name", absl::StrCat("sm_", arch), "-lineinfo",
                                             input.path(), "--output-file", cubin.path()},
                                            said.path()));
  int wait_status = 0;
  if (!WaitFor(child, options.wall_seconds, &wait_status)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name, ": ptxas did not end within ", options.wall_seconds, " s"));
  }
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
    std::string bytes = ReadAll(cubin.path(), SIZE_MAX);
    if (!bytes.empty()) return bytes;
  }
  Fault fault;
  fault.file = name;
  fault.expected = absl::StrCat("PTX that ptxas compiles for sm_", arch);
  std::string message = ReadAll(said.path(), kMessageBytes);
  absl::StripTrailingAsciiWhitespace(&message);
  fault.message = absl::StrCat("ptxas refuses it: ", absl::StrReplaceAll(message, {{input.path(), name}}));
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

}  // namespace sm89
