// A trace manager on a temporary folder, with a fake reader process and a clock that the test moves.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/os/mutex.h"
#include "server/traces/trace_manager.h"
#include "sim/base/digest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_process.h"
#include "tests/support/faulty_file_store.h"
#include "tests/support/temp_dir.h"

namespace sm89::testing {

inline uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// The value behind "--name" in a child's arguments.
inline std::string ArgOf(const ProcessSpec& spec, const std::string& name) {
  const auto it = std::find(spec.args.begin(), spec.args.end(), name);
  return it != spec.args.end() && it + 1 != spec.args.end() ? *(it + 1) : std::string();
}

inline void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
}

constexpr char kGoodResult[] =
    R"({"ok":true,"digest":"abc","file_bytes":7,"kernels":2,"warp_instructions":30,)"
    R"("thread_instructions":900,"memcpy_h2d_bytes":64,"marks":["m"],"warnings":["w1","w2"]})";

// A reader that likes everything.
inline std::optional<ProcessExit> GoodReader(const ProcessSpec& spec) {
  WriteFile(ArgOf(spec, "--output"), "compact");
  WriteFile(ArgOf(spec, "--result"), kGoodResult);
  return ProcessExit{};
}

class CountingObserver final : public TraceObserver {
 public:
  void UploadStarted() override { ++Get("started"); }
  void UploadDeduplicated() override { ++Get("deduplicated"); }
  void BytesReceived(uint64_t bytes) override { Get("bytes") += bytes; }
  void UploadStored() override { ++Get("stored"); }
  void UploadFailed(UploadFailureKind kind) override {
    ++Get("failed" + std::to_string(static_cast<int>(kind)));
  }
  void TraceRefused(const absl::Status&) override { ++Get("refused"); }
  uint64_t operator[](const std::string& name) {
    MutexLock lock(mutex_);
    return counts_[name];
  }
  uint64_t failed(UploadFailureKind kind) {
    return (*this)["failed" + std::to_string(static_cast<int>(kind))];
  }

 private:
  // The reference is used before any other call can come: the tests drive one upload at a time.
  uint64_t& Get(const std::string& name) {
    MutexLock lock(mutex_);
    return counts_[name];
  }
  Mutex mutex_;
  std::map<std::string, uint64_t> counts_;
};

class TraceFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    processes_.SetBehaviour(GoodReader);
    options_.limits = ServerConfig().uploads;
    options_.limits.max_chunk_bytes = 1024;
    options_.limits.max_upload_bytes = 1 << 20;
    options_.limits.min_free_bytes = 0;
    options_.limits.expiry_seconds = 100;
    options_.uploads_dir = dir_.File("uploads");
    options_.scratch_dir = dir_.File("scratch");
    options_.worker_program = "/fake/sm89-worker";
    options_.sweep_interval = Duration::zero();
    Start();
  }
  void TearDown() override { Stop(); }

  void Start() {
    auto db = Database::Open({dir_.File("db")});
    ASSERT_TRUE(db.ok()) << db.status();
    db_ = *std::move(db);
    auto blobs = BlobStore::Open(files_, SystemIdSource(), *db_, dir_.File("blobs"));
    ASSERT_TRUE(blobs.ok()) << blobs.status();
    blobs_ = *std::move(blobs);
    auto manager = TraceManager::Create(
        {&files_, &clock_, &SystemIdSource(), &processes_, db_.get(), blobs_.get(), &observer_}, options_);
    ASSERT_TRUE(manager.ok()) << manager.status();
    manager_ = *std::move(manager);
  }
  void Stop() {
    manager_.reset();
    blobs_.reset();
    db_.reset();
  }
  void Restart() {
    Stop();
    Start();
  }

  static BeginUpload Request(const std::string& bytes, const std::string& name = "t.tar.xz") {
    BeginUpload request;
    request.display_name = name;
    request.size_bytes = bytes.size();
    request.sha256 = Sha256Hex(bytes);
    return request;
  }
  std::string Begin(const BeginUpload& request) {
    auto answer = manager_->Begin(request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok()) return "";
    EXPECT_FALSE(answer->existing.has_value());
    return answer->upload_id;
  }
  absl::Status Write(const std::string& id, uint64_t offset, const std::string& bytes) {
    auto stream = manager_->OpenStream(id);
    if (!stream.ok()) return stream.status();
    const absl::Status written = (*stream)->Write(offset, bytes, Crc(bytes));
    if (!written.ok()) return written;
    return (*stream)->Finish().status();
  }
  absl::StatusOr<TraceRecord> Finalize(const std::string& id) {
    // Shared: a callback that was never called must not outlive its promise.
    auto promise = std::make_shared<std::promise<absl::StatusOr<TraceRecord>>>();
    auto future = promise->get_future();
    manager_->Finalize(
        id, [promise](absl::StatusOr<TraceRecord> result) { promise->set_value(std::move(result)); });
    return future.get();
  }
  // A whole upload.
  absl::StatusOr<TraceRecord> Upload(const std::string& bytes, const std::string& name = "t.tar.xz") {
    const std::string id = Begin(Request(bytes, name));
    const absl::Status written = Write(id, 0, bytes);
    if (!written.ok()) return written;
    return Finalize(id);
  }
  size_t FilesUnder(const std::string& folder) { return files_.List(dir_.File(folder))->size(); }

  TempDir dir_;
  FaultyFileStore files_{PosixFileStore()};
  FakeClock clock_;
  FakeProcessLauncher processes_;
  CountingObserver observer_;
  TraceManagerOptions options_;
  std::unique_ptr<Database> db_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<TraceManager> manager_;
};

}  // namespace sm89::testing
