#include "server/log/log.h"

#include <grpc/support/log.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "server/log/grpc_log.h"

namespace sm89 {
namespace {

constexpr std::string_view kTime = "2026-01-31T08:15:02.123456Z";

class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/sm89_log_test.XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::vector<std::string> ReadLines(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Puts logging back to its defaults.
struct RestoreLogging {
  ~RestoreLogging() { EXPECT_TRUE(InitLogging({}).ok()); }
};

TEST(LogFormat, TextLineHasTimeLevelEventAndFields) {
  const std::string id = "j-17";
  EXPECT_EQ(FormatLogLine(false, kTime, LogLevel::kInfo, "job_started",
                          {{"job_id", id}, {"attempt", 2}, {"cached", false}, {"seconds", 0.5}}),
            "2026-01-31T08:15:02.123456Z info  job_started job_id=j-17 attempt=2 cached=false seconds=0.5");
}

TEST(LogFormat, ValueCannotForgeALineOrAField) {
  const std::string line =
      FormatLogLine(false, kTime, LogLevel::kWarn, "upload_failed",
                    {{"error", "x\n2026 error job_lost job_id=1"}, {"name", "\x1b[2J\xff"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_NE(line.find(R"(error="x\n2026 error job_lost job_id=1")"), std::string::npos) << line;
}

TEST(LogFormat, EmptyValueAndValueWithEqualsAreQuoted) {
  EXPECT_EQ(FormatLogLine(false, kTime, LogLevel::kError, "e", {{"a", ""}, {"b", "k=v"}}),
            "2026-01-31T08:15:02.123456Z error e a=\"\" b=\"k=v\"");
}

TEST(LogFormat, JsonLineParsesAndKeepsTypes) {
  const auto json = nlohmann::json::parse(
      FormatLogLine(true, kTime, LogLevel::kDebug, "x",
                    {{"text", "a\"b\n\xff"}, {"big", ~uint64_t{0}}, {"neg", -1}, {"nan", std::nan("")}}));
  EXPECT_EQ(json["level"], "debug");
  EXPECT_EQ(json["event"], "x");
  EXPECT_EQ(json["big"], ~uint64_t{0});
  EXPECT_EQ(json["neg"], -1);
  EXPECT_EQ(json["nan"], "nan");
  EXPECT_EQ(json["text"].get<std::string>().substr(0, 4), "a\"b\n");
}

TEST(LogFormat, LongValuesAreCut) {
  const std::string huge(1 << 20, 'a');
  const std::string line = FormatLogLine(false, kTime, LogLevel::kInfo, "x", {{"v", huge}});
  EXPECT_LT(line.size(), 5000u);
  EXPECT_NE(line.find("...(cut)"), std::string::npos);
}

TEST(Log, FormatCharactersAreTextAndLevelFilters) {
  const TempFolder folder;
  const RestoreLogging restore;
  LogOptions options;
  options.to_stderr = false;
  options.file = folder.File("log");
  ASSERT_TRUE(InitLogging(options).ok());
  Log(LogLevel::kInfo, "seen", {{"text", "{} {:n} %s %n"}});
  Log(LogLevel::kDebug, "not_seen");
  const auto lines = ReadLines(options.file);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find(R"(seen text="{} {:n} %s %n")"), std::string::npos) << lines[0];
}

TEST(Log, LinesOfManyThreadsStayWhole) {
  const TempFolder folder;
  const RestoreLogging restore;
  LogOptions options;
  options.to_stderr = false;
  options.json = true;
  options.file = folder.File("log");
  ASSERT_TRUE(InitLogging(options).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) Log(LogLevel::kInfo, "tick", {{"thread", t}, {"i", i}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto lines = ReadLines(options.file);
  ASSERT_EQ(lines.size(), 800u);
  for (const std::string& line : lines) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
}

TEST(Log, FileIsRotatedWithinItsBound) {
  const TempFolder folder;
  const RestoreLogging restore;
  LogOptions options;
  options.to_stderr = false;
  options.file = folder.File("log");
  options.file_bytes_max = 2000;
  options.files_kept = 2;
  ASSERT_TRUE(InitLogging(options).ok());
  for (int i = 0; i < 200; ++i) Log(LogLevel::kInfo, "tick", {{"i", i}});
  uint64_t bytes = 0, files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.File(""))) {
    bytes += entry.file_size();
    ++files;
  }
  EXPECT_EQ(files, 3u);
  EXPECT_LE(bytes, 6000u);
}

TEST(Log, UnopenableFileIsAnErrorAndKeepsTheOldOutputs) {
  const TempFolder folder;
  const RestoreLogging restore;
  LogOptions good;
  good.to_stderr = false;
  good.file = folder.File("log");
  ASSERT_TRUE(InitLogging(good).ok());
  LogOptions bad = good;
  bad.file = "/proc/none/log";
  const absl::Status status = InitLogging(bad);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("/proc/none/log"), absl::string_view::npos);
  Log(LogLevel::kInfo, "still_here");
  EXPECT_EQ(ReadLines(good.file).size(), 1u);
}

TEST(Log, GrpcErrorsBecomeWarnings) {
  const TempFolder folder;
  const RestoreLogging restore;
  LogOptions options;
  options.to_stderr = false;
  options.file = folder.File("log");
  ASSERT_TRUE(InitLogging(options).ok());
  RouteGrpcLogs();
  gpr_log(GPR_ERROR, "handshake of %s failed", "peer");
  gpr_log(GPR_INFO, "chatter");
  const auto lines = ReadLines(options.file);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("warn  grpc message=\"handshake of peer failed\" source=log_test.cc"),
            std::string::npos)
      << lines[0];
}

TEST(LogLevel, NamesRoundTrip) {
  LogLevel level = LogLevel::kInfo;
  for (const char* name : {"debug", "info", "warn", "error"}) {
    ASSERT_TRUE(ParseLogLevel(name, &level));
    EXPECT_EQ(Name(level), name);
  }
  EXPECT_FALSE(ParseLogLevel("INFO", &level));
}

}  // namespace
}  // namespace sm89
