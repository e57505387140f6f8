// A damaged or hostile file gives a status that says where, never a crash and never wrong data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "sim/base/fault.h"
#include "sim/trace/chunk.h"
#include "sim/trace/format.h"
#include "sim/trace/metadata.h"
#include "sim/trace/packing.h"
#include "tests/unit/sim_trace/trace_model.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;
using testing::RandomTrace;
using testing::ReadFile;
using testing::TempPath;
using testing::Write;
using testing::WriteFile;

class Damage : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto written = Write(RandomTrace(5, false), path_);
    ASSERT_TRUE(written.ok()) << written.status();
    good_ = ReadFile(path_);
    header_ = DecodeHeader(std::string_view(good_).substr(0, kCompactHeaderBytes)).value();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // Opens `bytes` and reads everything.
  absl::Status Check(const std::string& bytes) {
    WriteFile(path_, bytes);
    const auto reader = CompactReader::Open(path_);
    return reader.ok() ? (*reader)->VerifyAll() : reader.status();
  }

  void ExpectDataLoss(const absl::Status& status) {
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    const std::vector<Fault> faults = FaultsOf(status);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].file, path_);
    ASSERT_EQ(faults[0].facts.size(), 1u);
    EXPECT_EQ(faults[0].facts[0].first, "offset");
  }

  // The file with section `s` holding `raw`, all checksums right: what an attacker would build.
  std::string WithSection(size_t s, const std::string& raw) {
    FileHeader header = header_;
    std::string out = good_.substr(0, header.sections[0].offset);
    for (size_t i = 0; i < header.sections.size(); ++i) {
      SectionEntry& e = header.sections[i];
      const std::string stored = i == s ? Pack(raw, 1) : good_.substr(e.offset, e.stored_bytes);
      if (i == s) e.raw_bytes = raw.size();
      e.offset = out.size();
      e.stored_bytes = stored.size();
      e.crc = Crc32(stored);
      out += stored;
    }
    header.file_bytes = out.size();
    return EncodeHeader(header) + out.substr(kCompactHeaderBytes);
  }

  std::string RawSection(size_t s) {
    const SectionEntry& e = header_.sections[s];
    return Unpack(std::string_view(good_).substr(e.offset, e.stored_bytes), e.raw_bytes).value();
  }

  const std::string path_ = TempPath("damage");
  std::string good_;
  FileHeader header_;
};

TEST_F(Damage, UndamagedFileIsFine) {
  EXPECT_TRUE(Check(good_).ok());
  EXPECT_EQ(WithSection(0, RawSection(0)).substr(kCompactHeaderBytes, 100),
            good_.substr(kCompactHeaderBytes, 100));
  EXPECT_TRUE(Check(WithSection(0, RawSection(0))).ok());
}

TEST_F(Damage, EveryFlippedBitIsNoticed) {
  const size_t step = std::max<size_t>(1, good_.size() / 400);
  for (size_t at = 0; at < good_.size(); at += at < 2 * kCompactHeaderBytes ? 1 : step) {
    SCOPED_TRACE(at);
    std::string bytes = good_;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    const absl::Status status = Check(bytes);
    if (at < 12) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    } else {
      ExpectDataLoss(status);
    }
    if (HasFailure()) return;
  }
}

TEST_F(Damage, EveryTruncationIsNoticed) {
  const size_t step = std::max<size_t>(1, good_.size() / 200);
  for (size_t size = 0; size < good_.size(); size += size < kCompactHeaderBytes + 8 ? 1 : step) {
    SCOPED_TRACE(size);
    const absl::Status status = Check(good_.substr(0, size));
    if (size < kCompactMagic.size()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    } else {
      ExpectDataLoss(status);
    }
    if (HasFailure()) return;
  }
}

TEST_F(Damage, AppendedBytesAreNoticed) { ExpectDataLoss(Check(good_ + '\0')); }

TEST_F(Damage, OtherVersionNamesBoth) {
  std::string bytes = good_;
  bytes[8] = 9;
  const absl::Status status = Check(bytes);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 9 is not supported, expected 1"));
}

TEST_F(Damage, MissingFileFolderAndFifo) {
  EXPECT_EQ(CompactReader::Open(path_ + ".none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CompactReader::Open("/").status().code(), absl::StatusCode::kInvalidArgument);
}

// With right checksums, so that the parsers themselves are met: no crash, no hang, bounded memory.
// A change that still verifies has left the logical content alone, which the digest vouches for.
TEST_F(Damage, HostileSectionsAreRefusedOrHarmless) {
  std::mt19937_64 random(1);
  for (size_t s = 0; s < kSectionOrder.size(); ++s) {
    const std::string raw = RawSection(s);
    ASSERT_FALSE(raw.empty());
    int refused = 0;
    for (int round = 0; round < 100; ++round) {
      std::string bytes = raw;
      bytes[random() % bytes.size()] = static_cast<char>(random());
      if (round % 4 == 0) bytes.resize(random() % bytes.size());
      const absl::Status status = Check(WithSection(s, bytes));
      if (status.ok()) continue;
      ++refused;
      ExpectDataLoss(status);
    }
    EXPECT_GE(refused, 25) << Name(kSectionOrder[s]);  // every fourth is cut short
  }
}

TEST_F(Damage, HugeCountsAreRefusedBeforeMemoryIsTaken) {
  for (size_t s = 0; s < kSectionOrder.size(); ++s) {
    std::string raw;
    AppendVarint(&raw, uint64_t{1} << 60);
    raw.append(1000, '\0');
    ExpectDataLoss(Check(WithSection(s, raw)));
  }
  FileHeader header = header_;
  header.sections[2].raw_bytes = kMaxSectionBytes + 1;
  ExpectDataLoss(Check(EncodeHeader(header) + good_.substr(kCompactHeaderBytes)));
}

TEST_F(Damage, ImpossibleBlockDimensionsAreRefused) {
  std::vector<KernelRecord> kernels;
  ASSERT_TRUE(DecodeKernels(RawSection(1), 1000, &kernels));
  for (const Dim3& block : {Dim3{0, 1, 1}, Dim3{2049, 1, 1}, Dim3{65536, 65536, 65536}}) {
    std::vector<KernelRecord> changed = kernels;
    changed[0].info.block = block;
    ExpectDataLoss(Check(WithSection(1, EncodeKernels(changed))));
  }
}

TEST_F(Damage, CountersOfTheChunkIndexCannotWrap) {
  std::vector<ChunkEntry> chunks;
  ASSERT_TRUE(DecodeChunks(RawSection(3), &chunks));
  std::vector<ChunkEntry> wrapping = chunks;
  // Empty chunks in front whose pieces sum up to 2^64.
  ChunkEntry empty = chunks[0];
  empty.stored_bytes = 0;
  empty.pieces = uint64_t{1} << 61;
  wrapping.insert(wrapping.begin(), 8, empty);
  const absl::Status status = Check(WithSection(3, EncodeChunks(wrapping)));
  ExpectDataLoss(status);
  EXPECT_THAT(std::string(status.message()), HasSubstr("counts more than the file can hold"));
}

// A chunk of one piece a kernel; each has one instruction, in the kernel's highest slot.
absl::Status ParseHighSlots(uint32_t kernels) {
  std::string slot_lists, pieces, bases;
  AppendVarint(&slot_lists, 1);
  AppendVarint(&slot_lists, kMaxSlots - 1);
  for (uint32_t k = 0; k < kernels; ++k) {
    for (const uint64_t value : {k == 0 ? 0 : 2, 1, 0, 1, 0}) AppendVarint(&pieces, value);
    for (int reference = 0; reference < 4; ++reference) AppendVarint(&pieces, k == 0 ? 0 : 1);
    AppendZigzag(&bases, 0);
  }
  const std::string zero(1, '\0');
  const std::string columns[kNumColumns] = {"", zero, slot_lists, "\1" + zero, pieces, bases, zero, ""};
  std::string raw;
  for (const uint64_t count : {0u, 1u, 1u, 1u, 1u, kernels}) AppendVarint(&raw, count);
  for (const std::string& column : columns) AppendVarint(&raw, column.size());
  for (const std::string& column : columns) raw += column;
  const std::vector<uint32_t> slots(kernels, kMaxSlots);
  return Chunk::Parse(raw, {.pieces = kernels, .slots_of_kernel = slots}).status();
}

// A few bytes must not make the reader clear megabytes over and over.
TEST(ChunkParser, PredictorsAreBounded) {
  EXPECT_TRUE(ParseHighSlots(10).ok()) << ParseHighSlots(10);
  const absl::Status refused = ParseHighSlots(6000);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("first base column"));
}

TEST_F(Damage, HostileChunksAreRefused) {
  std::vector<ChunkEntry> chunks;
  ASSERT_TRUE(DecodeChunks(RawSection(3), &chunks));
  const std::string raw =
      Unpack(std::string_view(good_).substr(kCompactHeaderBytes, chunks[0].stored_bytes), chunks[0].raw_bytes)
          .value();
  std::mt19937_64 random(2);
  const std::vector<uint32_t> slots(100, 200);
  const Chunk::Expectation expected{
      .pieces = chunks[0].pieces, .shapes = chunks[0].shapes, .slots_of_kernel = slots};
  ASSERT_TRUE(Chunk::Parse(raw, expected).ok());
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = raw;
    for (int flips = 0; flips < 3; ++flips) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (!Chunk::Parse(bytes, expected).ok()) ++refused;
  }
  EXPECT_GT(refused, 0);
  for (size_t size = 0; size < raw.size(); size += 97) {
    EXPECT_FALSE(Chunk::Parse(raw.substr(0, size), expected).ok()) << size;
  }
}

}  // namespace
}  // namespace sm89
