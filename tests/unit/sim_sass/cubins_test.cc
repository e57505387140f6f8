// Decoding held against what the cubins say about themselves: register counts, exits, alignment, scoreboards.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "sim/cubin/reader.h"
#include "sim/sass/decode.h"
#include "tests/unit/sim_sass/listing.h"

namespace sm89::sass {
namespace {

namespace fs = std::filesystem;

struct Code {
  std::string cubin;
  cubin::Function function;
  std::vector<Instruction> instructions;
};

uint64_t Le64(const std::vector<uint8_t>& bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

// Every function of the cubins of both folders, for one architecture.
std::vector<Code> AllCode(uint32_t arch) {
  std::vector<Code> all;
  std::vector<fs::path> paths;
  for (const char* folder : {testing::kSassFolder, testing::kSiliconFolder}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(std::string(folder) + "/cubin", error)) {
      if (entry.path().extension() == ".cubin") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    auto module = cubin::ParseCubin(bytes, path.filename().string());
    EXPECT_TRUE(module.ok()) << module.status().message();
    if (!module.ok() || module->arch != arch) continue;
    for (cubin::Function& function : module->functions) {
      Code code{path.filename().string(), std::move(function), {}};
      for (size_t at = 0; at + 16 <= code.function.code.size(); at += 16) {
        const auto inst = Decode({Le64(code.function.code, at), Le64(code.function.code, at + 8)}, arch);
        EXPECT_TRUE(inst.ok()) << code.cubin << " " << code.function.name << ": " << inst.status().message();
        if (inst.ok()) code.instructions.push_back(*inst);
      }
      all.push_back(std::move(code));
    }
  }
  return all;
}

const std::vector<Code>& Sm89Code() {
  static const std::vector<Code> code = AllCode(89);
  return code;
}

// Highest register that an instruction names, -1 for none.
int HighestRegister(const Instruction& inst) {
  int highest = -1;
  for (int i = 0; i < inst.num_operands; ++i) {
    const Operand& operand = inst.operands[i];
    if (operand.IsReg() && !operand.IsZeroReg() && operand.regs > 0) {
      highest = std::max(highest, operand.index + operand.regs - 1);
    }
  }
  return highest;
}

TEST(Cubins, EveryWordOfSm89Decodes) {
  if (Sm89Code().empty()) GTEST_SKIP() << "../shared/sass/cubin is not here";
  size_t words = 0, decoded = 0;
  for (const Code& code : Sm89Code()) {
    words += code.function.num_instructions();
    decoded += code.instructions.size();
  }
  std::printf("%zu of %zu sm_89 words in %zu functions\n", decoded, words, Sm89Code().size());
  EXPECT_EQ(decoded, words);
  EXPECT_GE(words, 127992u);
}

TEST(Cubins, EveryWordOfSm90Decodes) {
  const std::vector<Code> all = AllCode(90);
  if (all.empty()) GTEST_SKIP() << "../shared/silicon/cubin is not here";
  size_t words = 0, decoded = 0;
  for (const Code& code : all) {
    words += code.function.num_instructions();
    decoded += code.instructions.size();
  }
  std::printf("%zu of %zu sm_90 words\n", decoded, words);
  EXPECT_EQ(decoded, words);
}

// Calls another function's section: the count may cover the callees as well.
bool CallsOut(const Code& code) {
  return std::any_of(code.instructions.begin(), code.instructions.end(), [](const Instruction& inst) {
    return inst.op == Op::kCall && inst.Get(Field::kAbsolute) != 0;
  });
}

int HighestRegister(const Code& code) {
  int highest = -1;
  for (const Instruction& inst : code.instructions) highest = std::max(highest, HighestRegister(inst));
  return highest;
}

// The compiler's count is the highest register + 1 and two that the ABI reserves: every operand's size is
// right. Two functions have the ABI's minimum of 24.
TEST(Cubins, RegisterCountIsTheHighestRegisterAndThree) {
  if (Sm89Code().empty()) GTEST_SKIP() << "../shared/sass/cubin is not here";
  size_t functions = 0, exact = 0;
  for (const Code& code : Sm89Code()) {
    if (code.function.registers == 0) continue;
    const int highest = HighestRegister(code);
    int with_callees = highest;
    if (CallsOut(code)) {
      for (const Code& callee : Sm89Code()) {
        const bool reachable = callee.cubin == code.cubin && !callee.function.is_kernel;
        if (reachable) with_callees = std::max(with_callees, HighestRegister(callee));
      }
    }
    ++functions;
    const auto registers = static_cast<int>(code.function.registers);
    const bool equal = registers == highest + 3 || registers == with_callees + 3;
    exact += equal ? 1 : 0;
    if (!equal) {
      std::printf("%s %s: %u registers, highest is R%d\n", code.cubin.c_str(), code.function.name.c_str(),
                  code.function.registers, highest);
    }
  }
  std::printf("%zu of %zu functions\n", exact, functions);
  EXPECT_GE(functions, 1000u);
  EXPECT_LE(functions - exact, 2u);
}

TEST(Cubins, PairsAndQuadsAreAligned) {
  if (Sm89Code().empty()) GTEST_SKIP() << "../shared/sass/cubin is not here";
  size_t checked = 0, violations = 0;
  for (const Code& code : Sm89Code()) {
    for (const Instruction& inst : code.instructions) {
      for (int i = 0; i < inst.num_operands; ++i) {
        const Operand& operand = inst.operands[i];
        const bool file = operand.IsReg() || operand.IsUReg();
        if (!file || operand.IsZeroReg() || operand.regs < 2) continue;
        ++checked;
        if (operand.index % std::bit_ceil(unsigned{operand.regs}) == 0) continue;
        if (++violations < 10)
          ADD_FAILURE() << code.cubin << " " << code.function.name << " " << Print(inst, {});
      }
    }
  }
  EXPECT_GT(checked, 10000u);
  EXPECT_EQ(violations, 0u);
}

bool EndsBlock(const Instruction& inst) {
  switch (inst.op) {
    case Op::kBra:
    case Op::kBrx:
    case Op::kCall:
    case Op::kRet:
    case Op::kExit:
    case Op::kBsync:
    case Op::kWarpsync:
      return true;
    default:
      return false;
  }
}

std::set<size_t> BlockStarts(const Code& code) {
  std::set<size_t> starts;
  for (size_t i = 0; i < code.instructions.size(); ++i) {
    const Instruction& inst = code.instructions[i];
    if (const Operand* target = inst.Target(); target != nullptr) {
      starts.insert(static_cast<size_t>(static_cast<int64_t>(i + 1) + target->value / 16));
    }
    if (EndsBlock(inst)) starts.insert(i + 1);
  }
  return starts;
}

// Registers that a block has in flight, by the scoreboard that tells when they are there.
struct InFlight {
  std::array<std::set<uint16_t>, 6> registers;
  size_t uses = 0, unguarded = 0;

  void Step(const Instruction& inst) {
    for (int i = 0; i < inst.num_operands; ++i) {
      const Operand& operand = inst.operands[i];
      if (!operand.IsReg() || operand.IsZeroReg()) continue;
      for (unsigned counter = 0; counter < registers.size(); ++counter) Use(operand, inst, counter);
    }
    for (unsigned counter = 0; counter < registers.size(); ++counter) {
      const bool waits = (inst.control.wait_mask >> counter & 1) != 0 ||
                         (inst.op == Op::kDepbar && inst.Find(Slot::kScoreboard)->index == counter);
      if (waits) registers[counter].clear();
    }
    if (inst.control.write_counter >= registers.size()) return;
    for (int i = 0; i < inst.num_operands; ++i) {
      const Operand& operand = inst.operands[i];
      if (!operand.IsReg() || operand.IsZeroReg() || !operand.is_dest) continue;
      for (unsigned r = 0; r < operand.regs; ++r) {
        registers[inst.control.write_counter].insert(static_cast<uint16_t>(operand.index + r));
      }
    }
  }

  void Use(const Operand& operand, const Instruction& inst, unsigned counter) {
    if (operand.is_dest) return;
    for (unsigned r = 0; r < operand.regs; ++r) {
      if (!registers[counter].contains(static_cast<uint16_t>(operand.index + r))) continue;
      ++uses;
      unguarded += (inst.control.wait_mask >> counter & 1) != 0 ? 0 : 1;
      return;
    }
  }
};

// Whoever reads what a variable-latency instruction writes waits for its scoreboard first: sources,
// destinations and the scoreboard fields are where we think they are.
TEST(Cubins, ReadersWaitForTheScoreboardOfTheirProducer) {
  if (Sm89Code().empty()) GTEST_SKIP() << "../shared/sass/cubin is not here";
  size_t uses = 0, unguarded = 0;
  for (const Code& code : Sm89Code()) {
    const std::set<size_t> starts = BlockStarts(code);
    InFlight in_flight;
    for (size_t i = 0; i < code.instructions.size(); ++i) {
      if (starts.contains(i)) in_flight.registers = {};
      const size_t before = in_flight.unguarded;
      in_flight.Step(code.instructions[i]);
      if (in_flight.unguarded != before && unguarded++ < 10) {
        ADD_FAILURE() << code.cubin << " " << code.function.name << "+0x" << std::hex << i * 16 << " "
                      << Print(code.instructions[i], {});
      }
    }
    uses += in_flight.uses;
  }
  std::printf("%zu of %zu uses without a wait\n", unguarded, uses);
  EXPECT_GE(uses, 10000u);
  EXPECT_EQ(unguarded, 0u);
}

TEST(Cubins, ExitOffsetsAreTheDecodedExits) {
  if (Sm89Code().empty()) GTEST_SKIP() << "../shared/sass/cubin is not here";
  size_t functions = 0, equal = 0;
  for (const Code& code : Sm89Code()) {
    if (code.function.exit_offsets.empty()) continue;
    std::set<uint32_t> decoded;
    for (size_t i = 0; i < code.instructions.size(); ++i) {
      if (code.instructions[i].op == Op::kExit) decoded.insert(static_cast<uint32_t>(i * 16));
    }
    const std::set<uint32_t> stated(code.function.exit_offsets.begin(), code.function.exit_offsets.end());
    ++functions;
    equal += decoded == stated ? 1 : 0;
    EXPECT_EQ(decoded, stated) << code.cubin << " " << code.function.name;
  }
  std::printf("%zu of %zu functions with exits\n", equal, functions);
  EXPECT_GE(functions, 900u);
}

}  // namespace
}  // namespace sm89::sass
