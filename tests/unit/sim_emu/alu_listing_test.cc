// Every word that ptxas wrote in the reference cubins and that touches only registers has a handler.
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/emu/resolve.h"
#include "sim/sass/decode.h"
#include "tests/unit/sim_sass/listing.h"

namespace sm89::emu {
namespace {

TEST(AluListing, EveryRegisterInstructionHasAHandler) {
  if (testing::Listing().empty()) GTEST_SKIP() << "../shared/sass/listing.tsv.xz is not here";
  FixedRows pool;
  const ConstantReader zero = [](uint32_t, uint32_t) -> absl::StatusOr<uint32_t> { return 0; };
  std::map<std::string, int> refused;
  int handled = 0;
  for (const testing::ListingRow& row : testing::Listing()) {
    const absl::StatusOr<sass::Instruction> inst = sass::Decode(row.word, row.arch());
    ASSERT_TRUE(inst.ok()) << inst.status();
    Compiled c;
    ASSERT_TRUE(ResolveOperands(*inst, 255, zero, &pool, &c).ok()) << row.text;
    const absl::Status status = CompileAlu(*inst, &c);
    if (status.ok()) ++handled;
    if (!status.ok() && !absl::IsNotFound(status)) ++refused[std::string(status.message())];
    ASSERT_EQ(status.ok(), c.run != nullptr) << row.text;
  }
  EXPECT_THAT(refused, ::testing::IsEmpty());
  EXPECT_GT(handled, 150000);
}

}  // namespace
}  // namespace sm89::emu
