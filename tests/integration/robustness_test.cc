// Bad neighbours: slow watchers, taken ports, second daemons, garbage, broken inputs.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "client/checksum.h"
#include "tests/integration/service_test.h"
#include "tests/support/expect_file.h"

namespace sm89::testing {
namespace {

using ::testing::HasSubstr;

// A socket of ours on the loopback interface.
class Socket {
 public:
  Socket() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // Listens on a port that the system chooses; its number.
  int Listen() {
    sockaddr_in where = Loopback(0);
    if (bind(fd_, reinterpret_cast<sockaddr*>(&where), sizeof(where)) != 0 || listen(fd_, 1) != 0) return 0;
    socklen_t size = sizeof(where);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&where), &size);
    return ntohs(where.sin_port);
  }
  bool Connect(const std::string& address) {
    sockaddr_in where = Loopback(std::stoi(address.substr(address.rfind(':') + 1)));
    return connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof(where)) == 0;
  }
  void Send(const std::string& bytes) { send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

 private:
  static sockaddr_in Loopback(int port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(static_cast<uint16_t>(port));
    return where;
  }
  int fd_;
};

class RobustnessTest : public ServiceTest {};

TEST_F(RobustnessTest, ASlowWatcherHoldsNothingUp) {
  DaemonFixture daemon;
  ASSERT_TRUE(daemon.Start());
  const auto client = Connect(daemon);
  const auto trace = UploadFolder(*client, MakeTrace(daemon, "trace", 100));
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto job = Submit(*client, trace->name(), client::NewUuid());
  ASSERT_TRUE(job.ok()) << job.status();
  // Takes the first update, then nothing more until the job has ended.
  v1::WatchJobRequest watch;
  watch.set_name(job->name());
  watch.set_min_interval_ms(1);
  const auto other = Connect(daemon);
  v1::Job::State last = v1::Job::STATE_UNSPECIFIED;
  const absl::Status status = client->ReadWatch(watch, [&](const v1::JobUpdate& update) {
    if (last == v1::Job::STATE_UNSPECIFIED) WaitForState(*other, job->name(), v1::Job::SUCCEEDED);
    if (update.has_job()) last = update.job().state();
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(last, v1::Job::SUCCEEDED) << daemon.log();
}

TEST_F(RobustnessTest, ATakenPortIsAClearRefusal) {
  Socket taken;
  const int port = taken.Listen();
  ASSERT_NE(port, 0);
  for (const std::string& flag : {std::string("--listen-address="), std::string("--metrics-address=")}) {
    DaemonOptions options;
    options.flags = {flag + "127.0.0.1:" + std::to_string(port)};
    DaemonFixture daemon(options);
    daemon.Launch();
    ASSERT_TRUE(daemon.process().WaitEnded(60)) << daemon.log();
    EXPECT_EQ(daemon.process().exit_code(), 1) << daemon.log();
    EXPECT_THAT(daemon.log(), HasSubstr(std::to_string(port)));
  }
}

TEST_F(RobustnessTest, ASecondDaemonOnTheSameDataIsRefused) {
  DaemonFixture first;
  ASSERT_TRUE(first.Start());
  DaemonOptions options;
  options.data_dir = first.data_dir();
  {
    // Launch() would remove the first one's ready.json; the program alone is enough here.
    const ProgramResult second =
        RunProgram({DaemonFixture::Program("sm89d"), "--data-dir=" + first.data_dir(),
                    "--listen-address=127.0.0.1:0", "--metrics-address=127.0.0.1:0"},
                   first.File(""), {}, 60);
    EXPECT_EQ(second.exit_code, 1) << second.err;
    EXPECT_THAT(second.err, HasSubstr(first.data_dir()));
  }
  EXPECT_EQ(first.Cli({"pool"}).exit_code, 0);
}

TEST_F(RobustnessTest, GarbageOnThePortsIsSurvived) {
  DaemonFixture daemon;
  ASSERT_TRUE(daemon.Start());
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::vector<std::string> garbage = {
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n", std::string(100'000, '\xff'), preface,
      preface + std::string("\x00\xff\xff\x01\x04\x00\x00\x00\x01", 9), std::string(1, '\0')};
  for (const std::string& bytes : garbage) {
    for (const std::string& address : {daemon.address(), daemon.metrics_address()}) {
      Socket socket;
      ASSERT_TRUE(socket.Connect(address)) << daemon.log();
      socket.Send(bytes);
    }
    EXPECT_EQ(daemon.Cli({"pool"}).exit_code, 0) << daemon.log();
  }
}

TEST_F(RobustnessTest, AWorkerThatCrashesCostsItsJobOnly) {
  DaemonOptions options;
  options.environment = {{"SM89_WORKER_FAULT", "crash@2000"}};
  options.flags = {"--max-attempts=2"};
  DaemonFixture daemon(options);
  ASSERT_TRUE(daemon.Start());
  const ProgramResult run = daemon.Cli({"submit", "--trace", MakeTrace(daemon, "trace", 1), "--wait"}, 240);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err << daemon.log();
  EXPECT_THAT(run.out, HasSubstr("FAILED"));
  EXPECT_EQ(daemon.Cli({"pool"}).exit_code, 0);
}

// Every trace case and every configuration case that is one file, through the client.
class CaseTest : public ServiceTest {
 protected:
  static std::filesystem::path Cases() {
    return std::filesystem::path(SM89_SOURCE_DIR) / ".." / "shared" / "cases";
  }

  void SetUp() override {
    ServiceTest::SetUp();
    if (IsSkipped()) return;
    if (!std::filesystem::exists(Cases())) GTEST_SKIP() << "there is no ../shared/cases";
    ASSERT_TRUE(daemon_.Start());
  }

  DaemonFixture daemon_;
};

TEST_F(CaseTest, TracesAreRefusedOrTakenAsExpected) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Cases())) {
    if (!std::filesystem::exists(entry.path() / "kernelslist.g")) continue;
    SCOPED_TRACE(entry.path().filename());
    const auto facts = ReadExpect((entry.path() / "expect.txt").string());
    const ProgramResult run = daemon_.Cli({"upload", entry.path().string()});
    const std::string verdict = facts.count("verdict") > 0 ? facts.at("verdict") : "";
    ++seen;
    if (verdict != "reject") {
      // A case may be refused by the simulator later; the upload then succeeds, too.
      EXPECT_EQ(run.exit_code, 0) << run.err;
      continue;
    }
    if (run.exit_code == 0) continue;  // refused at run time: the shared memory that no SM has
    EXPECT_EQ(run.exit_code, 2) << run.err;
    if (facts.count("file") > 0) {
      EXPECT_THAT(run.err, HasSubstr(facts.at("file")));
    }
    if (facts.count("line") > 0) {
      EXPECT_THAT(run.err, HasSubstr(":" + facts.at("line")));
    }
  }
  EXPECT_GE(seen, 25);
  EXPECT_EQ(daemon_.Cli({"pool"}).exit_code, 0) << daemon_.log();
}

TEST_F(CaseTest, ConfigurationsAreRefusedWithTheirLines) {
  for (const char* name : {"40-cfg-unknown-option", "44-cfg-non-numeric"}) {
    SCOPED_TRACE(name);
    const auto facts = ReadExpect((Cases() / name / "expect.txt").string());
    const ProgramResult run =
        daemon_.Cli({"configs", "validate", (Cases() / name / facts.at("file")).string()});
    EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
    std::istringstream lines(facts.at("lines"));
    for (std::string line; std::getline(lines, line, ',');) {
      EXPECT_THAT(run.out, HasSubstr("gpu.config:" + line + ":"));
    }
  }
}

}  // namespace
}  // namespace sm89::testing
