#include "sim/ingest/kernel_header.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sm89 {
namespace {

using Immediate = LineFormat::Immediate;

const std::vector<std::string> kGood = {"-kernel name = k", "-grid dim = (2,3,4)", "-block dim = (64,2,1)",
                                        "-shmem = 1024",    "-nregs = 32",         "-binary version = 89"};

struct Parsed {
  KernelHeader header;
  std::vector<Fault> faults;
};

Parsed Parse(const std::vector<std::string>& lines, bool foreign = false) {
  KernelHeaderParser parser("kernel-1.traceg");
  uint64_t number = 0;
  for (const std::string& line : lines) parser.Line(line, ++number);
  IngestOptions options;
  options.foreign_arch = foreign;
  Parsed parsed;
  parsed.faults = parser.Finish(options);
  parsed.header = parser.header();
  return parsed;
}

Parsed ParseWith(const std::string& extra, bool foreign = false) {
  std::vector<std::string> lines = kGood;
  lines.push_back(extra);
  return Parse(lines, foreign);
}

// Replaces the line that starts alike.
Parsed ParseReplacing(const std::string& line, bool foreign = false) {
  std::vector<std::string> lines = kGood;
  const std::string key = line.substr(0, line.find('='));
  for (std::string& old : lines) {
    if (old.substr(0, old.find('=')) == key) old = line;
  }
  return Parse(lines, foreign);
}

TEST(KernelHeaderTest, ReadsAllKeys) {
  std::vector<std::string> lines = kGood;
  for (const char* more :
       {"-kernel id = 7", "-cuda stream id = 18446603336221196288", "-shmem base_addr = 0x00007f5a10000000",
        "-local mem base_addr = 0x00007f5a0e000000", "-nvbit version = 1.7.2", "-accelsim tracer version = 5",
        "-enable lineinfo = 1"}) {
    lines.emplace_back(more);
  }
  const Parsed parsed = Parse(lines);
  ASSERT_TRUE(parsed.faults.empty()) << parsed.faults[0].message;
  const KernelInfo& info = parsed.header.info;
  EXPECT_EQ(info.name, "k");
  EXPECT_EQ(info.grid, (Dim3{2, 3, 4}));
  EXPECT_EQ(info.block, (Dim3{64, 2, 1}));
  EXPECT_EQ(info.grid_ctas, 24u);
  EXPECT_EQ(info.shmem_bytes, 1024u);
  EXPECT_EQ(info.nregs, 32u);
  EXPECT_EQ(info.stream_id, 18446603336221196288u);
  EXPECT_EQ(info.shmem_base, 0x7f5a10000000u);
  EXPECT_EQ(info.local_base, 0x7f5a0e000000u);
  EXPECT_TRUE(parsed.header.format.has_source_line);
  EXPECT_EQ(parsed.header.format.immediate, Immediate::kOne);
}

TEST(KernelHeaderTest, TracerVersionsSelectTheLayout) {
  EXPECT_EQ(Parse(kGood).header.format.immediate, Immediate::kNone);
  EXPECT_EQ(ParseWith("-accelsim tracer version = 1.2").header.format.immediate, Immediate::kNone);
  EXPECT_EQ(ParseWith("-accelsim tracer version = 3").header.format.immediate, Immediate::kNone);
  EXPECT_EQ(ParseWith("-accelsim tracer version = 4").header.format.immediate, Immediate::kOptional);
  EXPECT_EQ(ParseWith("-accelsim tracer version = 6").header.format.immediate, Immediate::kTwo);
  EXPECT_EQ(ParseWith("-accelsim tracer version = 7").faults.size(), 1u);
  EXPECT_EQ(ParseWith("-accelsim tracer version = new").faults.size(), 1u);
}

TEST(KernelHeaderTest, DimensionsStayInsideCudaLimits) {
  for (const char* good : {"-grid dim = (2147483647,65535,65535)", "-grid dim = ( 1 , 1, 1 )",
                           "-block dim = (1024,1,1)", "-block dim = (4,4,64)"}) {
    EXPECT_TRUE(ParseReplacing(good).faults.empty()) << good;
  }
  for (const char* bad :
       {"-grid dim = (2147483648,1,1)", "-grid dim = (1,65536,1)", "-grid dim = (0,1,1)", "-grid dim = 1,1,1",
        "-block dim = (1025,1,1)", "-block dim = (32,33,1)", "-block dim = (1,1,65)", "-block dim = (-1,1,1)",
        "-nregs = 256", "-shmem = 4294967296"}) {
    EXPECT_EQ(ParseReplacing(bad).faults.size(), 1u) << bad;
  }
}

TEST(KernelHeaderTest, VersionsAreAcceptedOrRefusedByName) {
  EXPECT_TRUE(ParseReplacing("-binary version = 80", true).faults.empty());
  const Parsed foreign = ParseReplacing("-binary version = 80");
  ASSERT_EQ(foreign.faults.size(), 1u);
  EXPECT_EQ(foreign.faults[0].expected, "89");
  for (const char* version : {"61", "120", "0", "35"}) {
    const Parsed parsed = ParseReplacing(std::string("-binary version = ") + version, true);
    ASSERT_EQ(parsed.faults.size(), 1u) << version;
    EXPECT_EQ(parsed.faults[0].expected, "89, 70, 75, 80, 86, 90");
  }
}

TEST(KernelHeaderTest, AllFaultsComeTogether) {
  const Parsed parsed =
      Parse({"-kernel name = k", "-grid dim = (0,1,1)", "-nregs = 21955", "-binary version = x"});
  std::vector<std::string> fields;
  for (const Fault& fault : parsed.faults) fields.push_back(fault.field);
  EXPECT_EQ(fields,
            (std::vector<std::string>{"grid dim", "nregs", "binary version", "block dim", "binary version"}));
}

TEST(KernelHeaderTest, NamesKeepEveryByte) {
  EXPECT_EQ(Parse({"-kernel name = a = b \"c\"  "}).header.info.name, "a = b \"c\"  ");
  EXPECT_EQ(Parse({"-kernel id = 1"}).header.info.name, "kernel-1.traceg");
}

TEST(KernelHeaderTest, TextsAreBounded) {
  EXPECT_TRUE(ParseReplacing("-kernel name = " + std::string(65536, 'n')).faults.empty());
  EXPECT_EQ(ParseReplacing("-kernel name = " + std::string(65537, 'n')).faults.size(), 1u);
  EXPECT_TRUE(ParseWith("-nvbit version = " + std::string(64, '1')).faults.empty());
  EXPECT_EQ(ParseWith("-nvbit version = " + std::string(65, '1')).faults.size(), 1u);
}

TEST(KernelHeaderTest, AKeyTwiceIsAFault) {
  const Parsed parsed = ParseWith("-nregs = 32");
  ASSERT_EQ(parsed.faults.size(), 1u);
  EXPECT_EQ(parsed.faults[0].line, 7u);
}

TEST(KernelHeaderTest, AbsentSizesAreSaid) {
  const Parsed parsed = Parse({"-grid dim = (1,1,1)", "-block dim = (32,1,1)", "-binary version = 89"});
  EXPECT_TRUE(parsed.faults.empty());
  EXPECT_EQ(parsed.header.assumed, "shmem, nregs");
}

TEST(KernelHeaderTest, SignedStreamHandlesAreTheSameBits) {
  EXPECT_EQ(ParseWith("-cuda stream id = -140737488355328").header.info.stream_id, 0xffff800000000000u);
}

}  // namespace
}  // namespace sm89
