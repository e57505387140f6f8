// What clients of TraceService may rely on, over a real connection.
#include "server/service/trace_service.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sm89/v1/trace.grpc.pb.h"
#include "tests/contract/grpc_fixture.h"
#include "tests/support/trace_fixture.h"

namespace sm89 {
namespace {

using grpc::ClientContext;
using grpc::StatusCode;
using testing::ArgOf;
using testing::Crc;
using testing::DetailOf;
using testing::LocalServer;
using testing::WriteFile;

class TraceServiceTest : public testing::TraceFixture {
 protected:
  void SetUp() override {
    TraceFixture::SetUp();
    executor_ = std::make_unique<Executor>(4, 1000);
    service_ =
        MakeTraceService(*manager_, *executor_, SystemClock(), {options_.limits.max_chunk_bytes, idle_});
    server_ = std::make_unique<LocalServer>(std::vector<grpc::Service*>{service_.get()});
    stub_ = v1::TraceService::NewStub(server_->channel());
  }
  void TearDown() override {
    stub_.reset();
    server_.reset();
    executor_.reset();
    service_.reset();
    TraceFixture::TearDown();
  }

  static v1::BeginUploadRequest BeginRequest(const std::string& bytes, const std::string& name = "t.tar.xz") {
    v1::BeginUploadRequest request;
    request.set_display_name(name);
    request.set_size_bytes(bytes.size());
    request.set_sha256(Sha256Hex(bytes));
    return request;
  }
  grpc::Status Begin(const v1::BeginUploadRequest& request, v1::BeginUploadResponse* response) {
    ClientContext context;
    return stub_->BeginUpload(&context, request, response);
  }
  std::string BeginOk(const std::string& bytes) {
    v1::BeginUploadResponse response;
    const grpc::Status status = Begin(BeginRequest(bytes), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.max_chunk_bytes(), 1024u);
    return response.upload();
  }
  static v1::WriteUploadRequest Chunk(const std::string& upload, uint64_t offset, const std::string& data,
                                      bool finish) {
    v1::WriteUploadRequest chunk;
    chunk.set_upload(upload);
    chunk.set_offset(offset);
    chunk.set_data(data);
    chunk.set_crc32(Crc(data));
    chunk.set_finish(finish);
    return chunk;
  }
  grpc::Status WriteChunks(const std::vector<v1::WriteUploadRequest>& chunks,
                           v1::WriteUploadResponse* response = nullptr) {
    ClientContext context;
    v1::WriteUploadResponse ignored;
    auto writer = stub_->WriteUpload(&context, response != nullptr ? response : &ignored);
    for (const auto& chunk : chunks) {
      if (!writer->Write(chunk)) break;
    }
    writer->WritesDone();
    return writer->Finish();
  }
  grpc::Status Finalize(const std::string& upload, v1::Trace* trace) {
    ClientContext context;
    v1::FinalizeUploadRequest request;
    request.set_upload(upload);
    return stub_->FinalizeUpload(&context, request, trace);
  }
  v1::Trace UploadOk(const std::string& bytes) {
    const std::string upload = BeginOk(bytes);
    EXPECT_TRUE(WriteChunks({Chunk(upload, 0, bytes, true)}).ok());
    v1::Trace trace;
    const grpc::Status status = Finalize(upload, &trace);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return trace;
  }
  uint64_t Committed(const std::string& upload) {
    ClientContext context;
    v1::QueryWriteStatusRequest request;
    request.set_upload(upload);
    v1::QueryWriteStatusResponse response;
    EXPECT_TRUE(stub_->QueryWriteStatus(&context, request, &response).ok());
    EXPECT_EQ(response.complete(), response.committed_bytes() == response.size_bytes());
    return response.committed_bytes();
  }

  Duration idle_ = std::chrono::seconds(60);
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<LocalServer> server_;
  std::unique_ptr<v1::TraceService::Stub> stub_;
};

TEST_F(TraceServiceTest, FromUploadToTrace) {
  const std::string bytes(2500, 'x');
  const std::string upload = BeginOk(bytes);
  v1::WriteUploadResponse written;
  ASSERT_TRUE(WriteChunks({Chunk(upload, 0, bytes.substr(0, 1000), false),
                           Chunk("", 1000, bytes.substr(1000, 1000), false),
                           Chunk("", 2000, bytes.substr(2000), true)},
                          &written)
                  .ok());
  EXPECT_EQ(written.committed_bytes(), bytes.size());
  v1::Trace trace;
  ASSERT_TRUE(Finalize(upload, &trace).ok());
  EXPECT_EQ(trace.state(), v1::Trace::READY);
  EXPECT_EQ(trace.name(), "traces" + upload.substr(upload.find('/')));
  EXPECT_EQ(trace.kernels(), 2u);
  EXPECT_EQ(trace.digest(), "abc");
  EXPECT_EQ(trace.warnings_size(), 2);
  EXPECT_FALSE(trace.etag().empty());
  v1::BeginUploadResponse again;
  ASSERT_TRUE(Begin(BeginRequest(bytes), &again).ok());
  EXPECT_EQ(again.existing().name(), trace.name());
}

TEST_F(TraceServiceTest, AStreamWithoutFinishIsAnErrorAndKeepsItsBytes) {
  const std::string upload = BeginOk("0123456789");
  EXPECT_EQ(WriteChunks({Chunk(upload, 0, "0123", false)}).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Committed(upload), 4u);
  EXPECT_EQ(WriteChunks({}).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(WriteChunks({Chunk(upload, 4, "456789", true)}).ok());
  EXPECT_EQ(Committed(upload), 10u);
}

TEST_F(TraceServiceTest, AMalformedMessageInTheStreamIsAnError) {
  const std::string upload = BeginOk("0123456789");
  grpc::GenericStub generic(server_->channel());
  ClientContext context;
  grpc::CompletionQueue queue;
  const auto next = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return ok;
  };
  auto call = generic.PrepareCall(&context, "/sm89.v1.TraceService/WriteUpload", &queue);
  call->StartCall(nullptr);
  ASSERT_TRUE(next());
  for (const std::string& bytes :
       {Chunk(upload, 0, "0123", false).SerializeAsString(), std::string("\xFF\xFF\xFF not protobuf")}) {
    const grpc::Slice slice(bytes);
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    ASSERT_TRUE(next());
  }
  call->WritesDone(nullptr);
  next();
  grpc::Status status;
  call->Finish(&status, nullptr);
  ASSERT_TRUE(next());
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Committed(upload), 4u);
}

TEST_F(TraceServiceTest, DamagedMisplacedAndLongChunksAreRefusedWithTheOffset) {
  const std::string upload = BeginOk(std::string(5000, 'a'));
  v1::WriteUploadRequest damaged = Chunk(upload, 0, "aaaa", true);
  damaged.set_crc32(damaged.crc32() ^ 1);
  EXPECT_EQ(WriteChunks({damaged}).error_code(), StatusCode::DATA_LOSS);
  EXPECT_EQ(WriteChunks({Chunk(upload, 0, std::string(1025, 'a'), true)}).error_code(),
            StatusCode::RESOURCE_EXHAUSTED);
  const grpc::Status misplaced = WriteChunks({Chunk(upload, 7, "aaaa", true)});
  EXPECT_EQ(misplaced.error_code(), StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(DetailOf(misplaced).metadata().at("committed_bytes"), "0");
  EXPECT_EQ(DetailOf(misplaced).reason(), "TRACE_OUT_OF_RANGE");
  EXPECT_EQ(WriteChunks({Chunk(upload, 0, "aa", false), Chunk(upload, 2, "aa", true)}).error_code(),
            StatusCode::INVALID_ARGUMENT);  // named twice
  EXPECT_EQ(Committed(upload), 2u);
}

TEST_F(TraceServiceTest, AMessageOverTheTransportLimitIsRefused) {
  const std::string upload = BeginOk(std::string(5000, 'a'));
  const grpc::Status status = WriteChunks({Chunk(upload, 0, std::string(5 << 20, 'a'), true)});
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Committed(upload), 0u);
}

TEST_F(TraceServiceTest, ACancelledStreamKeepsItsBytes) {
  const std::string upload = BeginOk("0123456789");
  {
    ClientContext context;
    v1::WriteUploadResponse response;
    auto writer = stub_->WriteUpload(&context, &response);
    ASSERT_TRUE(writer->Write(Chunk(upload, 0, "0123", false)));
    while (manager_->Query(upload.substr(8))->committed_bytes != 4) std::this_thread::yield();
    context.TryCancel();
    EXPECT_EQ(writer->Finish().error_code(), StatusCode::CANCELLED);
  }
  EXPECT_TRUE(WriteChunks({Chunk(upload, 4, "456789", true)}).ok());
}

TEST_F(TraceServiceTest, BadNamesAreRefusedEverywhere) {
  for (const std::string& name :
       {std::string(""), std::string("traces/"), std::string("traces/../x"), std::string("traces/%2e%2e"),
        std::string("uploads/CON"), std::string("traces/a/b"), std::string(300, 'a'),
        std::string("traces/a\0b", 10), std::string("traces/ABCDEFGHIJKLMNOP"),
        std::string("traces/\xC3\xA9"), std::string("jobs/abcdefghijklmnop")}) {
    {
      ClientContext context;
      v1::GetTraceRequest request;
      request.set_name(name);
      v1::Trace trace;
      EXPECT_EQ(stub_->GetTrace(&context, request, &trace).error_code(), StatusCode::INVALID_ARGUMENT)
          << name;
    }
    {
      ClientContext context;
      v1::DeleteTraceRequest request;
      request.set_name(name);
      request.set_allow_missing(true);
      v1::DeleteTraceResponse response;
      EXPECT_EQ(stub_->DeleteTrace(&context, request, &response).error_code(), StatusCode::INVALID_ARGUMENT)
          << name;
    }
    v1::Trace trace;
    EXPECT_EQ(Finalize(name, &trace).error_code(), StatusCode::INVALID_ARGUMENT) << name;
    EXPECT_EQ(WriteChunks({Chunk(name, 0, "x", true)}).error_code(), StatusCode::INVALID_ARGUMENT) << name;
  }
}

TEST_F(TraceServiceTest, BadDeclarationsNameTheField) {
  v1::BeginUploadResponse response;
  const grpc::Status name = Begin(BeginRequest("x", "../x"), &response);
  EXPECT_EQ(name.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(name).faults(0).field(), "display_name");
  v1::BeginUploadRequest request = BeginRequest("x");
  request.set_request_id("not-a-uuid");
  const grpc::Status id = Begin(request, &response);
  EXPECT_EQ(id.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(id).faults(0).field(), "request_id");
  request = BeginRequest("x");
  request.set_size_bytes(~uint64_t{0});
  EXPECT_EQ(Begin(request, &response).error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(TraceServiceTest, RequestIdsProtectAgainstRepeats) {
  v1::BeginUploadRequest request = BeginRequest("0123456789");
  request.set_request_id("123e4567-e89b-42d3-a456-426614174000");
  v1::BeginUploadResponse first;
  v1::BeginUploadResponse second;
  ASSERT_TRUE(Begin(request, &first).ok());
  ASSERT_TRUE(Begin(request, &second).ok());
  EXPECT_EQ(first.upload(), second.upload());
  request.set_display_name("other.zip");
  EXPECT_EQ(Begin(request, &second).error_code(), StatusCode::ALREADY_EXISTS);
}

TEST_F(TraceServiceTest, ARequestIdIsOfOneKindOfUpload) {
  v1::BeginUploadRequest request = BeginRequest("0123456789");
  request.set_request_id("123e4567-e89b-42d3-a456-426614174000");
  v1::BeginUploadResponse trace;
  ASSERT_TRUE(Begin(request, &trace).ok());
  request.mutable_options()->set_machine_code(true);
  v1::BeginUploadResponse code;
  EXPECT_EQ(Begin(request, &code).error_code(), StatusCode::ALREADY_EXISTS);
  request.set_request_id("123e4567-e89b-42d3-a456-426614174001");
  ASSERT_TRUE(Begin(request, &code).ok());
  EXPECT_NE(code.upload(), trace.upload());
}

TEST_F(TraceServiceTest, AnUploadUnderWayGoesOnAfterAnUpgrade) {
  v1::BeginUploadRequest request = BeginRequest("0123456789");
  request.set_request_id("123e4567-e89b-42d3-a456-426614174000");
  v1::BeginUploadResponse first;
  ASSERT_TRUE(Begin(request, &first).ok());
  // What versions without machine code stored for this request.
  const std::string body = absl::StrCat("t.tar.xz\n10\n", request.sha256(), "\n000");
  std::string stored;
  ASSERT_TRUE(db_->Read([&](Transaction& tx) {
                   return tx.Query("SELECT body_hash FROM upload_requests", {}, [&](const Row& row) {
                     stored = row.Text(0);
                     return absl::OkStatus();
                   });
                 })
                  .ok());
  EXPECT_EQ(stored, Sha256Hex(body));
}

TEST_F(TraceServiceTest, MachineCodeConcedesNothing) {
  for (const char* name : {"foreign_arch", "allow_partial", "unknown_as_nop"}) {
    v1::BeginUploadRequest request = BeginRequest("0123456789");
    v1::IngestOptions& options = *request.mutable_options();
    options.set_machine_code(true);
    const auto* field = v1::IngestOptions::descriptor()->FindFieldByName(name);
    ASSERT_NE(field, nullptr);
    options.GetReflection()->SetBool(&options, field, true);
    v1::BeginUploadResponse response;
    const grpc::Status status = Begin(request, &response);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << name;
    EXPECT_EQ(DetailOf(status).faults(0).field(), absl::StrCat("options.", name));
  }
}

TEST_F(TraceServiceTest, AnInvalidTraceSaysWhy) {
  processes_.SetBehaviour([](const ProcessSpec& spec) -> std::optional<ProcessExit> {
    Fault fault;
    fault.file = "kernel-1.traceg";
    fault.line = 7;
    fault.value = "caf\xFF";
    fault.message = "the list names a file that is absent";
    const absl::Status status = InputError(absl::StatusCode::kNotFound, fault);
    WriteFile(ArgOf(spec, "--result"), R"({"ok":false,"status":)" + StatusToJson(status) + "}");
    return ProcessExit{1, 0, 0};
  });
  const std::string upload = BeginOk("0123456789");
  ASSERT_TRUE(WriteChunks({Chunk(upload, 0, "0123456789", true)}).ok());
  v1::Trace trace;
  const grpc::Status status = Finalize(upload, &trace);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);  // not NOT_FOUND: the upload is there
  EXPECT_EQ(DetailOf(status).faults(0).line(), 7u);
  ClientContext context;
  v1::GetTraceRequest request;
  request.set_name("traces" + upload.substr(upload.find('/')));
  ASSERT_TRUE(stub_->GetTrace(&context, request, &trace).ok());
  EXPECT_EQ(trace.state(), v1::Trace::INVALID);
  EXPECT_EQ(trace.error().faults(0).file(), "kernel-1.traceg");
  EXPECT_FALSE(trace.error_message().empty());
}

TEST_F(TraceServiceTest, AnErrorWithAThousandFaultsStillArrives) {
  processes_.SetBehaviour([](const ProcessSpec& spec) -> std::optional<ProcessExit> {
    std::vector<Fault> faults(1000);
    for (size_t i = 0; i < faults.size(); ++i) {
      faults[i].file = std::string(500, 'f');
      faults[i].line = i + 1;
      faults[i].message = std::string(500, '\n');
    }
    const absl::Status status = InputError(absl::StatusCode::kInvalidArgument, "", faults);
    WriteFile(ArgOf(spec, "--result"), R"({"ok":false,"status":)" + StatusToJson(status) + "}");
    return ProcessExit{1, 0, 0};
  });
  const std::string upload = BeginOk("0123456789");
  ASSERT_TRUE(WriteChunks({Chunk(upload, 0, "0123456789", true)}).ok());
  v1::Trace trace;
  const grpc::Status status = Finalize(upload, &trace);
  ASSERT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << status.error_message();
  const v1::ErrorDetail detail = DetailOf(status);
  EXPECT_GT(detail.faults_size(), 0);
  EXPECT_EQ(detail.metadata().at("faults_total"), "1000");
}

TEST_F(TraceServiceTest, FinalizeHonoursItsDeadlineAndReadingGoesOn) {
  processes_.SetBehaviour(nullptr);
  const std::string upload = BeginOk("0123456789");
  ASSERT_TRUE(WriteChunks({Chunk(upload, 0, "0123456789", true)}).ok());
  {
    ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
    v1::FinalizeUploadRequest request;
    request.set_upload(upload);
    v1::Trace trace;
    EXPECT_EQ(stub_->FinalizeUpload(&context, request, &trace).error_code(), StatusCode::DEADLINE_EXCEEDED);
  }
  while (processes_.Running().empty()) std::this_thread::yield();
  testing::GoodReader(processes_.Started().at(0));
  processes_.End(processes_.Running().front(), ProcessExit{});
  v1::Trace trace;
  EXPECT_TRUE(Finalize(upload, &trace).ok());
  EXPECT_EQ(trace.state(), v1::Trace::READY);
}

TEST_F(TraceServiceTest, ListsInPagesBoundToTheirFilter) {
  for (int i = 0; i < 3; ++i) UploadOk("bytes" + std::to_string(i));
  v1::ListTracesRequest request;
  request.set_page_size(2);
  request.set_filter("state=READY AND display_name:t.tar");
  v1::ListTracesResponse first;
  {
    ClientContext context;
    ASSERT_TRUE(stub_->ListTraces(&context, request, &first).ok());
  }
  ASSERT_EQ(first.traces_size(), 2);
  ASSERT_FALSE(first.next_page_token().empty());
  request.set_page_token(first.next_page_token());
  v1::ListTracesResponse second;
  {
    ClientContext context;
    ASSERT_TRUE(stub_->ListTraces(&context, request, &second).ok());
  }
  EXPECT_EQ(second.traces_size(), 1);
  EXPECT_TRUE(second.next_page_token().empty());
  const auto code = [&](const v1::ListTracesRequest& r) {
    ClientContext context;
    v1::ListTracesResponse response;
    return stub_->ListTraces(&context, r, &response).error_code();
  };
  v1::ListTracesRequest other = request;
  other.set_filter("state=READY");
  EXPECT_EQ(code(other), StatusCode::INVALID_ARGUMENT);
  other = request;
  other.set_page_token("garbage");
  EXPECT_EQ(code(other), StatusCode::INVALID_ARGUMENT);
  other.Clear();
  other.set_page_size(-1);
  EXPECT_EQ(code(other), StatusCode::INVALID_ARGUMENT);
  for (const char* filter : {"state=NO", "size>3", "state=READY AND", "state=READY AND state=INVALID"}) {
    other.Clear();
    other.set_filter(filter);
    EXPECT_EQ(code(other), StatusCode::INVALID_ARGUMENT) << filter;
  }
}

TEST_F(TraceServiceTest, DeletesWithEtag) {
  const v1::Trace trace = UploadOk("0123456789");
  const auto remove = [&](const std::string& etag, bool allow_missing) {
    ClientContext context;
    v1::DeleteTraceRequest request;
    request.set_name(trace.name());
    request.set_etag(etag);
    request.set_allow_missing(allow_missing);
    v1::DeleteTraceResponse response;
    return stub_->DeleteTrace(&context, request, &response).error_code();
  };
  EXPECT_EQ(remove("v0", false), StatusCode::ABORTED);
  manager_->SetInUseCheck([](Transaction&, const std::string&) { return true; });
  EXPECT_EQ(remove("", false), StatusCode::FAILED_PRECONDITION);
  manager_->SetInUseCheck(nullptr);
  EXPECT_EQ(remove(trace.etag(), false), StatusCode::OK);
  EXPECT_EQ(remove("", false), StatusCode::NOT_FOUND);
  EXPECT_EQ(remove("", true), StatusCode::OK);
}

class IdleTraceServiceTest : public TraceServiceTest {
 protected:
  void SetUp() override {
    idle_ = Duration::zero();  // every look finds the stream idle
    TraceServiceTest::SetUp();
  }
};

TEST_F(IdleTraceServiceTest, ASilentStreamIsEndedAndCanBeResumed) {
  const std::string upload = BeginOk("0123456789");
  ClientContext context;
  v1::WriteUploadResponse response;
  auto writer = stub_->WriteUpload(&context, &response);
  EXPECT_EQ(writer->Finish().error_code(), StatusCode::CANCELLED);
  EXPECT_TRUE(WriteChunks({Chunk(upload, 0, "0123456789", true)}).ok());
}

}  // namespace
}  // namespace sm89
