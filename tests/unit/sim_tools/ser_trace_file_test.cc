// The file of reordering decisions in its three forms.
#include "sim/tools/ser_trace_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "nlohmann/json.hpp"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

std::vector<SerRecord> Records(uint32_t count) {
  std::vector<SerRecord> records;
  for (uint32_t i = 0; i < count; ++i) {
    SerRecord r;
    r.cycle = 5'000'000'000 + i;
    r.kernel = i % 3;
    r.pc = 16 * i;
    r.lanes = 0x8000'0001u + i;
    r.sm = static_cast<uint16_t>(i % 128);
    r.warp = static_cast<uint16_t>(i % 48);
    r.joins = static_cast<uint16_t>(i % 7);
    r.source = static_cast<uint8_t>(i % 4);
    r.target = static_cast<uint8_t>((i + 1) % 4);
    r.reason = static_cast<SerReason>(i % 3);
    r.unit = static_cast<SerUnit>(i % 4);
    r.issued = i % 5 != 0;
    records.push_back(r);
  }
  return records;
}

std::string Written(const std::string& path, const std::vector<SerRecord>& records) {
  auto file = SerTraceFile::Create(path, std::cout);
  EXPECT_TRUE(file.ok()) << file.status();
  (*file)->Append(records);
  EXPECT_TRUE((*file)->Finish().ok());
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(SerTraceFile, CompactGivesBackWhatWasWritten) {
  const testing::TempDir dir;
  const std::vector<SerRecord> records = Records(100'000);  // several blocks
  const std::string bytes = Written(dir.File("moves.ser"), records);
  EXPECT_LT(bytes.size(), records.size() * 32 / 4);
  const auto read = ReadSerTrace(bytes, records.size());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, records);
  EXPECT_EQ(ReadSerTrace(bytes, records.size() - 1).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(SerTraceFile, DamageIsNamedByItsPlace) {
  const testing::TempDir dir;
  const std::string bytes = Written(dir.File("moves.ser"), Records(1'000));
  for (const size_t size : {size_t{0}, size_t{5}, size_t{10}, bytes.size() - 1}) {
    const auto read = ReadSerTrace(bytes.substr(0, size), 1'000'000);
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(read.status().message().find("at byte"), std::string::npos) << read.status();
  }
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 0x55);
  const auto read = ReadSerTrace(damaged, 1'000'000);
  EXPECT_TRUE(!read.ok() || *read != Records(1'000));
}

TEST(SerTraceFile, CsvAndJsonLinesSayTheSame) {
  const testing::TempDir dir;
  const std::vector<SerRecord> records = Records(50);
  const std::string csv = Written(dir.File("moves.csv"), records);
  const std::string lines = Written(dir.File("moves.jsonl"), records);
  EXPECT_TRUE(csv.starts_with("cycle,sm,launch,warp,pc,lanes,threads,reason,unit,"));
  EXPECT_NE(csv.find("\n5000000001,1,1,1,16,2147483650,2,BRANCH_DIV,SFU,1,2,1,1\n"), std::string::npos)
      << csv;
  std::istringstream in(lines);
  uint32_t i = 0;
  for (std::string line; std::getline(in, line); ++i) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["cycle"], records[i].cycle);
    EXPECT_EQ(json["lanes"], records[i].lanes);
    EXPECT_EQ(json["reason"], std::string(Name(records[i].reason)));
    EXPECT_EQ(json["issued"], records[i].issued);
  }
  EXPECT_EQ(i, 50u);
}

TEST(SerTraceFile, WithoutFinishThereIsNoFile) {
  const testing::TempDir dir;
  const std::string path = dir.File("moves.csv");
  {
    auto file = SerTraceFile::Create(path, std::cout);
    ASSERT_TRUE(file.ok());
    (*file)->Append(Records(3));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SerTraceFile, AFolderIsRefusedAndAPipeIsWrittenTo) {
  const testing::TempDir dir;
  EXPECT_FALSE(SerTraceFile::Create(dir.path(), std::cout).ok());
  std::ostringstream out;
  auto file = SerTraceFile::Create("-", out);
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->Append(Records(2));
  EXPECT_TRUE((*file)->Finish().ok());
  EXPECT_TRUE(out.str().starts_with("cycle,sm,")) << out.str();
  auto null = SerTraceFile::Create("/dev/null", std::cout);
  ASSERT_TRUE(null.ok()) << null.status();
  (*null)->Append(Records(2));
  EXPECT_TRUE((*null)->Finish().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace sm89
