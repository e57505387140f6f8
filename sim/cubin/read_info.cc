// .nv.info: what the compiler tells the loader about each function.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/cubin/module_reader.h"

namespace sm89::cubin {
namespace {

constexpr std::string_view kInfoPrefix = ".nv.info.";

// Form of a record: none, one byte or two in the header, or a payload of that length.
constexpr uint8_t kFormPayload = 4;

// Names as the "CUDA Binary Utilities" listing prints them (EIATTR_...); numbers read off the files.
enum Attribute : uint8_t {
  kMaxThreads = 0x05,       // {x, y, z}: __launch_bounds__
  kParamCbank = 0x0a,       // {symbol, u16 offset, u16 size}
  kRequiredThreads = 0x10,  // {x, y, z}: .reqntid
  kFrameSize = 0x11,        // {symbol, bytes}
  kMinStackSize = 0x12,     // {symbol, bytes}
  kParamInfo = 0x17,        // {index, u16 ordinal, u16 offset, size << 18 | ...}
  kCbankParamSize = 0x19,   // u16 in the header
  kMaxRegCount = 0x1b,      // u16 in the header, 255 = none
  kExitOffsets = 0x1c,      // u32 each
  kRegCount = 0x2f,         // {symbol, registers}
  kBranchTargets = 0x34,    // {branch, u16, u16, count, target...} each
  kApiVersion = 0x37,       // 130 = CUDA 13.0
  kNumBarriers = 0x4c,      // byte in the header
};
constexpr uint32_t kParamSizeShift = 18;
constexpr uint32_t kNoRegisterBound = 255;
constexpr uint32_t kRegistersMax = 255;  // of a thread (CUDA C++ programming guide, compute capabilities)
constexpr uint32_t kNoStackBound = ~uint32_t{0};
constexpr uint32_t kParamsMax = 4096;  // parameters are at most 32,764 bytes (CUDA programming guide)

}  // namespace

absl::Status ModuleReader::ReadInfo() {
  for (const ElfSection& section : elf_.sections()) {
    absl::Status status;
    if (section.name == ".nv.info") {
      status = ReadInfoSection(section, nullptr);
    } else if (section.name.starts_with(kInfoPrefix)) {
      const uint32_t owner = OwnerOf(section, section.name.substr(kInfoPrefix.size()));
      if (owner != kNoFunction) status = ReadInfoSection(section, &module_.functions[owner]);
    }
    if (!status.ok()) return status;
  }
  for (Function& function : module_.functions) {
    std::sort(function.params.begin(), function.params.end(),
              [](const KernelParam& a, const KernelParam& b) { return a.ordinal < b.ordinal; });
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadInfoSection(const ElfSection& section, Function* owner) {
  ByteView in = elf_.Contents(section);
  while (!in.AtEnd()) {
    const uint64_t at = in.FileOffset();
    const uint8_t form = in.U8();
    const uint8_t attribute = in.U8();
    const uint16_t value = in.U16();
    ByteView payload;
    if (form == kFormPayload) {
      payload = in.Part(in.at(), value);
      in.Skip(value);
    }
    if (!in.ok()) {
      return BadBytes(elf_.name(), at, absl::StrCat("a record of ", Quoted(section.name), " is cut off"),
                      absl::StrCat("attribute ", Hex(attribute)));
    }
    if (form < 1 || form > kFormPayload) {
      return BadBytes(elf_.name(), at,
                      absl::StrCat("a record of ", Quoted(section.name), " has an unknown form"),
                      absl::StrCat(form), "1 to 4");
    }
    const absl::Status status = owner == nullptr ? ApplyModuleRecord(attribute, payload)
                                                 : ApplyRecord(*owner, attribute, value, payload);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ApplyModuleRecord(uint8_t attribute, ByteView payload) {
  if (attribute != kRegCount && attribute != kFrameSize && attribute != kMinStackSize)
    return absl::OkStatus();
  const uint32_t symbol = payload.U32();
  const uint32_t value = payload.U32();
  if (!payload.ok()) {
    return BadBytes(elf_.name(), payload.base(), "a record about a function is cut off",
                    absl::StrCat("attribute ", Hex(attribute)), "8 bytes");
  }
  if (symbol >= elf_.symbols().size()) {
    return BadBytes(elf_.name(), payload.base(), "a record names a symbol that does not exist",
                    absl::StrCat(symbol), absl::StrCat("below ", elf_.symbols().size()));
  }
  const uint32_t section = elf_.symbols()[symbol].section;
  if (section >= function_of_section_.size()) return absl::OkStatus();
  const uint32_t index = function_of_section_[section];
  // Records about callees inside a kernel's code are about their own frames: the kernel's stack covers them.
  if (index == kNoFunction || main_symbols_[index] != symbol) return absl::OkStatus();
  Function& function = module_.functions[index];
  if (attribute == kRegCount) {
    if (value > kRegistersMax) {
      return BadBytes(elf_.name(), payload.base(), "a function has more registers than a thread can have",
                      absl::StrCat(value), absl::StrCat("at most ", kRegistersMax));
    }
    function.registers = value;
  }
  if (attribute == kFrameSize) function.local_bytes = value;
  if (attribute == kMinStackSize) {
    function.stack_unbounded = value == kNoStackBound;
    function.stack_bytes = function.stack_unbounded ? 0 : value;
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ApplyRecord(Function& function, uint8_t attribute, uint16_t value,
                                       ByteView payload) {
  switch (attribute) {
    case kMaxThreads:
    case kRequiredThreads: {
      Dim3 threads;
      threads.x = payload.U32();
      threads.y = payload.U32();
      threads.z = payload.U32();
      function.max_threads = threads;
      function.threads_exact = attribute == kRequiredThreads;
      break;
    }
    case kParamCbank:
      payload.Skip(4);
      function.param_base = payload.U16();
      function.param_bytes = payload.U16();
      break;
    case kParamInfo: {
      payload.Skip(4);
      KernelParam param;
      param.ordinal = payload.U16();
      param.offset = payload.U16();
      param.size_bytes = payload.U32() >> kParamSizeShift;
      if (function.params.size() >= kParamsMax) {
        return TooMuch(elf_.name(), payload.base(),
                       absl::StrCat("too many parameters of ", Quoted(function.name)),
                       absl::StrCat(function.params.size() + 1), absl::StrCat("at most ", kParamsMax));
      }
      function.params.push_back(param);
      break;
    }
    case kCbankParamSize:
      function.param_bytes = value;
      break;
    case kMaxRegCount:
      function.max_registers = value == kNoRegisterBound ? 0 : value;
      break;
    case kExitOffsets:
      while (payload.ok() && !payload.AtEnd()) function.exit_offsets.push_back(payload.U32());
      break;
    case kBranchTargets:
      return ReadIndirectBranches(function, payload);
    case kNumBarriers:
      function.num_barriers = value & 0xff;
      break;
    case kApiVersion: {
      const uint32_t version = payload.U32();
      module_.toolkit = absl::StrCat(version / 10, ".", version % 10);
      break;
    }
    default:
      ++function.other_attributes[attribute];
      break;
  }
  if (payload.ok()) return absl::OkStatus();
  return BadBytes(elf_.name(), payload.base(),
                  absl::StrCat("a record of ", Quoted(function.name), " is too short"),
                  absl::StrCat("attribute ", Hex(attribute), ", ", payload.size(), " bytes"));
}

absl::Status ModuleReader::ReadIndirectBranches(Function& function, ByteView payload) {
  const uint64_t code_bytes = function.code.size();
  while (!payload.AtEnd()) {
    IndirectBranch branch;
    branch.offset = payload.U32();
    payload.Skip(4);
    const uint32_t count = payload.U32();
    bool inside = branch.offset < code_bytes;
    for (uint32_t i = 0; i < count && payload.ok(); ++i) {
      branch.targets.push_back(payload.U32());
      inside = inside && branch.targets.back() < code_bytes;
    }
    if (!payload.ok() || !inside) {
      return BadBytes(elf_.name(), payload.base(),
                      absl::StrCat("the indirect branches of ", Quoted(function.name),
                                   " are cut off or outside its code"),
                      absl::StrCat("branch ", Hex(branch.offset), " with ", count, " targets"),
                      absl::StrCat("offsets below ", Hex(code_bytes)));
    }
    function.indirect_branches.push_back(std::move(branch));
  }
  return absl::OkStatus();
}

}  // namespace sm89::cubin
