// What an upload of machine code may unpack to.
#include "server/worker/ingest_program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "server/os/file_store.h"
#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

std::string Cubin() { return std::string(SM89_SOURCE_DIR) + "/tests/data/kernels/vector_add.sm_89.cubin"; }

TEST(IngestMachineCode, KeepsTheFileAsItIs) {
  const testing::TempDir dir;
  const std::string bytes = *ReadWholeFile(PosixFileStore(), Cubin(), 1 << 20);
  const auto code = IngestMachineCode(Cubin(), dir.File("kept"), bytes.size());
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(code->digest, Sha256Hex(bytes));
  EXPECT_EQ(code->file_bytes, bytes.size());
  EXPECT_EQ(code->launches, 1u);
  EXPECT_EQ(*ReadWholeFile(PosixFileStore(), dir.File("kept"), 1 << 20), bytes);
}

TEST(IngestMachineCode, MoreThanTheBoundIsRefusedNamingIt) {
  const testing::TempDir dir;
  const uint64_t size = std::filesystem::file_size(Cubin());
  const absl::Status status = IngestMachineCode(Cubin(), dir.File("kept"), size - 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  const Fault fault = FaultsOf(status).at(0);
  EXPECT_EQ(fault.file, "vector_add.sm_89.cubin");
  EXPECT_EQ(fault.field, "max_unpacked_bytes");
  EXPECT_EQ(fault.value, std::to_string(size) + " bytes");
  EXPECT_FALSE(std::filesystem::exists(dir.File("kept")));
}

}  // namespace
}  // namespace sm89
