// What the integration tests share: a daemon, clients of it, and traces of a chosen length.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "client/client.h"
#include "client/trace_pack.h"
#include "client/uploader.h"
#include "client/watcher.h"
#include "tests/support/daemon_fixture.h"

namespace sm89::testing {

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!DaemonFixture::Available())
      GTEST_SKIP() << "sm89d, sm89-worker and sm89 are not built in " << SM89_BIN_DIR;
    if (!std::filesystem::exists(Example() / "kernelslist.g")) GTEST_SKIP() << "there is no deploy/example";
  }

  static std::filesystem::path Example() {
    return std::filesystem::path(SM89_SOURCE_DIR) / "deploy" / "example";
  }

  // A trace of `repeats` launches of one small kernel of the bundled example (about 5,800 cycles each; some
  // 30 ms each under SM89_WORKER_FAULT=slow@0). `marker` makes traces of equal length different ones.
  static std::string MakeTrace(const DaemonFixture& daemon, const std::string& name, int repeats,
                               int marker = 0) {
    const std::filesystem::path folder = daemon.File(name);
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(Example() / "kernel-5.traceg.xz", folder / "kernel-5.traceg.xz",
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream list(folder / "kernelslist.g");
    list << "MemcpyHtoD,0x00007f0000000000," << 4096 + 32 * marker << "\n";
    for (int i = 0; i < repeats; ++i) list << "kernel-5.traceg.xz\n";
    return folder.string();
  }

  // Patient: daemons go away and come back in these tests.
  static std::unique_ptr<client::Client> Connect(const DaemonFixture& daemon, double patience_seconds = 90) {
    client::ClientOptions options;
    options.address = daemon.address();
    options.retry_seconds = patience_seconds;
    options.reconnect_seconds = patience_seconds;
    return client::Client::Create(options).value();
  }

  static absl::StatusOr<v1::Trace> UploadFolder(client::Client& client, const std::string& folder) {
    const auto go_on = [](uint64_t, uint64_t) { return true; };
    const auto packed = client::PackTrace(folder, client::PackLimits(), go_on);
    if (!packed.ok()) return packed.status();
    const auto outcome = client::Upload(client, *packed, client::UploadSettings());
    if (!outcome.ok()) return outcome.status();
    return outcome->trace;
  }

  static absl::StatusOr<v1::Job> Submit(client::Client& client, const std::string& trace,
                                        const std::string& request_id, bool no_cache = true) {
    v1::SubmitJobRequest request;
    request.mutable_job()->set_trace(trace);
    request.mutable_job()->set_config("configs/RTX4090");
    request.mutable_job()->set_no_result_cache(no_cache);
    request.set_request_id(request_id);
    return client.SubmitJob(request);
  }

  static absl::StatusOr<v1::Job> Get(client::Client& client, const std::string& name) {
    v1::GetJobRequest request;
    request.set_name(name);
    return client.GetJob(request);
  }

  // Polls until the job is in `state` or has ended.
  static v1::Job WaitForState(client::Client& client, const std::string& name, v1::Job::State state,
                              double seconds = 60) {
    v1::Job job;
    WaitUntil(seconds, [&] {
      const auto now = Get(client, name);
      if (now.ok()) job = *now;
      return job.state() == state || client::IsTerminal(job.state());
    });
    return job;
  }
};

}  // namespace sm89::testing
