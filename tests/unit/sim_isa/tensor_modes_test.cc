// The registry of tensor-core modes: complete, unambiguous, and what decoding goes by.
#include "sim/isa/tensor_modes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/isa/modifiers.h"
#include "tests/unit/sim_isa/decode_helpers.h"

namespace sm89 {
namespace {

using T = TensorType;

TEST(TensorModes, EveryRowIsFoundByItsOwnOperation) {
  for (const TensorMode& mode : TensorModes()) {
    EXPECT_EQ(FindTensorMode(OpOf(mode)), &mode) << mode.mnemonic << " k " << mode.k;
    EXPECT_EQ(mode.macs(), uint32_t{mode.m} * mode.n * mode.k);
    EXPECT_FALSE(mode.source.empty());
    EXPECT_GT(mode.rate_eighths, 0u);
    EXPECT_EQ(mode.sparse, mode.mnemonic.ends_with(".SP"));
  }
}

TEST(TensorModes, CoverEveryTypeDenseAndThoseThatCanBeSparse) {
  std::set<std::pair<T, bool>> covered;
  for (const TensorMode& mode : TensorModes()) {
    for (const T type : mode.types) covered.insert({type, mode.sparse});
  }
  for (const T type : {T::kF16, T::kBf16, T::kTf32, T::kE4m3, T::kE5m2, T::kS8, T::kU8, T::kS4, T::kU4}) {
    EXPECT_TRUE(covered.count({type, false})) << static_cast<int>(type);
    EXPECT_TRUE(covered.count({type, true})) << static_cast<int>(type);
  }
  for (const T type : {T::kB1, T::kF64}) {
    EXPECT_TRUE(covered.count({type, false}));
    EXPECT_FALSE(covered.count({type, true})) << "no sparse form";
  }
}

TEST(TensorModes, SparseModesDoTwiceTheDenseRate) {
  for (const TensorMode& mode : TensorModes()) {
    if (!mode.sparse) continue;
    TensorOp dense = OpOf(mode);
    dense.sparse = false;
    dense.k = static_cast<uint16_t>(dense.k / 2);
    const TensorMode* half = FindTensorMode(dense);
    ASSERT_NE(half, nullptr) << mode.inputs << " k " << mode.k;
    EXPECT_EQ(mode.rate_eighths, 2 * half->rate_eighths) << mode.inputs << " k " << mode.k;
  }
}

// What ptxas writes for sm_89.
TEST(TensorModes, EveryPrintedFormHasARow) {
  for (const char* text : {"HMMA.16816.F16",
                           "HMMA.16816.F32",
                           "HMMA.16816.F32.BF16",
                           "HMMA.1688.F16",
                           "HMMA.1688.F32",
                           "HMMA.1688.F32.BF16",
                           "HMMA.1688.F32.TF32",
                           "HMMA.1684.F32.TF32",
                           "HMMA.SP.16816.F16",
                           "HMMA.SP.16832.F32",
                           "HMMA.SP.16832.F32.BF16",
                           "HMMA.SP.16816.F32.TF32",
                           "QMMA.16832.F16.E4M3.E4M3",
                           "QMMA.16832.F32.E5M2.E4M3",
                           "QMMA.16816.F32.E4M3.E5M2",
                           "QMMA.SP.16864.F32.E5M2.E4M3",
                           "IMMA.8816.S8.S8",
                           "IMMA.16816.U8.U8",
                           "IMMA.16832.U8.S8.SAT",
                           "IMMA.8832.S4.S4",
                           "IMMA.16832.U4.S4",
                           "IMMA.16864.S4.S4",
                           "IMMA.SP.16864.U8.S8.SAT",
                           "IMMA.SP.168128.S4.S4",
                           "BMMA.88128.XOR.POPC",
                           "BMMA.168128.XOR.POPC",
                           "BMMA.168256.AND.POPC",
                           "DMMA.884"}) {
    TensorOp op;
    ASSERT_TRUE(ParseTensorOp(text, &op)) << text;
    const TensorMode* mode = FindTensorMode(op);
    ASSERT_NE(mode, nullptr) << text;
    EXPECT_TRUE(std::string(text).starts_with(mode->mnemonic)) << text;
    EXPECT_TRUE(DecodeAll({Inst(text, {4}, {8, 16, 4})}).unknown.empty()) << text;
  }
}

TEST(TensorModes, AFormWithoutARowIsAnUnknownOpcode) {
  // Sparse FP8 with FP16 accumulation has no instruction on sm_89; the other has no such shape.
  for (const char* text : {"QMMA.SP.16864.F16.E4M3.E4M3", "HMMA.16864.F32", "IMMA.16864.S8.S8"}) {
    const DecodedKernel kernel = DecodeAll({Inst(text, {4}, {8, 16, 4})});
    ASSERT_EQ(kernel.unknown.size(), 1u) << text;
    EXPECT_EQ(kernel.unknown[0].opcode, text);
  }
}

}  // namespace
}  // namespace sm89
