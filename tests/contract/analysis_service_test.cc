// What clients of AnalysisService may rely on, over a real connection; the analysing child is the test's.
#include "server/service/analysis_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sm89/v1/analysis.grpc.pb.h"
#include "tests/contract/grpc_fixture.h"
#include "tests/support/trace_fixture.h"

namespace sm89 {
namespace {

using grpc::ClientContext;
using grpc::StatusCode;
using ::testing::Contains;
using testing::DetailOf;
using ::testing::HasSubstr;
using testing::LocalServer;
using testing::WriteFile;
using Ask = v1::AnalyzeRequest;

constexpr uint64_t kWallSeconds = 30;
constexpr char kProgramResult[] =
    R"({"ok":true,"digest":"abc","file_bytes":7,"kernels":1,"warp_instructions":0,"thread_instructions":0,)"
    R"("memcpy_h2d_bytes":0,"marks":["emulated: 1 launch of sm_89 machine code"],"warnings":[]})";

// The value of "--name=value" in a child's arguments.
std::string ValueOf(const ProcessSpec& spec, const std::string& option) {
  for (const std::string& arg : spec.args) {
    if (arg.starts_with(option + "=")) return arg.substr(option.size() + 1);
  }
  return "";
}

std::optional<ProcessExit> Answers(const ProcessSpec& spec, const std::string& text) {
  WriteFile(ValueOf(spec, "--output"), text);
  return ProcessExit{};
}

class AnalysisServiceTest : public testing::TraceFixture {
 protected:
  void SetUp() override {
    TraceFixture::SetUp();
    runner_ = std::make_unique<AnalysisRunner>(
        files_, clock_, SystemIdSource(), processes_,
        AnalysisRunnerOptions{"/fake/sm89-worker", "/fake/ptxas", dir_.File("scratch"), 1 << 30, kWallSeconds,
                              1 << 20});
    analyses_ = std::make_unique<Executor>(1, 1);
    executor_ = std::make_unique<Executor>(2, 100);
    service_ = MakeAnalysisService({*manager_, *blobs_, *runner_, *analyses_, *executor_});
    server_ = std::make_unique<LocalServer>(std::vector<grpc::Service*>{service_.get()});
    stub_ = v1::AnalysisService::NewStub(server_->channel());
  }
  void TearDown() override {
    stub_.reset();
    server_.reset();
    analyses_.reset();
    executor_.reset();
    service_.reset();
    TraceFixture::TearDown();
  }

  static Ask ImageRequest(Ask::Kind kind = Ask::MIX) {
    Ask request;
    request.set_kind(kind);
    request.set_image("bytes of a cubin");
    return request;
  }
  grpc::Status Analyze(const Ask& request, std::string* answer = nullptr) {
    ClientContext context;
    auto reader = stub_->Analyze(&context, request);
    v1::AnalyzeChunk chunk;
    while (reader->Read(&chunk)) {
      EXPECT_LE(chunk.data().size(), size_t{1} << 20);
      if (answer != nullptr) *answer += chunk.data();
    }
    return reader->Finish();
  }
  std::string UploadNamed(const char* result) {
    processes_.SetBehaviour([result](const ProcessSpec& spec) {
      WriteFile(testing::ArgOf(spec, "--output"), "package");
      WriteFile(testing::ArgOf(spec, "--result"), result);
      return ProcessExit{};
    });
    const auto record = Upload("bytes of an upload", "p.cubin");
    EXPECT_TRUE(record.ok()) << record.status();
    return "traces/" + record->id;
  }
  bool WaitForChildren(size_t count) {
    for (int i = 0; i < 1000; ++i) {
      if (processes_.Running().size() == count) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::unique_ptr<AnalysisRunner> runner_;
  std::unique_ptr<Executor> analyses_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<LocalServer> server_;
  std::unique_ptr<v1::AnalysisService::Stub> stub_;
};

TEST_F(AnalysisServiceTest, TheChildIsAskedAndItsAnswerComesInPieces) {
  const std::string text(2'500'000, 'x');
  std::string image;
  processes_.SetBehaviour([&](const ProcessSpec& spec) {
    image = *ReadWholeFile(files_, ValueOf(spec, "--image"), 1000);
    return Answers(spec, text);
  });
  Ask request = ImageRequest(Ask::INFO);
  request.set_format(Ask::JSON);
  request.set_function("--odd");
  request.set_arch(90);
  request.mutable_launch()->set_threads(256);
  request.mutable_launch()->set_dynamic_shared_bytes(1024);
  std::string answer;
  const grpc::Status status = Analyze(request, &answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer, text);
  EXPECT_EQ(image, "bytes of a cubin");
  const ProcessSpec spec = processes_.Started().back();
  EXPECT_EQ(spec.args.front(), "analyze");
  EXPECT_EQ(ValueOf(spec, "--kind"), "info");
  EXPECT_EQ(ValueOf(spec, "--format"), "json");
  EXPECT_EQ(ValueOf(spec, "--function"), "--odd");
  EXPECT_EQ(ValueOf(spec, "--arch"), "90");
  EXPECT_EQ(ValueOf(spec, "--threads"), "256");
  EXPECT_EQ(ValueOf(spec, "--dynamic-shared-bytes"), "1024");
  EXPECT_EQ(ValueOf(spec, "--ptxas"), "/fake/ptxas");
  EXPECT_EQ(spec.address_space_bytes, uint64_t{1} << 30);
  EXPECT_EQ(spec.file_bytes, uint64_t{1} << 20);
  EXPECT_EQ(FilesUnder("scratch"), 0u);
}

TEST_F(AnalysisServiceTest, AProgramIsReadWhereItIsKept) {
  const std::string name = UploadNamed(kProgramResult);
  std::string code;
  processes_.SetBehaviour([&](const ProcessSpec& spec) {
    code = *ReadWholeFile(files_, ValueOf(spec, "--image"), 1000);
    return Answers(spec, "mix");
  });
  Ask request;
  request.set_kind(Ask::MIX);
  request.set_trace(name);
  request.set_module("memory");
  std::string answer;
  EXPECT_TRUE(Analyze(request, &answer).ok());
  EXPECT_EQ(answer, "mix");
  EXPECT_EQ(code, "package");
  EXPECT_EQ(ValueOf(processes_.Started().back(), "--module"), "memory");
}

TEST_F(AnalysisServiceTest, ATraceHoldsNoCode) {
  Ask request;
  request.set_kind(Ask::MIX);
  request.set_trace(UploadNamed(testing::kGoodResult));
  const grpc::Status status = Analyze(request);
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf(status).faults(0).field(), "trace");
  request.set_trace("traces/0123456789abcdef0123456789abcdef");
  EXPECT_NE(Analyze(request).error_code(), StatusCode::OK);
}

TEST_F(AnalysisServiceTest, FaultyRequestsNameTheFieldAndStartNothing) {
  std::vector<std::pair<std::string, Ask>> cases;
  const auto add = [&](const std::string& field, Ask request) { cases.emplace_back(field, request); };
  Ask request = ImageRequest(Ask::KIND_UNSPECIFIED);
  add("kind", request);
  request = ImageRequest();
  request.set_format(Ask::SVG);
  add("format", request);
  request = ImageRequest();
  request.clear_image();
  add("code", request);
  request = ImageRequest(Ask::MMA_LAYOUT);
  add("code", request);
  request = ImageRequest();
  request.set_image(std::string((size_t{3} << 20) + 1, 'x'));
  add("image", request);
  request = ImageRequest();
  request.set_module("m");
  add("module", request);
  request = ImageRequest();
  request.set_ptx(".version 7.8");
  add("ptx", request);
  request = ImageRequest();
  request.set_function("a\x01");
  add("function", request);
  request = ImageRequest(Ask::INFO);
  request.mutable_launch()->set_threads(2000);
  add("launch.threads", request);
  request = ImageRequest();
  request.set_arch(100'000);
  add("arch", request);
  for (const auto& [field, faulty] : cases) {
    const grpc::Status status = Analyze(faulty);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << field << ": " << status.error_message();
    EXPECT_EQ(DetailOf(status).faults(0).field(), field);
  }
  EXPECT_TRUE(processes_.Started().empty());
}

TEST_F(AnalysisServiceTest, WhatTheChildRefusesIsTheCallersError) {
  processes_.SetBehaviour([](const ProcessSpec& spec) {
    Fault fault;
    fault.file = "image";
    fault.field = "offset 64";
    fault.message = "a section outside the file";
    WriteFile(ValueOf(spec, "--result"), StatusToJson(InputError(absl::StatusCode::kInvalidArgument, fault)));
    return ProcessExit{1, 0, 0};
  });
  const grpc::Status status = Analyze(ImageRequest());
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(status).faults(0).field(), "offset 64");
  EXPECT_EQ(FilesUnder("scratch"), 0u);
}

TEST_F(AnalysisServiceTest, BoundsAreNamedAndCrashesAreOurs) {
  ProcessExit exit;
  processes_.SetBehaviour([&](const ProcessSpec&) { return exit; });
  exit = {4, 0, 0};
  grpc::Status status = Analyze(ImageRequest());
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("memory"));
  exit = {0, SIGXFSZ, 0};
  status = Analyze(ImageRequest());
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("larger than"));
  exit = {0, SIGSEGV, 0};
  status = Analyze(ImageRequest());
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(FilesUnder("scratch"), 0u);
}

TEST_F(AnalysisServiceTest, TooLongAnAnalysisIsKilled) {
  processes_.SetBehaviour([](const ProcessSpec&) { return std::nullopt; });
  std::thread later([this] {
    EXPECT_TRUE(WaitForChildren(1));
    while (!processes_.Running().empty()) {
      clock_.Advance(std::chrono::seconds(kWallSeconds + 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  const grpc::Status status = Analyze(ImageRequest());
  later.join();
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("longer than 30 s"));
}

TEST_F(AnalysisServiceTest, AClientThatGoesAwayEndsItsChild) {
  processes_.SetBehaviour([](const ProcessSpec&) { return std::nullopt; });
  ClientContext context;
  auto reader = stub_->Analyze(&context, ImageRequest());
  ASSERT_TRUE(WaitForChildren(1));
  context.TryCancel();
  v1::AnalyzeChunk chunk;
  EXPECT_FALSE(reader->Read(&chunk));
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(WaitForChildren(0));
}

TEST_F(AnalysisServiceTest, MoreThanRunAndWaitAreRefused) {
  processes_.SetBehaviour([](const ProcessSpec&) { return std::nullopt; });
  ClientContext running;
  auto first = stub_->Analyze(&running, ImageRequest());
  ASSERT_TRUE(WaitForChildren(1));
  ClientContext waiting;
  auto second = stub_->Analyze(&waiting, ImageRequest());
  // The second may still be on its way: of two more at least one finds the place taken.
  bool refused = false;
  for (int i = 0; i < 1000 && !refused; ++i) {
    ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    auto third = stub_->Analyze(&context, ImageRequest());
    v1::AnalyzeChunk chunk;
    third->Read(&chunk);
    refused = third->Finish().error_code() == StatusCode::RESOURCE_EXHAUSTED;
  }
  EXPECT_TRUE(refused);
  running.TryCancel();
  waiting.TryCancel();
  v1::AnalyzeChunk chunk;
  first->Read(&chunk);
  second->Read(&chunk);
  first->Finish();
  second->Finish();
}

}  // namespace
}  // namespace sm89
