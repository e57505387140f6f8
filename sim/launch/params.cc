#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"
#include "sim/launch/arg_check.h"
#include "sim/launch/buffers.h"

namespace sm89::launch {
namespace {

// Types whose values have this many bytes, for messages.
std::string TypesOfSize(uint32_t bytes) {
  switch (bytes) {
    case 1:
      return "i8 or u8";
    case 2:
      return "i16, u16, f16 or bf16";
    case 4:
      return "i32, u32 or f32";
    case 8:
      return "i64, u64, f64 or a buffer";
    default:
      return absl::StrCat("bytes_hex of ", bytes, " bytes");
  }
}

std::string Describe(const Arg& arg) {
  return absl::StrCat(arg.type, arg.type == "raw" ? " of " : ", ", arg.bytes.size(), " bytes");
}

// What alignment an argument's bytes need: their own size, structs eight where they hold an address.
uint32_t AlignBytes(const Arg& arg) {
  if (arg.type == "raw") return arg.pointers.empty() ? 1 : 8;
  return static_cast<uint32_t>(arg.bytes.size());
}

}  // namespace

std::vector<Fault> FaultsOfArgs(const cubin::Function& function, const LaunchSpec& spec) {
  std::vector<Fault> faults;
  const auto add = [&](const std::string& field, const std::string& value, const std::string& expected,
                       const std::string& message) {
    faults.push_back({.file = spec.file,
                      .line = spec.line,
                      .field = field,
                      .value = value,
                      .expected = expected,
                      .message = absl::StrCat("launch \"", spec.id, "\": ", message)});
  };
  if (spec.args.size() != function.params.size()) {
    add("args", absl::StrCat(spec.args.size()), absl::StrCat(function.params.size()),
        absl::StrCat("the number of arguments differs from that of ", function.name));
  }
  const size_t common = std::min(spec.args.size(), function.params.size());
  for (size_t i = 0; i < common; ++i) {
    const Arg& arg = spec.args[i];
    const cubin::KernelParam& param = function.params[i];
    const std::string field = absl::StrCat("args[", i, "]");
    if (arg.bytes.size() != param.size_bytes) {
      add(field, Describe(arg), absl::StrCat(param.size_bytes, " bytes: ", TypesOfSize(param.size_bytes)),
          absl::StrCat("argument ", i, " (", arg.name, ") has another size than the kernel's parameter"));
    } else if (param.offset % std::max(1u, AlignBytes(arg)) != 0) {
      add(field, Describe(arg), absl::StrCat("a type that may lie at offset ", param.offset),
          absl::StrCat("argument ", i, " (", arg.name, ") is not aligned in the parameter block"));
    }
    if (uint64_t{param.offset} + param.size_bytes > function.param_bytes) {
      add(field, absl::StrCat("offset ", param.offset, ", ", param.size_bytes, " bytes"),
          absl::StrCat("within ", function.param_bytes, " bytes"),
          absl::StrCat("the cubin places parameter ", i, " of ", function.name,
                       " outside its parameter block"));
    }
  }
  return faults;
}

absl::StatusOr<std::vector<uint8_t>> PackParams(const cubin::Function& function, const LaunchSpec& spec,
                                                const AddressPlan& plan) {
  const std::vector<Fault> faults = FaultsOfArgs(function, spec);
  if (!faults.empty()) {
    const std::string summary =
        faults.size() == 1 ? "" : absl::StrCat("launch ", spec.id, ": ", faults.size(), " faults");
    return InputError(absl::StatusCode::kInvalidArgument, summary, faults);
  }
  std::vector<uint8_t> block(function.param_bytes);
  for (size_t i = 0; i < spec.args.size(); ++i) {
    const Arg& arg = spec.args[i];
    if (arg.bytes.empty()) continue;
    uint8_t* const at = block.data() + function.params[i].offset;
    std::memcpy(at, arg.bytes.data(), arg.bytes.size());
    for (const PointerSlot& slot : arg.pointers) {
      SM89_ASSERT(slot.buffer < plan.buffers.size(), "a plan of another launch");
      SM89_ASSERT(slot.offset + sizeof(uint64_t) <= arg.bytes.size(), "a pointer outside its argument");
      const uint64_t address = plan.buffers[slot.buffer].address + slot.add_bytes;
      std::memcpy(at + slot.offset, &address, sizeof(address));
    }
  }
  return block;
}

}  // namespace sm89::launch
