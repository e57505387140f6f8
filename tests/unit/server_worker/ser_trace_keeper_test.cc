// Decisions of the reordering stage in an attempt's file: every form, the bound, and what is left behind.
#include "server/worker/ser_trace_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;

// Hard to compress.
std::vector<SerRecord> Records(uint32_t count) {
  std::vector<SerRecord> records;
  for (uint32_t i = 0; i < count; ++i) {
    SerRecord& record = records.emplace_back();
    record.cycle = i;
    record.lanes = i * 2654435761u | 1;
    record.pc = i * 40503u;
  }
  return records;
}

std::string Kept(const std::string& folder, SerTraceFormat format, const std::vector<SerRecord>& records) {
  auto keeper = SerTraceKeeper::Create(PosixFileStore(), folder, format, uint64_t{1} << 30);
  EXPECT_TRUE(keeper.ok()) << keeper.status();
  for (const SerRecord& record : records) (*keeper)->Append({&record, 1});
  const auto artifact = (*keeper)->Finish();
  EXPECT_TRUE(artifact.ok()) << artifact.status();
  std::ifstream in(artifact->file->path(), std::ios::binary);
  return absl::StrCat(artifact->name, "\n", std::string(std::istreambuf_iterator<char>(in), {}));
}

std::string Direct(const std::string& name, SerTraceFormat format, const std::vector<SerRecord>& records) {
  std::string bytes = name + "\n";
  SerTraceWriter writer(format, [&bytes](std::string_view piece) {
    bytes += piece;
    return true;
  });
  EXPECT_TRUE(writer.Append(records));
  EXPECT_TRUE(writer.Finish());
  return bytes;
}

TEST(SerTraceKeeper, KeepsTheBytesOfTheWriterInEachForm) {
  const testing::TempDir dir;
  for (const uint32_t count : {0u, 1u, 70'000u}) {
    const std::vector<SerRecord> records = Records(count);
    for (const auto& [name, format] : {std::pair("ser_trace.ser", SerTraceFormat::kCompact),
                                       std::pair("ser_trace.csv", SerTraceFormat::kCsv),
                                       std::pair("ser_trace.jsonl", SerTraceFormat::kJsonLines)}) {
      EXPECT_EQ(Kept(dir.path(), format, records), Direct(name, format, records)) << name << " " << count;
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path())) << "files go with their artifacts";
}

TEST(SerTraceKeeper, AdvisesTheCompactFormToTheOthersOnly) {
  const testing::TempDir dir;
  for (const SerTraceFormat format :
       {SerTraceFormat::kCompact, SerTraceFormat::kCsv, SerTraceFormat::kJsonLines}) {
    auto keeper = SerTraceKeeper::Create(PosixFileStore(), dir.path(), format, 10);
    ASSERT_TRUE(keeper.ok()) << keeper.status();
    (*keeper)->Append(Records(100'000));
    const std::string advice((*keeper)->Finish().status().message());
    EXPECT_THAT(advice, HasSubstr("limit the cycles"));
    EXPECT_EQ(advice.find("keep them compact") == std::string::npos, format == SerTraceFormat::kCompact);
  }
}

TEST(SerTraceKeeper, StopsAtItsBoundAndSaysWhichSettingItIs) {
  const testing::TempDir dir;
  const std::vector<SerRecord> records = Records(100'000);
  const size_t needed = Direct("", SerTraceFormat::kCsv, records).size() - 1;
  for (const bool fits : {true, false}) {
    auto keeper =
        SerTraceKeeper::Create(PosixFileStore(), dir.path(), SerTraceFormat::kCsv, needed - (fits ? 0 : 1));
    ASSERT_TRUE(keeper.ok()) << keeper.status();
    (*keeper)->Append(records);
    const auto artifact = (*keeper)->Finish();
    EXPECT_EQ(artifact.ok(), fits) << artifact.status();
    if (fits) continue;
    EXPECT_EQ(artifact.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(artifact.status().message()),
                HasSubstr(absl::StrCat("more than ", needed - 1, " bytes (max_artifact_bytes)")));
    EXPECT_LT(std::filesystem::file_size(absl::StrCat(dir.path(), "/kept-", getpid(), ".ser")), needed);
  }
}

// A worker that died.
TEST(AttemptFile, WhatProcessesThatAreGoneLeftIsRemoved) {
  const testing::TempDir dir;
  for (const char* name : {"kept-999999999.sm89t", "kept-1.ser", "other"})
    std::ofstream(dir.File(name)) << "x";
  const AttemptFile trace(dir.path(), ".sm89t");
  std::ofstream(trace.path()) << "mine";
  const AttemptFile decisions(dir.path(), ".ser");
  EXPECT_FALSE(std::filesystem::exists(dir.File("kept-999999999.sm89t")));
  EXPECT_TRUE(std::filesystem::exists(dir.File("kept-1.ser"))) << "process 1 lives";
  EXPECT_TRUE(std::filesystem::exists(dir.File("other")));
  EXPECT_TRUE(std::filesystem::exists(trace.path())) << "the attempt's other file stays";
  EXPECT_NE(trace.path(), decisions.path());
}

}  // namespace
}  // namespace sm89
