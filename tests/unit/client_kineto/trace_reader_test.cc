#include "client/kineto/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "client/kineto/gz_file.h"
#include "tests/support/temp_dir.h"

namespace sm89::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TraceReaderTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.File(name);
    auto file = GzOutput::Create(path);
    EXPECT_TRUE(file.ok() && (*file)->Write(text).ok() && (*file)->Commit().ok());
    return path;
  }
  absl::Status Read(const std::string& path) {
    members_.clear();
    events_.clear();
    TraceVisitor visitor;
    visitor.on_member = [&](const std::string& key, const TraceJson& value) {
      members_.push_back(absl::StrCat(key, "=", value.dump()));
      return absl::OkStatus();
    };
    visitor.on_event = [&](const TraceJson& event) {
      events_.push_back(event.dump());
      return absl::OkStatus();
    };
    return ReadTrace(path, visitor);
  }
  testing::TempDir folder_;
  std::vector<std::string> members_, events_;
};

constexpr char kTrace[] =
    R"({"a": 1, "list": [{"x": [1, [], {}]}], "traceEvents": [{"ts": 5194620709105.845, "args": {"n": null}}, {}],
        "late": {"b": [true, "t\u00e9"]}})";

TEST_F(TraceReaderTest, GivesMembersAndEventsInOrder) {
  for (const char* name : {"t.json", "t.json.gz"}) {
    ASSERT_EQ(Read(Write(name, kTrace)), absl::OkStatus());
    EXPECT_THAT(members_, ElementsAre("a=1", R"(list=[{"x":[1,[],{}]}])", "late={\"b\":[true,\"té\"]}"));
    EXPECT_THAT(events_, ElementsAre(R"({"ts":5194620709105.845,"args":{"n":null}})", "{}"));
  }
  EXPECT_LT(std::filesystem::file_size(Write("big.json.gz", std::string(100'000, ' '))), 1000u);
}

TEST_F(TraceReaderTest, RefusesWhatIsNoTrace) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "parse error"},
      {"[]", "object with an array"},
      {"7", "object with an array"},
      {"{}", "no array traceEvents"},
      {R"({"traceEvents": {}})", "no array"},
      {R"({"traceEvents": 1})", "no array"},
      {R"({"traceEvents": [1]})", "no object"},
      {R"({"traceEvents": [[]]})", "no object"},
      {R"({"traceEvents": [], "traceEvents": []})", "twice"},
      {"{\"traceEvents\": [\n{\"a\": }]}", "line 2, column"},
      {"{\"traceEvents\": [{\"name\": \"\xff\"}]}", "UTF-8"},
      {R"({"traceEvents": []} x)", "parse error"},
  };
  for (const auto& [text, reason] : cases) {
    const absl::Status status = Read(Write("bad.json", text));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(reason)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("bad.json")) << text;
  }
}

TEST_F(TraceReaderTest, TellsFilesThatCannotBeRead) {
  EXPECT_EQ(Read(folder_.File("none")).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Read(folder_.path()).code(), absl::StatusCode::kFailedPrecondition);
  std::string noise;
  for (uint32_t i = 0; i < 50'000; ++i) absl::StrAppend(&noise, i * 2654435761u, " ");
  const std::string path =
      Write("cut.json.gz", absl::StrCat(R"({"x": ")", noise, R"(", "traceEvents": []})"));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const absl::Status status = Read(path);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("cut.json.gz"));
}

TEST_F(TraceReaderTest, IsBounded) {
  const std::string deep =
      absl::StrCat(R"({"traceEvents": [{"a": )", std::string(70, '['), std::string(70, ']'), "}]}");
  EXPECT_EQ(Read(Write("deep.json", deep)).code(), absl::StatusCode::kResourceExhausted);
  const std::string large = absl::StrCat(R"({"traceEvents": [{"a": ")",
                                         std::string(kTraceValueBytesMax + (1u << 17), 'x'), R"("}]})");
  EXPECT_EQ(Read(Write("large.json", large)).code(), absl::StatusCode::kResourceExhausted);
  // Many small events are more text than that and are read.
  std::string many = R"({"traceEvents": [{})";
  const std::string event = absl::StrCat(R"(,{"a": ")", std::string(100'000, 'x'), R"("})");
  for (size_t i = 0; i < kTraceValueBytesMax / 100'000 + 10; ++i) many += event;
  ASSERT_EQ(Read(Write("many.json.gz", many + "]}")), absl::OkStatus());
  EXPECT_EQ(events_.size(), kTraceValueBytesMax / 100'000 + 11);
}

TEST_F(TraceReaderTest, AnErrorOfTheVisitorEndsIt) {
  TraceVisitor visitor;
  visitor.on_member = [](const std::string&, const TraceJson&) { return absl::OkStatus(); };
  size_t events = 0;
  visitor.on_event = [&](const TraceJson&) {
    ++events;
    return absl::AbortedError("enough");
  };
  EXPECT_EQ(ReadTrace(Write("t.json", kTrace), visitor), absl::AbortedError("enough"));
  EXPECT_EQ(events, 1u);
}

TEST_F(TraceReaderTest, AnOutputWithoutCommitLeavesNothing) {
  const std::string path = folder_.File("out.json");
  {
    auto file = GzOutput::Create(path);
    ASSERT_TRUE(file.ok() && (*file)->Write("x").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_EQ(GzOutput::Create(folder_.File("no/file")).status().code(), absl::StatusCode::kNotFound);
  Write("out.json", "plain");
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "plain") << "no compression without .gz";
}

}  // namespace
}  // namespace sm89::client
