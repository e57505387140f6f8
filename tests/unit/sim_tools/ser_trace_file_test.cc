// The file of reordering decisions in its three forms.
#include "sim/tools/ser_trace_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "nlohmann/json.hpp"
#include "sim/tools/exit_codes.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/sim_tools/run_sim.h"

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

std::string LittleEndian(uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

TEST(SerTraceFile, CompactEndsWithTheNumberOfItsRows) {
  const testing::TempDir dir;
  const std::string zeros(8, '\0');
  EXPECT_EQ(Written(dir.File("none.ser"), {}), "SM89SER1" + zeros + zeros);
  for (const uint32_t count : {1u, 32'768u, 70'000u}) {  // 32,768 rows are a block
    EXPECT_TRUE(Written(dir.File("moves.ser"), Records(count)).ends_with(zeros + LittleEndian(count)))
        << count;
  }
}

TEST(SerTraceFile, CompactIsRefusedWhereverItIsCut) {
  const testing::TempDir dir;
  for (const uint32_t count : {0u, 40'000u}) {
    const std::string bytes = Written(dir.File("moves.ser"), Records(count));
    ASSERT_TRUE(ReadSerTrace(bytes, count).ok());
    // All places of the small file; of the large one the end, and a few.
    for (size_t size = bytes.size(); size-- > 0;
         size -= size > 64 && size + 64 < bytes.size() ? size / 8 : 0) {
      const auto read = ReadSerTrace(std::string_view(bytes).substr(0, size), count);
      EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << size;
    }
  }
}

TEST(SerTraceFile, AnEndThatDoesNotFitIsNamed) {
  const testing::TempDir dir;
  const std::string bytes = Written(dir.File("moves.ser"), Records(40'000));  // two blocks
  const std::string body = bytes.substr(0, bytes.size() - 16);
  const std::string end(8, '\0');
  const size_t first = 16 + (uint8_t(body[12]) | uint8_t(body[13]) << 8 | uint8_t(body[14]) << 16);
  const std::string place = "at byte " + std::to_string(body.size()) + ": ";
  for (const auto& [damaged, what] : {
           std::pair(body, place + "the file ends without its end record: it was cut"),
           std::pair(body.substr(0, first),
                     "at byte " + std::to_string(first) + ": the file ends without its end record"),
           std::pair(body + end + "1234567", place + "the file ends inside its end record"),
           std::pair(body + end + LittleEndian(39'999),
                     place + "the end record counts other rows (rows = '39999', expected 40000)"),
           std::pair(body.substr(0, first) + bytes.substr(body.size()),
                     "at byte " + std::to_string(first) +
                         ": the end record counts other rows (rows = '40000', expected 32768)"),
           std::pair(bytes + "x", "at byte " + std::to_string(bytes.size()) +
                                      ": bytes behind the end record (expected the file's end)"),
       }) {
    const auto read = ReadSerTrace(damaged, 40'000);
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_TRUE(std::string(read.status().message()).starts_with(what)) << read.status() << "\n" << what;
  }
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

TEST(SerTraceFile, ARunThatStopsAtItsLimitEndsItsFile) {
  const testing::TempDir dir;
  const std::string source = SM89_SOURCE_DIR;
  for (const uint32_t cycles : {10u, 10'000u}) {
    const testing::Outcome run = testing::Sim(
        {"--config", "RTX4090_SER", "--cubin", source + "/tests/data/kernels/divergent.sm_89.cubin",
         "--launch", source + "/tests/data/ser/crowded.json", "--max-cycles", std::to_string(cycles),
         "--ser-trace", dir.File("moves.ser"), "--json", dir.File("run.json")});
    EXPECT_EQ(run.code, kExitLimit) << run.err;
    std::ifstream moves(dir.File("moves.ser"), std::ios::binary), report(dir.File("run.json"));
    const auto read = ReadSerTrace(std::string(std::istreambuf_iterator<char>(moves), {}), 1'000'000);
    ASSERT_TRUE(read.ok()) << read.status();
    const auto json = nlohmann::json::parse(report);
    EXPECT_EQ(json["kernels"][0]["statistics"]["sm"]["ser_invocations"], read->size());
    EXPECT_EQ(read->empty(), cycles == 10) << read->size();
  }
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
