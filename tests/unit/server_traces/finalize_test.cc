// What becomes of an upload that is complete: the reader's verdicts, its crashes, restarts, deduplication.
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <thread>
#include <vector>

#include "sim/base/fault.h"
#include "tests/support/trace_fixture.h"

namespace sm89 {
namespace {

using testing::ArgOf;
using testing::GoodReader;
using testing::TraceFixture;
using testing::WriteFile;

class FinalizeTest : public TraceFixture {
 protected:
  static TraceManager::FinalizeCallback Into(std::promise<absl::StatusOr<TraceRecord>>* promise) {
    return [promise](absl::StatusOr<TraceRecord> result) { promise->set_value(std::move(result)); };
  }

  // Waits until a reader runs that goes on until it is told.
  pid_t WaitForReader() {
    while (processes_.Running().empty()) std::this_thread::yield();
    return processes_.Running().front();
  }
};

TEST_F(FinalizeTest, AGoodUploadBecomesReady) {
  const auto trace = Upload("0123456789");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->state, TraceState::kReady);
  EXPECT_EQ(trace->content.digest, "abc");
  EXPECT_EQ(trace->content.kernels, 2u);
  EXPECT_EQ(trace->content.warp_instructions, 30u);
  EXPECT_EQ(trace->content.warnings, (std::vector<std::string>{"w1", "w2"}));
  EXPECT_EQ(*blobs_->ReadBlob(trace->content.blob, 100), "compact");
  EXPECT_EQ(FilesUnder("uploads"), 0u);
  EXPECT_EQ(FilesUnder("scratch"), 0u);
  EXPECT_EQ(observer_["stored"], 1u);
  EXPECT_EQ(observer_["bytes"], 10u);
}

TEST_F(FinalizeTest, TheReaderGetsItsLimitsAndTheUsersNameOfTheFile) {
  BeginUpload request = Request("0123456789", "bfs run.tar.zst");
  request.options.foreign_arch = true;
  const std::string id = Begin(request);
  ASSERT_TRUE(Write(id, 0, "0123456789").ok());
  ASSERT_TRUE(Finalize(id).ok());
  const ProcessSpec spec = processes_.Started().at(0);
  EXPECT_EQ(spec.program, "/fake/sm89-worker");
  EXPECT_EQ(spec.args.at(0), "ingest");
  EXPECT_TRUE(ArgOf(spec, "--input").ends_with("/" + id + "/bfs run.tar.zst"));
  EXPECT_EQ(ArgOf(spec, "--max-unpacked-bytes"), std::to_string(options_.limits.max_unpacked_bytes));
  EXPECT_EQ(spec.address_space_bytes, options_.limits.ingest_memory_bytes);
  EXPECT_EQ(spec.args.back(), "--foreign-arch");
}

TEST_F(FinalizeTest, TheReaderIsToldWhereThePtxCompilerIs) {
  ASSERT_TRUE(Upload("without").ok());
  EXPECT_EQ(ArgOf(processes_.Started().back(), "--ptxas"), "");
  options_.ptxas = "/opt/cuda/bin/ptxas";
  Restart();
  ASSERT_TRUE(Upload("with").ok());
  EXPECT_EQ(ArgOf(processes_.Started().back(), "--ptxas"), "/opt/cuda/bin/ptxas");
}

TEST_F(FinalizeTest, FinalizingAgainGivesTheSame) {
  const auto first = Upload("0123456789");
  ASSERT_TRUE(first.ok());
  const auto second = Finalize(first->id);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->etag(), first->etag());
  EXPECT_EQ(processes_.Started().size(), 1u);
}

TEST_F(FinalizeTest, CallsAtTheSameTimeShareOneReading) {
  processes_.SetBehaviour(nullptr);
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123456789").ok());
  std::promise<absl::StatusOr<TraceRecord>> first;
  std::promise<absl::StatusOr<TraceRecord>> second;
  bool forgotten_called = false;
  manager_->Finalize(id, Into(&first));
  manager_->Finalize(id, Into(&second));
  const uint64_t ticket =
      manager_->Finalize(id, [&](const absl::StatusOr<TraceRecord>&) { forgotten_called = true; });
  manager_->ForgetFinalize(id, ticket);
  const pid_t pid = WaitForReader();
  EXPECT_EQ(manager_->Get(id)->state, TraceState::kValidating);
  GoodReader(processes_.Started().at(0));
  processes_.End(pid, ProcessExit{});
  EXPECT_TRUE(first.get_future().get().ok());
  EXPECT_TRUE(second.get_future().get().ok());
  EXPECT_FALSE(forgotten_called);
  EXPECT_EQ(processes_.Started().size(), 1u);
}

TEST_F(FinalizeTest, MissingBytesAreNamedAndCanStillCome) {
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123").ok());
  const absl::Status status = Finalize(id).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(FaultsOf(status).at(0).facts.at(0),
            (std::pair<std::string, std::string>("committed_bytes", "4")));
  ASSERT_TRUE(Write(id, 4, "456789").ok());
  EXPECT_TRUE(Finalize(id).ok());
}

TEST_F(FinalizeTest, OtherBytesThanDeclaredAreInvalidAndNothingIsStored) {
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "012345678X").ok());
  EXPECT_EQ(Finalize(id).status().code(), absl::StatusCode::kInvalidArgument);
  const auto trace = manager_->Get(id);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->state, TraceState::kInvalid);
  EXPECT_EQ(FaultsOf(trace->error).at(0).field, "sha256");
  EXPECT_TRUE(processes_.Started().empty());
  EXPECT_EQ(blobs_->total_bytes(), 0u);
  EXPECT_EQ(FilesUnder("uploads"), 0u);
  EXPECT_EQ(observer_.failed(UploadFailureKind::kBadDigest), 1u);
}

TEST_F(FinalizeTest, TheReadersFaultsAreKept) {
  processes_.SetBehaviour([](const ProcessSpec& spec) -> std::optional<ProcessExit> {
    Fault fault;
    fault.file = "kernel-1.traceg";
    fault.line = 7;
    fault.message = "bad mask";
    const absl::Status status = InputError(absl::StatusCode::kInvalidArgument, fault);
    WriteFile(ArgOf(spec, "--result"), R"({"ok":false,"status":)" + StatusToJson(status) + "}");
    return ProcessExit{1, 0, 0};
  });
  const auto refused = Upload("0123456789");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  Restart();
  const TracePage page = *manager_->List({}, 0, 10);
  ASSERT_EQ(page.traces.size(), 1u);
  EXPECT_EQ(page.traces[0].state, TraceState::kInvalid);
  EXPECT_EQ(FaultsOf(page.traces[0].error).at(0).line, 7u);
  const auto again = Finalize(page.traces[0].id);
  EXPECT_EQ(FaultsOf(again.status()).at(0).file, "kernel-1.traceg");
  EXPECT_EQ(observer_["refused"], 1u);
}

TEST_F(FinalizeTest, ACrashOfTheReaderEndsTheUploadNotTheDaemon) {
  struct Case {
    ProcessExit exit;
    absl::StatusCode code;
  };
  int number = 0;
  for (const Case& c : {Case{{0, SIGSEGV, 0}, absl::StatusCode::kInternal},
                        Case{{0, SIGABRT, 0}, absl::StatusCode::kInternal},
                        Case{{0, SIGKILL, 0}, absl::StatusCode::kResourceExhausted},
                        Case{{4, 0, 0}, absl::StatusCode::kResourceExhausted},
                        Case{{99, 0, 0}, absl::StatusCode::kInternal}}) {
    processes_.SetBehaviour([&](const ProcessSpec& spec) -> std::optional<ProcessExit> {
      WriteFile(spec.stderr_path, "sm89 assertion failed: x\n");
      return c.exit;
    });
    const auto crashed = Upload("crash" + std::to_string(number++));
    EXPECT_EQ(crashed.status().code(), c.code);
    if (c.exit.code != 4) {
      EXPECT_NE(std::string(crashed.status().message()).find("assertion failed"), std::string::npos);
    }
  }
  processes_.SetBehaviour(GoodReader);
  EXPECT_TRUE(Upload("fine").ok());
  EXPECT_EQ(FilesUnder("scratch"), 0u);
}

TEST_F(FinalizeTest, AReaderThatTakesTooLongIsKilled) {
  options_.limits.ingest_wall_seconds = 50;
  Restart();
  processes_.SetBehaviour(nullptr);
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123456789").ok());
  std::promise<absl::StatusOr<TraceRecord>> result;
  manager_->Finalize(id, Into(&result));
  WaitForReader();
  auto future = result.get_future();
  while (future.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    clock_.Advance(std::chrono::seconds(51));
  }
  EXPECT_EQ(future.get().status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(manager_->Get(id)->state, TraceState::kInvalid);
}

TEST_F(FinalizeTest, OurOwnTroubleLeavesTheUploadOpen) {
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123456789").ok());
  processes_.FailStarts(absl::ResourceExhaustedError("no more processes"));
  EXPECT_EQ(Finalize(id).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(manager_->Get(id)->state, TraceState::kUploading);
  processes_.FailStarts(absl::OkStatus());
  processes_.SetBehaviour([](const ProcessSpec&) { return ProcessExit{}; });  // says 0, leaves no result
  EXPECT_EQ(Finalize(id).status().code(), absl::StatusCode::kInternal);
  processes_.SetBehaviour(GoodReader);
  files_.FailRenames(true);  // the blob cannot be put in place
  EXPECT_FALSE(Finalize(id).ok());
  files_.FailRenames(false);
  EXPECT_EQ(manager_->Get(id)->committed_bytes, 10u);
  EXPECT_TRUE(Finalize(id).ok());
  EXPECT_EQ(observer_.failed(UploadFailureKind::kStoreError), 3u);
}

TEST_F(FinalizeTest, ReadingGoesOnAfterARestart) {
  processes_.SetBehaviour(nullptr);
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123456789").ok());
  std::promise<absl::StatusOr<TraceRecord>> result;
  manager_->Finalize(id, Into(&result));
  WaitForReader();
  Stop();
  EXPECT_EQ(result.get_future().get().status().code(), absl::StatusCode::kUnavailable);
  processes_.SetBehaviour(GoodReader);
  Start();
  const auto trace = Finalize(id);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->state, TraceState::kReady);
}

TEST_F(FinalizeTest, AnAbortWhileReadingStopsTheReader) {
  processes_.SetBehaviour(nullptr);
  const std::string id = Begin(Request("0123456789"));
  ASSERT_TRUE(Write(id, 0, "0123456789").ok());
  std::promise<absl::StatusOr<TraceRecord>> result;
  manager_->Finalize(id, Into(&result));
  WaitForReader();
  ASSERT_TRUE(manager_->Delete(id, "").ok());
  EXPECT_EQ(manager_->Get(id).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(result.get_future().get().status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(processes_.Running().empty());
  EXPECT_EQ(manager_->counts().traces, 0u);
}

TEST_F(FinalizeTest, TheSameBytesAreNotUploadedTwice) {
  const auto trace = Upload("0123456789");
  ASSERT_TRUE(trace.ok());
  const auto again = manager_->Begin(Request("0123456789", "other name.tar.xz"));
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(again->existing.has_value());
  EXPECT_EQ(again->existing->id, trace->id);
  EXPECT_EQ(observer_["deduplicated"], 1u);
  BeginUpload other_options = Request("0123456789");
  other_options.options.unknown_as_nop = true;
  EXPECT_FALSE(manager_->Begin(other_options)->existing.has_value());
}

TEST_F(FinalizeTest, ALostBlobMakesTheTraceInvalidAtStart) {
  const auto trace = Upload("0123456789");
  ASSERT_TRUE(trace.ok());
  ASSERT_TRUE(files_.Remove(blobs_->PathOf(trace->content.blob)).ok());
  Restart();
  EXPECT_EQ(manager_->Get(trace->id)->error.code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(manager_->Begin(Request("0123456789"))->existing.has_value());
}

}  // namespace
}  // namespace sm89
