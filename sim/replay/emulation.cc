#include "sim/replay/emulation.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/cubin/reader.h"
#include "sim/replay/cooperative_recording.h"
#include "sim/replay/static_inst.h"

namespace sm89 {
namespace {

// Hands a CTA's records to the recorder.
class RecorderSink : public emu::TraceSink {
 public:
  explicit RecorderSink(CtaRecorder* recorder) : recorder_(*recorder) {}
  void BeginCta(uint64_t) override {}
  void Record(uint32_t warp, uint32_t inst_index, LaneMask executed,
              std::span<const uint64_t> addresses) override {
    if (!status_.ok()) return;
    status_ = recorder_.Add(warp, {.static_id = inst_index, .mask = executed, .addresses = addresses});
  }
  void EndCta(uint64_t) override {}
  absl::Status status() const override { return status_; }

 private:
  CtaRecorder& recorder_;
  absl::Status status_;
};

class EmulationImpl;

class Producer : public CtaProducer {
 public:
  explicit Producer(EmulationImpl* emulation) : emulation_(*emulation) {}
  absl::Status Produce(uint32_t kernel, uint64_t index, CtaRecorder* recorder) override;

 private:
  EmulationImpl& emulation_;
};

class EmulationImpl : public Emulation {
 public:
  absl::Status Prepare(const Program& program, const EmulationOptions& options);
  void BoundCtas(uint64_t warp_instructions) override {
    options_.emu.max_cta_warp_instructions = warp_instructions;
  }
  std::shared_ptr<LiveSource> source() const override { return source_; }
  const LoadedProgram& program() const override { return loaded_; }
  const std::vector<LaunchOutcome>& outcomes() const override { return outcomes_; }
  absl::Status Produce(uint32_t kernel, uint64_t index, CtaRecorder* recorder);

 private:
  absl::StatusOr<std::unique_ptr<emu::Emulator>> MakeEmulator(size_t launch, bool inspect_only) const {
    emu::EmuOptions options = options_.emu;
    options.inspect_only = inspect_only;
    return emu::Emulator::Create(*loaded_.modules[launch], loaded_.launches[launch], options);
  }
  KernelInfo InfoOf(size_t launch, const emu::Emulator& emulator) const;
  void AddMarks(TraceSetInfo* info) const;
  absl::Status ProduceTogether(uint64_t index, CtaRecorder* recorder);
  void KeepFindings(LaunchOutcome* outcome) const;
  void Conclude(uint32_t kernel);

  EmulationOptions options_;
  LoadedProgram loaded_;
  std::vector<LaunchOutcome> outcomes_;
  std::shared_ptr<LiveSource> source_;
  // Of the launch that runs.
  std::unique_ptr<emu::Emulator> emulator_;
  std::unique_ptr<CooperativeRecording> together_;
  uint32_t running_ = UINT32_MAX;
};

absl::Status Producer::Produce(uint32_t kernel, uint64_t index, CtaRecorder* recorder) {
  return emulation_.Produce(kernel, index, recorder);
}

std::vector<StaticInst> StaticsOf(const emu::Emulator& emulator) {
  std::vector<StaticInst> statics;
  const std::span<const sass::Instruction> instructions = emulator.instructions();
  statics.reserve(instructions.size());
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    const emu::CodeLine where = emulator.Where(i);
    statics.push_back(MakeStaticInst(instructions[i], where.pc, where.line));
  }
  return statics;
}

KernelInfo EmulationImpl::InfoOf(size_t launch, const emu::Emulator& emulator) const {
  const launch::LaunchSpec& spec = loaded_.launches[launch];
  KernelInfo info;
  info.name = spec.kernel;
  info.file = loaded_.modules[launch]->name;
  info.id = launch + 1;
  info.grid = spec.grid;
  info.block = spec.block;
  info.shmem_bytes = static_cast<uint32_t>(emulator.shared_bytes());
  info.nregs = emulator.kernel().registers;
  info.binary_version = loaded_.modules[launch]->arch;
  info.shmem_base = emulator.shared_window_base();
  info.local_base = emulator.local_window_base();
  info.has_lineinfo = !emulator.kernel().lines.empty();
  info.origin = KernelOrigin::kCubin;
  return info;
}

void EmulationImpl::AddMarks(TraceSetInfo* info) const {
  info->marks.push_back(
      {.kind = kEmulatedMark,
       .detail = absl::StrCat(info->kernels.size(),
                              " kernels were executed from their machine code by the emulator"),
       .count = info->kernels.size()});
  uint64_t foreign = 0;
  for (const KernelInfo& kernel : info->kernels) foreign += kernel.binary_version != 89 ? 1 : 0;
  if (foreign == 0) return;
  info->marks.push_back({.kind = "foreign_arch",
                         .detail = absl::StrCat(foreign,
                                                " kernels are not sm_89 code; they are timed as sm_89's "
                                                "counterparts of their instructions"),
                         .count = foreign});
}

absl::Status EmulationImpl::Prepare(const Program& program, const EmulationOptions& options) {
  options_ = options;
  options_.emu.cancel = options.cancel;
  ASSIGN_OR_RETURN(loaded_, LoadProgram(program));
  LiveTrace trace;
  trace.info.name = program.name;
  trace.digest = ProgramDigest(program);
  for (size_t i = 0; i < loaded_.launches.size(); ++i) {
    ASSIGN_OR_RETURN(const std::unique_ptr<emu::Emulator> emulator, MakeEmulator(i, /*inspect_only=*/true));
    trace.info.kernels.push_back(InfoOf(i, *emulator));
    trace.info.commands.push_back({.kind = CommandKind::kKernel, .kernel = static_cast<uint32_t>(i)});
    trace.statics.push_back(StaticsOf(*emulator));
    LaunchOutcome& outcome = outcomes_.emplace_back();
    outcome.result.id = loaded_.launches[i].id;
    outcome.result.kernel = loaded_.launches[i].kernel;
  }
  AddMarks(&trace.info);
  LiveOptions live;
  live.limits = options.recorder;
  if (!options.keep_trace.empty()) {
    ASSIGN_OR_RETURN(live.keep, CompactWriter::Create(options.keep_trace));
  }
  ASSIGN_OR_RETURN(source_,
                   LiveSource::Create(std::move(trace), std::make_unique<Producer>(this), std::move(live)));
  return absl::OkStatus();
}

absl::Status EmulationImpl::Produce(uint32_t kernel, uint64_t index, CtaRecorder* recorder) {
  if (options_.cancel != nullptr && options_.cancel->load()) return absl::CancelledError("interrupted");
  if (running_ != kernel) {
    SM89_ASSERT(index == 0, "a launch starts with its first CTA");
    emulator_.reset();  // before the next one takes memory
    together_.reset();
    ASSIGN_OR_RETURN(emulator_, MakeEmulator(kernel, /*inspect_only=*/false));
    running_ = kernel;
  }
  absl::Status status;
  if (loaded_.launches[kernel].cooperative) {
    status = ProduceTogether(index, recorder);
  } else {
    RecorderSink sink(recorder);
    status = emulator_->RunCta(index, &sink);
    status.Update(sink.status());
  }
  outcomes_[kernel].warp_instructions = emulator_->executed_warp_instructions();
  if (!status.ok()) {
    KeepFindings(&outcomes_[kernel]);
  } else if (index + 1 == emulator_->num_ctas()) {
    Conclude(kernel);
  }
  return status;
}

// The CTAs of a cooperative launch wait for one another: all run before the first one is handed out.
absl::Status EmulationImpl::ProduceTogether(uint64_t index, CtaRecorder* recorder) {
  if (together_ == nullptr) {
    together_ = std::make_unique<CooperativeRecording>(emulator_->num_ctas(), options_.recorder.live_bytes);
    RETURN_IF_ERROR(emulator_->RunAll(together_.get()));
    RETURN_IF_ERROR(together_->status());
  }
  return together_->Replay(index, recorder);
}

void EmulationImpl::KeepFindings(LaunchOutcome* outcome) const {
  for (const emu::Finding& finding : emulator_->findings()) outcome->findings.push_back(finding.message);
  outcome->num_findings = emulator_->num_findings();
}

void EmulationImpl::Conclude(uint32_t kernel) {
  LaunchOutcome& outcome = outcomes_[kernel];
  const launch::LaunchSpec& spec = loaded_.launches[kernel];
  for (size_t i = 0; i < spec.buffers.size(); ++i) {
    if (!spec.buffers[i].output) continue;
    const std::span<const uint8_t> bytes = emulator_->buffer(i);
    outcome.result.outputs.push_back(
        launch::Summarise(spec.buffers[i], std::vector<uint8_t>(bytes.begin(), bytes.end())));
  }
  KeepFindings(&outcome);
  outcome.finished = true;
  emulator_.reset();
  together_.reset();
  running_ = UINT32_MAX;
}

// Raw inputs travel in the program: no path of this machine is opened.
using RawFiles = std::map<std::string, std::shared_ptr<const std::string>>;

absl::Status AttachRawFiles(const Program& program, RawFiles* shared, launch::LaunchSpec* spec) {
  for (launch::BufferSpec& buffer : spec->buffers) {
    if (buffer.generator.init != launch::Init::kFile) continue;
    const auto file = program.raw_files.find(buffer.generator.file);
    if (file == program.raw_files.end()) {
      return InputError(absl::StatusCode::kNotFound, {.file = program.launch_name,
                                                      .line = spec->line,
                                                      .field = absl::StrCat("buffer ", buffer.name),
                                                      .value = buffer.generator.file,
                                                      .expected = "a file of the program",
                                                      .message = "the program does not hold this file",
                                                      .facts = {}});
    }
    std::shared_ptr<const std::string>& content = (*shared)[file->first];
    if (content == nullptr) content = std::make_shared<const std::string>(file->second);
    buffer.generator.content = content;
  }
  return absl::OkStatus();
}

using Images = std::vector<std::shared_ptr<const cubin::Module>>;

absl::StatusOr<Images> ImagesOf(const Program& program, const std::string& module) {
  const auto bytes = program.modules.find(module);
  if (bytes == program.modules.end()) {
    return absl::NotFoundError(
        absl::StrCat(program.name, ": the program does not hold module '", module, "'"));
  }
  const std::string name = module.empty() ? program.name : module;
  ASSIGN_OR_RETURN(std::vector<cubin::Module> parsed, cubin::ModulesOf(bytes->second, name, program.arch));
  if (parsed.empty())
    return absl::InvalidArgumentError(absl::StrCat(name, ": no code for sm_", program.arch));
  Images images;
  for (cubin::Module& one : parsed) images.push_back(std::make_shared<const cubin::Module>(std::move(one)));
  return images;
}

// The image that has the kernel; the first one when none has, whose kernels the error then lists.
std::shared_ptr<const cubin::Module> WithKernel(const Images& images, const std::string& kernel) {
  for (const auto& image : images) {
    if (image->Find(kernel) != nullptr) return image;
  }
  return images.front();
}

}  // namespace

absl::StatusOr<LoadedProgram> LoadProgram(const Program& program) {
  ASSIGN_OR_RETURN(const launch::LaunchFile file,
                   launch::ParseLaunches(program.launch_text, {.name = program.launch_name, .folder = ""}));
  ASSIGN_OR_RETURN(const std::vector<const launch::LaunchSpec*> selected, file.Select(program.cases));
  LoadedProgram loaded;
  std::map<std::string, Images> images;
  RawFiles raw_files;
  for (const launch::LaunchSpec* spec : selected) {
    if (!images.contains(spec->module)) {
      ASSIGN_OR_RETURN(images[spec->module], ImagesOf(program, spec->module));
    }
    loaded.modules.push_back(WithKernel(images[spec->module], spec->kernel));
    loaded.launches.push_back(*spec);
    RETURN_IF_ERROR(AttachRawFiles(program, &raw_files, &loaded.launches.back()));
  }
  return loaded;
}

absl::StatusOr<std::unique_ptr<Emulation>> Emulation::Create(const Program& program,
                                                             const EmulationOptions& options) {
  auto emulation = std::make_unique<EmulationImpl>();
  RETURN_IF_ERROR(emulation->Prepare(program, options));
  return emulation;
}

}  // namespace sm89
