// Kernel selections, filters, page tokens, limits: what a request's texts may be.
#include <gtest/gtest.h>

#include <string>

#include "server/jobs/job_filter.h"
#include "server/jobs/job_json.h"
#include "server/jobs/job_limits.h"
#include "server/jobs/kernel_selection.h"
#include "server/jobs/text.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

TEST(KernelSelection, OneSpellingForEqualSelections) {
  EXPECT_EQ(*CanonicalKernelSelection("3-5, 1,4", 9), "1,3-5");
  EXPECT_EQ(*CanonicalKernelSelection("1,2,3", 9), "1-3");
  EXPECT_EQ(*CanonicalKernelSelection("", 9), "");
  EXPECT_EQ(*CanonicalKernelSelection("1-9", 9), "");
  EXPECT_EQ(*CanonicalKernelSelection("9", 9), "9");
}

TEST(KernelSelection, RefusesWhatIsNotThere) {
  for (const char* text : {"0", "10", "5-3", "a", "1,,2", "1-2-3", "-1", "+1", "1 2", "99999999999", ","}) {
    const absl::StatusOr<std::string> selection = CanonicalKernelSelection(text, 9);
    ASSERT_TRUE(absl::IsInvalidArgument(selection.status())) << text;
    EXPECT_EQ(FaultsOf(selection.status()).at(0).field, "kernels") << text;
  }
}

TEST(JobFilter, TakesTheDocumentedTerms) {
  const JobFilter filter =
      *ParseJobFilter("state=RUNNING AND trace=traces/t AND config=configs/c AND label.k=\"a b\"");
  EXPECT_EQ(filter.state, JobState::kRunning);
  EXPECT_EQ(filter.trace, "t");
  EXPECT_EQ(filter.config, "c");
  ASSERT_EQ(filter.labels.size(), 1U);
  EXPECT_EQ(filter.labels[0], std::make_pair(std::string("k"), std::string("a b")));
  EXPECT_TRUE(ParseJobFilter("").ok());
}

TEST(JobFilter, NamesTheTermThatDoesNotParse) {
  for (const char* text : {"state=running", "x=1", "state", "state=RUNNING OR state=FAILED",
                           "state=RUNNING AND", "trace=t", "label.k=\"a", "state=RUNNING state=FAILED"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseJobFilter(text).status())) << text;
  }
}

TEST(PageToken, BelongsToItsFilter) {
  const std::string token = MakePageToken(17, "state=RUNNING");
  EXPECT_EQ(*ParsePageToken(token, "state=RUNNING"), 17U);
  EXPECT_TRUE(absl::IsInvalidArgument(ParsePageToken(token, "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParsePageToken("x", "").status()));
}

TEST(JobLimits, FillsDefaultsAndRefusesAllFaultsAtOnce) {
  JobSpec spec;
  spec.trace = "t";
  ASSERT_TRUE(CheckAndCompleteSpec({}, &spec).ok());
  EXPECT_EQ(spec.threads, 1U);
  EXPECT_EQ(spec.memory_bytes, JobLimits{}.memory_default_bytes);
  EXPECT_EQ(spec.max_cycles, 0U);

  JobSpec bad;
  bad.priority = 11;
  bad.memory_bytes = 1;
  bad.labels["no blanks"] = "x";
  bad.labels["k"] = std::string(256, 'x');
  bad.wall_seconds = 1u << 30;
  const absl::Status status = CheckAndCompleteSpec({}, &bad);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(FaultsOf(status).size(), 6U) << status;  // and the missing trace
}

TEST(JobLimits, ABoundedServerDoesNotRunToTheEnd) {
  JobLimits limits;
  limits.cycles_max = 1000;
  JobSpec spec;
  spec.trace = "t";
  ASSERT_TRUE(CheckAndCompleteSpec(limits, &spec).ok());
  EXPECT_EQ(spec.max_cycles, 1000U);
  spec.max_cycles = 1001;
  EXPECT_FALSE(CheckAndCompleteSpec(limits, &spec).ok());
}

TEST(RequestIds, AreUuidsOrEmpty) {
  EXPECT_TRUE(CheckRequestId("").ok());
  EXPECT_TRUE(CheckRequestId("123e4567-e89b-12d3-a456-426614174000").ok());
  EXPECT_FALSE(CheckRequestId("123e4567e89b12d3a456426614174000").ok());
  EXPECT_FALSE(CheckRequestId("123e4567-e89b-12d3-a456-42661417400g").ok());
}

TEST(JobJson, SpecsAndErrorsComeBack) {
  JobSpec spec;
  spec.trace = "t";
  spec.overrides = {{"-gpgpu_n_clusters", "4"}};
  spec.labels = {{"a", "b"}};
  spec.max_cycles = ~uint64_t{0};
  const JobSpec back = *SpecFromJson(SpecToJson(spec));
  EXPECT_EQ(SpecToJson(back), SpecToJson(spec));
  // What was not asked for leaves no trace in the text: hashes of stored requests stay what they were.
  EXPECT_EQ(SpecToJson(spec).find("keep_trace"), std::string::npos);
  spec.keep_trace = true;
  EXPECT_TRUE(SpecFromJson(SpecToJson(spec))->keep_trace);
  for (const char* absent : {"sass", "profile", "max_instructions"})
    EXPECT_EQ(SpecToJson(spec).find(absent), std::string::npos);
  spec.sass = {"code1", "code2"};
  spec.profile = true;
  EXPECT_EQ(SpecFromJson(SpecToJson(spec))->sass, spec.sass);
  EXPECT_EQ(SpecToJson(spec).find("sass_names"), std::string::npos);
  spec.sass_names = {"", "k.cubin"};
  EXPECT_EQ(SpecFromJson(SpecToJson(spec))->sass_names, spec.sass_names);
  spec.max_instructions = ~uint64_t{0};
  EXPECT_EQ(SpecFromJson(SpecToJson(spec))->max_instructions, spec.max_instructions);
  EXPECT_TRUE(SpecFromJson(SpecToJson(spec))->profile);
  EXPECT_EQ(CodeInputsToJson({}), "");
  const auto code = CodeInputsFromJson(CodeInputsToJson({{"d", "b", "k.cubin"}}));
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(code->at(0).display_name, "k.cubin");
  EXPECT_FALSE(CodeInputsFromJson("[[1]]").ok());
  EXPECT_TRUE(absl::IsDataLoss(SpecFromJson("{}").status()));
  JobError error{"INTERNAL", "R", "m", {Fault{"f", 3, "x", "v", "e", "m", {{"k", "v"}}}}};
  EXPECT_EQ(ErrorToJson(*ErrorFromJson(ErrorToJson(error))), ErrorToJson(error));
  EXPECT_EQ(ErrorToJson({}), "");
}

TEST(JobJson, TheFormOfTheDecisionsComesBack) {
  JobSpec spec;
  EXPECT_EQ(SpecToJson(spec).find("ser_trace"), std::string::npos);
  for (const auto& [format, name] :
       {std::pair(SerTraceFormat::kCompact, "compact"), std::pair(SerTraceFormat::kCsv, "csv"),
        std::pair(SerTraceFormat::kJsonLines, "jsonl")}) {
    spec.ser_trace = format;
    const std::string json = SpecToJson(spec);
    EXPECT_NE(json.find(std::string("\"ser_trace\":\"") + name + "\""), std::string::npos) << json;
    EXPECT_EQ(SpecFromJson(json)->ser_trace, format);
    EXPECT_EQ(NameOf(format), name);
    std::string damaged = json;
    damaged.replace(damaged.find(name, damaged.find("ser_trace") + 9), std::string(name).size(), "xml");
    EXPECT_TRUE(absl::IsDataLoss(SpecFromJson(damaged).status())) << damaged;
  }
  EXPECT_EQ(SerTraceFormatOf(""), SerTraceFormat::kNone);
  EXPECT_FALSE(SerTraceFormatOf("COMPACT").has_value());
}

TEST(JobLimits, SoManyFilesOfMachineCodeAndNoMore) {
  JobSpec spec;
  spec.trace = "t";
  spec.sass.assign(kSassMax, "code");
  EXPECT_TRUE(CheckAndCompleteSpec({}, &spec).ok());
  spec.sass.emplace_back("code");
  const absl::Status status = CheckAndCompleteSpec({}, &spec);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(FaultsOf(status).at(0).field, "sass");
  EXPECT_EQ(FaultsOf(status).at(0).expected, "at most 16");
}

TEST(JobLimits, MachineCodeHasAPlainNameOrTheUploadsOwn) {
  JobSpec spec;
  spec.trace = "t";
  spec.sass = {"a", "b"};
  spec.sass_names = {"my.cubin", ""};
  EXPECT_TRUE(CheckAndCompleteSpec({}, &spec).ok());
  const std::string long_name(201, 'x');
  for (const auto& names : std::vector<std::vector<std::string>>{
           {"my.cubin"}, {"a", "b", "c"}, {"a/b", ""}, {"", "a\nb"}, {"\x1b[31m", ""}, {long_name, ""}}) {
    spec.sass_names = names;
    const absl::Status status = CheckAndCompleteSpec({}, &spec);
    ASSERT_TRUE(absl::IsInvalidArgument(status)) << names.front();
    EXPECT_EQ(FaultsOf(status).at(0).field, "sass_names");
  }
}

TEST(CutText, KeepsWholeCharacters) {
  EXPECT_EQ(CutText("abc", 3), "abc");
  EXPECT_EQ(CutText("a\xC3\xA9z", 2), "a");
  EXPECT_EQ(CutText("a\xC3\xA9z", 3), "a\xC3\xA9");
}

}  // namespace
}  // namespace sm89
