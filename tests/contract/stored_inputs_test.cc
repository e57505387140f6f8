// What is said of the traces, machine code and configurations that a job names.
#include "server/service/stored_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/service/status_conversion.h"
#include "sim/base/fault.h"
#include "tests/support/trace_fixture.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;

class StoredInputsTest : public testing::TraceFixture {
 protected:
  void SetUp() override {
    TraceFixture::SetUp();
    configs_ = *ConfigStore::Open(*db_, clock_, {100, 100'000});
    inputs_ = std::make_unique<StoredInputs>(*manager_, *configs_, *blobs_);
    spec_.trace = Uploaded("trace", false);
    spec_.config = "RTX4090";
    spec_.sass = {Uploaded("code 0", true), Uploaded("code 1", true)};
  }
  void TearDown() override {
    inputs_.reset();
    configs_.reset();
    TraceFixture::TearDown();
  }
  // What its reader writes differs with the upload, so that each has a blob of its own.
  std::string Uploaded(const std::string& bytes, bool machine_code) {
    processes_.SetBehaviour([bytes](const ProcessSpec& spec) -> std::optional<ProcessExit> {
      testing::WriteFile(testing::ArgOf(spec, "--output"), bytes);
      testing::WriteFile(testing::ArgOf(spec, "--result"), testing::kGoodResult);
      return ProcessExit{};
    });
    BeginUpload request = Request(bytes, bytes);
    request.options.machine_code = machine_code;
    const std::string id = Begin(request);
    EXPECT_TRUE(Write(id, 0, bytes).ok());
    EXPECT_TRUE(Finalize(id).ok());
    return id;
  }
  absl::Status Rechecked(const ResolvedInputs& resolved) {
    return db_->Write([&](Transaction& tx) { return inputs_->Recheck(tx, spec_, resolved.inputs); });
  }
  static std::string Reason(const absl::Status& status) { return ToErrorDetail(status, "JOB").reason(); }

  std::unique_ptr<ConfigStore> configs_;
  std::unique_ptr<StoredInputs> inputs_;
  JobSpec spec_;
};

TEST_F(StoredInputsTest, CodeIsWhatWasUploadedAsCode) {
  // The marks say nothing of it: the reader's text is not what decides.
  const auto resolved = inputs_->Resolve(spec_);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->inputs.sass.at(1).display_name, "code 1");
  EXPECT_TRUE(Rechecked(*resolved).ok());
  JobSpec swapped = spec_;
  swapped.trace = spec_.sass[0];
  EXPECT_THAT(std::string(inputs_->Resolve(swapped).status().message()), HasSubstr("name it in 'sass'"));
  swapped = spec_;
  swapped.sass[1] = spec_.trace;
  const absl::Status status = inputs_->Resolve(swapped).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(FaultsOf(status).at(0).field, "sass[1]");
}

TEST_F(StoredInputsTest, CodeIsCalledAsTheSubmissionCallsIt) {
  spec_.sass_names = {"my.cubin", ""};
  const auto resolved = inputs_->Resolve(spec_);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->inputs.sass.at(0).display_name, "my.cubin");
  EXPECT_EQ(resolved->inputs.sass.at(1).display_name, "code 1");
}

TEST_F(StoredInputsTest, OnlyWhatIsExecutedHasABoundOfInstructions) {
  spec_.max_instructions = 5000;
  const absl::Status status = inputs_->Resolve(spec_).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(FaultsOf(status).at(0).field, "limits.max_instructions");
  EXPECT_EQ(FaultsOf(status).at(0).value, "5000");
}

TEST_F(StoredInputsTest, WhatIsNotThereIsNamedByItsField) {
  JobSpec spec = spec_;
  spec.sass[1] = "absent";
  const absl::Status code = inputs_->Resolve(spec).status();
  EXPECT_TRUE(absl::IsNotFound(code));
  EXPECT_EQ(FaultsOf(code).at(0).field, "sass[1]");
  EXPECT_EQ(FaultsOf(code).at(0).value, "traces/absent");
  EXPECT_EQ(Reason(code), "TRACE_NOT_FOUND");
  spec.trace = "absent";
  const absl::Status trace = inputs_->Resolve(spec).status();
  EXPECT_EQ(FaultsOf(trace).at(0).field, "trace");
  EXPECT_EQ(Reason(trace), "TRACE_NOT_FOUND");
  spec = spec_;
  spec.sass[0] = Begin(Request("still open"));
  const absl::Status open = inputs_->Resolve(spec).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(open)) << open;
  EXPECT_EQ(FaultsOf(open).at(0).field, "sass[0]");
}

TEST_F(StoredInputsTest, WhatIsDeletedBeforeTheJobIsAcceptedIsNamedToo) {
  const auto resolved = inputs_->Resolve(spec_);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  ASSERT_TRUE(manager_->Delete(spec_.sass[1], "").ok());
  const absl::Status code = Rechecked(*resolved);
  EXPECT_EQ(Reason(code), "TRACE_NOT_FOUND") << code;
  EXPECT_EQ(FaultsOf(code).at(0).field, "sass[1]");
  ASSERT_TRUE(manager_->Delete(spec_.trace, "").ok());
  const absl::Status trace = Rechecked(*resolved);
  EXPECT_EQ(Reason(trace), "TRACE_NOT_FOUND") << trace;
  EXPECT_EQ(FaultsOf(trace).at(0).field, "trace");
}

TEST_F(StoredInputsTest, ALostFileIsNamed) {
  const auto resolved = inputs_->Resolve(spec_);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  ASSERT_TRUE(inputs_->Paths(resolved->inputs).ok());
  ASSERT_TRUE(manager_->Delete(spec_.sass[1], "").ok());
  const absl::Status code = inputs_->Paths(resolved->inputs).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(code)) << code;
  EXPECT_THAT(std::string(code.message()), HasSubstr("sass[1] 'code 1' is not stored any more"));
  ASSERT_TRUE(manager_->Delete(spec_.trace, "").ok());
  EXPECT_THAT(std::string(inputs_->Paths(resolved->inputs).status().message()),
              HasSubstr("trace 'trace' is not stored any more"));
}

}  // namespace
}  // namespace sm89
