// Bringing a trace or a program to the server: shared by `upload`, `submit` and `analyze`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/context.h"
#include "client/uploader.h"

namespace CLI {
class App;
}

namespace sm89::client {

struct UploadFlags {
  std::string name;
  bool foreign_arch = false;
  bool allow_partial = false;
  bool unknown_as_nop = false;
};

// The server's bound of one file of machine code.
inline constexpr uint64_t kMachineCodeBytesMax = uint64_t{1} << 30;

// Sends machine code that jobs name beside a trace: a cubin, a fat binary, a program that holds them, or a
// listing.
absl::StatusOr<UploadOutcome> UploadSass(Context& context, const std::string& path, const std::string& name);
// Adds what --sass gave to a job: names on the server, and files, which are uploaded first. Messages and the
// report call a file as it is called here, whoever uploaded the same bytes under another name.
// INVALID_ARGUMENT when a file has more than kMachineCodeBytesMax; NOT_FOUND names what is no file and no
// upload.
absl::Status AddSass(Context& context, const std::vector<std::string>& given, v1::JobSpec* spec);

// Machine code and what to launch of it.
struct ProgramFlags {
  std::string cubin, launch;
  std::string suite, cubin_folder;
  std::string arch = "sm_89";
  std::vector<std::string> cases;

  bool any() const { return !cubin.empty() || !launch.empty() || !suite.empty() || !cubin_folder.empty(); }
};

// INVALID_ARGUMENT for --sass beside a program.
absl::Status CheckSass(const std::vector<std::string>& sass, const ProgramFlags& program);

// --cubin, --launch, --suite, --cubin-dir, --arch, --case.
void AddProgramOptions(CLI::App& command, ProgramFlags& flags);

// --foreign-arch, --allow-partial, --unknown-as-nop.
void AddIngestOptions(CLI::App& command, UploadFlags& flags);

// Packs (a folder or list), uploads with a progress line, waits for the validation.
absl::StatusOr<UploadOutcome> UploadPath(Context& context, const std::string& path, const UploadFlags& flags);

// The same with a program package made of the files that `program` names.
absl::StatusOr<UploadOutcome> UploadProgram(Context& context, const ProgramFlags& program,
                                            const UploadFlags& flags);

// "traces/x" is always a name, another text with a '/' always a path; a bare word is a path if something is
// there.
bool IsLocalPath(const std::string& text);

// The name on the server of what the user gave: a name stays one, a path is uploaded and its warnings are
// shown.
absl::StatusOr<std::string> TraceNameFor(Context& context, const std::string& text, const UploadFlags& flags);

}  // namespace sm89::client
