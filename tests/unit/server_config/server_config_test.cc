#include "server/config/server_config.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "sim/base/fault.h"

namespace sm89 {
namespace {

TEST(ServerConfig, DefaultsAreThoseOfTheTable) {
  const auto config = ParseServerConfig("sm89d.conf", "", {});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->listen.address, "127.0.0.1:8989");
  EXPECT_EQ(config->listen.metrics_address, "127.0.0.1:9089");
  EXPECT_EQ(config->uploads.max_chunk_bytes, uint64_t{1} << 20);
  EXPECT_EQ(config->jobs.default_wall_seconds, 86400u);
  EXPECT_EQ(config->UnixSocketPath(), "/var/lib/sm89/sm89.sock");
}

TEST(ServerConfig, FlagsOverrideTheFile) {
  const std::vector<ServerSettingValue> flags = {{"max-queued-jobs", "7"}, {"log_level", "debug"}};
  const auto config = ParseServerConfig(
      "f", "# a comment\nmax_queued_jobs = 5\n  workers=3  # tail\n\nmin_free_bytes = 2 GiB", flags);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->jobs.max_queued, 7u);
  EXPECT_EQ(config->pool.workers, 3u);
  EXPECT_EQ(config->uploads.min_free_bytes, uint64_t{2} << 30);
  EXPECT_EQ(config->log.level, "debug");
}

TEST(ServerConfig, ReportsAllFaultsWithTheirLines) {
  const std::vector<ServerSettingValue> flags = {{"nonsense", "1"}};
  const auto config = ParseServerConfig(
      "f", "wrokers = 3\nworkers = many\nworkers = 4\njust text\nmax_chunk_bytes = 2MiB\nlog_format = xml",
      flags);
  ASSERT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  const std::vector<Fault> faults = FaultsOf(config.status());
  ASSERT_EQ(faults.size(), 7u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(faults[i].line, i + 1);
    EXPECT_EQ(faults[i].file, "f");
  }
  EXPECT_EQ(faults[0].field, "wrokers");
  EXPECT_EQ(faults[1].value, "many");
  EXPECT_EQ(faults[6].field, "nonsense");
}

TEST(ServerConfig, UnitsDoNotMixAndNothingWraps) {
  for (const char* line : {"max_upload_bytes = 3h", "default_wall_seconds = 1MiB", "workers = 1KiB",
                           "max_upload_bytes = 99999999999TiB", "max_upload_bytes = -1", "workers = 1e3",
                           "max_upload_bytes = 18446744073709551617", "data_dir = a\tb", "workers ="}) {
    EXPECT_FALSE(ParseServerConfig("f", line, {}).ok()) << line;
  }
  EXPECT_EQ(ParseServerConfig("f", "lease_ms = 9s", {})->pool.lease_ms, 9000u);
}

TEST(ServerConfig, RefusesContradictions) {
  for (const char* text : {"max_wall_seconds = 10", "max_memory_bytes = 128MiB", "lease_ms = 1000",
                           "data_dir =", "max_cycles = 10\ndefault_cycles = 20"}) {
    EXPECT_FALSE(ParseServerConfig("f", text, {}).ok()) << text;
  }
}

TEST(ServerConfig, AddressesAreHostAndPort) {
  for (const char* address : {"foo", "foo:", ":80", "127.0.0.1:65536", "127.0.0.1:80x", "8989"}) {
    for (const char* name : {"listen_address", "metrics_address"}) {
      const std::vector<ServerSettingValue> flags = {{name, address}};
      const auto config = ParseServerConfig("f", "", flags);
      ASSERT_FALSE(config.ok()) << address;
      const std::string message(config.status().message());
      EXPECT_NE(message.find("expected host:port, such as 127.0.0.1:8989"), std::string::npos) << message;
    }
  }
  for (const char* address : {"localhost:0", "[::1]:65535", "0.0.0.0:80", ""}) {
    const std::vector<ServerSettingValue> flags = {{"listen_address", address}};
    const auto config = ParseServerConfig("f", "", flags);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->listen.address, address);
  }
}

TEST(ServerConfig, ADumpReadsBackTheSame) {
  const auto config =
      ParseServerConfig("f", "max_queued_jobs = 5\ndata_dir = /tmp/x\nmax_upload_bytes = 3GiB", {});
  ASSERT_TRUE(config.ok());
  const auto again = ParseServerConfig("dump", DumpServerConfig(*config), {});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(DumpServerConfig(*again), DumpServerConfig(*config));
}

TEST(ServerConfig, EverySettingIsNamedOnceAndExplained) {
  std::set<std::string_view> names;
  const std::string help = ServerConfigHelp();
  for (const ServerSettingInfo& info : ServerSettings()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.help.empty()) << info.name;
    EXPECT_NE(help.find(info.name), std::string::npos);
  }
  // Each row must be bound to a member of its own: setting one changes exactly one line of the dump.
  const std::string base = DumpServerConfig(ServerConfig());
  for (const ServerSettingInfo& info : ServerSettings()) {
    const bool address = info.type == ServerSettingType::kAddress;
    if (info.type != ServerSettingType::kString && !address) continue;
    const std::string changed = address ? "changed:1" : "/changed";
    const std::vector<ServerSettingValue> flags = {{std::string(info.name), changed}};
    const auto config = ParseServerConfig("f", "", flags);
    ASSERT_TRUE(config.ok());
    const std::string dump = DumpServerConfig(*config);
    EXPECT_NE(dump.find(std::string(info.name) + " = " + changed), std::string::npos);
    EXPECT_EQ(dump.find(changed), dump.rfind(changed));
  }
}

TEST(ServerConfig, LimitsAreShown) {
  bool found = false;
  for (const auto& [name, value] : ServerLimits(ServerConfig())) {
    found = found || (name == "max_chunk_bytes" && value == "1048576");
    EXPECT_NE(name, "data_dir");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace sm89
