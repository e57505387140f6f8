#include "sim/emu/emulator.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/round_up.h"
#include "sim/base/status_macros.h"
#include "sim/emu/machine.h"
#include "sim/emu/runner.h"
#include "sim/launch/buffers.h"

namespace sm89::emu {

namespace {

// sm_90: the first KiB of the shared window is the system's.
constexpr uint32_t kReservedShared90 = 1024;
// Bank 0 below the parameters (sass.md section 4).
constexpr uint32_t kBlockDim = 0x00, kGridDim = 0x0c, kSharedWindow = 0x18, kLocalWindow = 0x20,
                   kStack = 0x28;
// Environment registers 1 and 2: the cooperative grid's workspace, high word first.
constexpr uint32_t kWorkspaceHi = 0x8c, kWorkspaceLo = 0x90;
// Generic addresses of constant banks 0 (of a __grid_constant__ parameter) and 3 (of a __constant__ variable;
// debug builds read them so). Read off ptxas's code for such sources.
constexpr uint32_t kBank0Window = 0x40, kBank3Window = 0x50, kParamWindow90 = 0x198, kBank3Window90 = 0xd0;
constexpr uint64_t kGridWorkspaceBytes = 4096;
constexpr uint32_t kStackAlign = 16;
constexpr uint32_t kMaxLocalBytes = 512 * 1024;  // a thread (CUDA C++ programming guide)

void Put(std::vector<uint8_t>& bank, uint32_t at, uint64_t value, uint32_t size_bytes) {
  if (bank.size() < at + size_bytes) bank.resize(at + size_bytes);
  std::memcpy(bank.data() + at, &value, size_bytes);
}

struct Sizes {
  uint64_t local_bytes = 0;  // as the cubin says: maybe more than 32 bits hold
  uint32_t shared_bytes = 0;
};

Sizes SizesOf(const cubin::Function& f, const launch::LaunchSpec& launch, uint32_t arch,
              uint32_t stack_bytes) {
  Sizes s;
  s.local_bytes =
      RoundUp<uint64_t>(std::max(std::max(f.stack_bytes, f.local_bytes), stack_bytes), kStackAlign);
  s.shared_bytes = f.static_shared_bytes + static_cast<uint32_t>(launch.dynamic_shared_bytes);
  if (arch >= 90) s.shared_bytes += kReservedShared90;
  return s;
}

ConstantBanks BanksOf(const cubin::Module& module, const cubin::Function& f, const launch::LaunchSpec& launch,
                      const Sizes& sizes, const std::vector<uint8_t>& params) {
  ConstantBanks banks(f.constants.begin(), f.constants.end());
  if (!module.constant3.empty()) banks[3] = module.constant3;
  std::vector<uint8_t>& bank = banks[0];
  bank.resize(std::max<size_t>(bank.size(), f.param_base + params.size()));
  const uint32_t block[] = {launch.block.x, launch.block.y, launch.block.z};
  const uint32_t grid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
  for (uint32_t i = 0; i < 3; ++i) {
    Put(bank, kBlockDim + 4 * i, block[i], 4);
    Put(bank, kGridDim + 4 * i, grid[i], 4);
  }
  Put(bank, kSharedWindow, kSharedWindowBase, 8);
  Put(bank, kLocalWindow, kLocalWindowBase, 8);
  Put(bank, kStack, sizes.local_bytes, 4);
  const bool sm90 = module.arch >= 90;
  // On sm_90 the address of the first parameter, before that of the bank.
  Put(bank, sm90 ? kParamWindow90 : kBank0Window, kBank0WindowBase + (sm90 ? f.param_base : 0), 8);
  Put(bank, sm90 ? kBank3Window90 : kBank3Window, kBank3WindowBase, 8);
  if (launch.cooperative) {
    Put(bank, kWorkspaceHi, kGridWorkspaceBase >> 32, 4);
    Put(bank, kWorkspaceLo, kGridWorkspaceBase & 0xffffffff, 4);
  }
  std::copy(params.begin(), params.end(), bank.begin() + f.param_base);
  return banks;
}

absl::Status NotRunnable() {
  return absl::FailedPreconditionError("this emulator was made to look at a launch, not to run it");
}

}  // namespace

struct Emulator::Impl {
  const cubin::Module* module = nullptr;
  const cubin::Function* kernel = nullptr;
  launch::LaunchSpec launch;
  EmuOptions options;
  launch::AddressPlan plan;
  std::unique_ptr<Program> program;
  Machine machine;
  std::unique_ptr<Runner> runner;
  uint64_t num_ctas = 0;

  absl::Status Prepare();
  absl::Status FillMemory();
  void PrepareMachine(const Sizes& sizes);
  std::vector<const Allocation*> buffers;
};

absl::Status Emulator::Impl::FillMemory() {
  if (!program->globals().empty()) {
    machine.memory.Add({.name = "module globals", .base = kModuleGlobalsBase, .bytes = program->globals()});
  }
  if (launch.cooperative) {
    machine.memory.Add({.name = "grid workspace",
                        .base = kGridWorkspaceBase,
                        .bytes = std::vector<uint8_t>(kGridWorkspaceBytes)});
  }
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    if (launch.buffers[i].size_bytes() == 0) continue;
    const bool generated = launch.buffers[i].generator.init != launch::Init::kFile;
    if (options.inspect_only && generated) continue;
    ASSIGN_OR_RETURN(std::vector<uint8_t> bytes,
                     launch::MakeBuffer(launch.buffers[i], plan.buffers[i].address));
    machine.memory.Add(
        {.name = launch.buffers[i].name, .base = plan.buffers[i].address, .bytes = std::move(bytes)});
  }
  return absl::OkStatus();
}

void Emulator::Impl::PrepareMachine(const Sizes& sizes) {
  machine.program = program.get();
  machine.launch = &launch;
  machine.options = &options;
  machine.local_bytes = program->uses_local() ? static_cast<uint32_t>(sizes.local_bytes) : 0;
  machine.shared_first = module->arch >= 90 ? kReservedShared90 : 0;
  machine.shared_bytes = sizes.shared_bytes;
  const auto threads = static_cast<uint32_t>(SaturatingVolume(launch.block));
  machine.num_warps = (threads + kWarpSize - 1) / kWarpSize;
  machine.counts.resize(program->code().size());
  machine.hints.resize(program->code().size());
  machine.thread_ids.resize(machine.num_warps);
  for (uint32_t t = 0; t < machine.num_warps * kWarpSize; ++t) {
    std::array<Row, 3>& ids = machine.thread_ids[t / kWarpSize];
    ids[0].lane[t % kWarpSize] = t % launch.block.x;
    ids[1].lane[t % kWarpSize] = t / launch.block.x % launch.block.y;
    ids[2].lane[t % kWarpSize] = t / (launch.block.x * launch.block.y);
  }
}

absl::Status Emulator::Impl::Prepare() {
  kernel = module->Find(launch.kernel);
  if (kernel == nullptr || !kernel->is_kernel) {
    std::string names;
    for (const cubin::Function& f : module->functions) {
      if (f.is_kernel) absl::StrAppend(&names, names.empty() ? "" : ", ", f.name);
    }
    return InputError(absl::StatusCode::kNotFound,
                      {.file = launch.file,
                       .line = launch.line,
                       .field = "kernel",
                       .value = launch.kernel,
                       .expected = names,
                       .message = absl::StrCat(module->name, " has no such kernel")});
  }
  if (kernel->code.empty()) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      {.file = module->name, .field = kernel->name, .message = "the kernel has no code"});
  }
  RETURN_IF_ERROR(launch::CheckLaunch(launch, *kernel, module->arch));
  num_ctas = SaturatingVolume(launch.grid);
  plan = launch::PlanAddresses(launch);
  ASSIGN_OR_RETURN(const std::vector<uint8_t> params, launch::PackParams(*kernel, launch, plan));
  const Sizes sizes = SizesOf(*kernel, launch, module->arch, options.stack_bytes);
  if (sizes.local_bytes > kMaxLocalBytes) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      {.file = module->name,
                       .field = kernel->name,
                       .value = absl::StrCat(sizes.local_bytes),
                       .expected = absl::StrCat("up to ", kMaxLocalBytes),
                       .message = "the kernel asks for more local memory a thread than there is"});
  }
  const ConstantBanks banks = BanksOf(*module, *kernel, launch, sizes, params);
  ASSIGN_OR_RETURN(Program built,
                   Program::Build(*module, *kernel, banks,
                                  {.globals_base = kModuleGlobalsBase, .constants_base = kBank3WindowBase}));
  program = std::make_unique<Program>(std::move(built));
  machine.memory.Add({.name = "constant bank 0", .base = kBank0WindowBase, .bytes = banks.at(0)});
  if (const std::span<const uint8_t> constants = program->bank(3); !constants.empty()) {
    machine.memory.Add({.name = "module constants",
                        .base = kBank3WindowBase,
                        .bytes = std::vector<uint8_t>(constants.begin(), constants.end())});
  }
  RETURN_IF_ERROR(FillMemory());
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    buffers.push_back(machine.memory.Find(plan.buffers[i].address, 0));
  }
  PrepareMachine(sizes);
  runner = std::make_unique<Runner>(&machine);
  return absl::OkStatus();
}

Emulator::Emulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Emulator::~Emulator() = default;

absl::StatusOr<std::unique_ptr<Emulator>> Emulator::Create(const cubin::Module& module,
                                                           const launch::LaunchSpec& launch,
                                                           const EmuOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->module = &module;
  impl->launch = launch;
  impl->options = options;
  RETURN_IF_ERROR(impl->Prepare());
  return std::unique_ptr<Emulator>(new Emulator(std::move(impl)));
}

uint64_t Emulator::num_ctas() const { return impl_->num_ctas; }
uint32_t Emulator::warps_per_cta() const { return impl_->machine.num_warps; }

absl::Status Emulator::RunCta(uint64_t index, TraceSink* sink) {
  if (impl_->options.inspect_only) return NotRunnable();
  SM89_ASSERT(index < impl_->num_ctas, "a CTA that the grid does not have");
  if (impl_->launch.cooperative) {
    return absl::FailedPreconditionError("CTAs of a cooperative launch run together: use RunAll");
  }
  return impl_->runner->Run(index, sink);
}

absl::Status Emulator::RunAll(TraceSink* sink) {
  if (impl_->options.inspect_only) return NotRunnable();
  if (impl_->launch.cooperative) return impl_->runner->RunTogether(impl_->num_ctas, sink);
  for (uint64_t i = 0; i < impl_->num_ctas; ++i) RETURN_IF_ERROR(impl_->runner->Run(i, sink));
  return absl::OkStatus();
}

std::span<const uint8_t> Emulator::buffer(size_t index) const {
  const Allocation* a = impl_->buffers.at(index);
  if (a == nullptr) return {};
  return a->bytes;
}
uint64_t Emulator::buffer_address(size_t index) const { return impl_->plan.buffers.at(index).address; }

const cubin::Function& Emulator::kernel() const { return *impl_->kernel; }
std::span<const sass::Instruction> Emulator::instructions() const { return impl_->program->instructions(); }

CodeLine Emulator::Where(uint32_t inst_index) const {
  const Placed& placed = impl_->program->PlaceOf(inst_index);
  CodeLine line{.pc = inst_index * 16,
                .function = placed.function,
                .function_offset = (inst_index - placed.first) * 16};
  const std::vector<cubin::SourceLine>& lines = placed.function->lines;
  if (inst_index - placed.first < lines.size()) {
    const cubin::SourceLine& source = lines[inst_index - placed.first];
    line.line = source.line;
    if (source.line != 0 && source.file < impl_->module->files.size())
      line.file = impl_->module->files[source.file];
  }
  return line;
}

std::span<const PcCount> Emulator::counts() const {
  return std::span(impl_->machine.counts).first(impl_->program->num_instructions());
}
uint64_t Emulator::executed_warp_instructions() const { return impl_->machine.executed; }
const std::vector<Finding>& Emulator::findings() const { return impl_->machine.findings; }
uint64_t Emulator::num_findings() const { return impl_->machine.num_findings; }
uint32_t Emulator::num_registers() const { return impl_->program->num_registers(); }

RegisterView Emulator::registers(uint32_t warp) const {
  SM89_ASSERT(impl_->machine.cta != nullptr, "no CTA runs");
  const auto& warps = impl_->machine.cta->warps;
  SM89_ASSERT(warp < warps.size(), "the CTA has no such warp");
  const WarpRegs& regs = warps[warp].regs;
  static_assert(sizeof(Row) == sizeof(uint32_t) * kWarpSize, "rows follow one another without gaps");
  return {std::span(regs.rows->lane.data(), size_t{num_registers()} * kWarpSize),
          std::span(regs.ur).first(RegisterView::kNumUniform),
          std::span(regs.pred).first(RegisterView::kNumPredicates),
          std::span(regs.upred).first(RegisterView::kNumPredicates)};
}

uint64_t Emulator::shared_window_base() const { return kSharedWindowBase; }
uint64_t Emulator::local_window_base() const { return kLocalWindowBase; }
uint64_t Emulator::shared_bytes() const { return impl_->machine.shared_bytes; }
bool Emulator::reads_clock() const { return impl_->program->reads_clock(); }

}  // namespace sm89::emu
