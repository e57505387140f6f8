#include "server/metrics/endpoint.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "sim/base/fault.h"

namespace sm89 {
namespace {

// GET `path` of 127.0.0.1:port; the whole response.
std::string Get(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string response;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    char buffer[4096];
    for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;) response.append(buffer, n);
  }
  close(fd);
  return response;
}

TEST(MetricsEndpoint, ServesMetricsOnAFreePort) {
  Metrics metrics({.version = "1.2.3"});
  const auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", metrics);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  ASSERT_GT((*endpoint)->port(), 0);
  EXPECT_EQ((*endpoint)->address(), "127.0.0.1:" + std::to_string((*endpoint)->port()));
  metrics.jobs().Submitted();
  const std::string response = Get((*endpoint)->port(), "/metrics");
  EXPECT_NE(response.find("200 OK"), std::string::npos) << response;
  EXPECT_NE(response.find("\nsm89_jobs_submitted_total 1\n"), std::string::npos) << response;
  EXPECT_NE(Get((*endpoint)->port(), "/").find("404"), std::string::npos);
}

TEST(MetricsEndpoint, TakenPortIsAnErrorThatNamesTheAddress) {
  Metrics metrics({.version = "1"});
  const auto first = MetricsEndpoint::Start("127.0.0.1:0", metrics);
  ASSERT_TRUE(first.ok());
  const std::string address = (*first)->address();
  const auto second = MetricsEndpoint::Start(address, metrics);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(second.status().message().find(address), absl::string_view::npos) << second.status();
}

TEST(MetricsEndpoint, OutlivesTheMetricsHandle) {
  auto metrics = std::make_unique<Metrics>(MetricsSetup{.version = "1"});
  const auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", *metrics);
  ASSERT_TRUE(endpoint.ok());
  metrics.reset();
  EXPECT_NE(Get((*endpoint)->port(), "/metrics").find("sm89_build_info"), std::string::npos);
}

class BadAddress : public ::testing::TestWithParam<const char*> {};

TEST_P(BadAddress, IsRefusedWithTheFieldNamed) {
  Metrics metrics({.version = "1"});
  const auto endpoint = MetricsEndpoint::Start(GetParam(), metrics);
  ASSERT_FALSE(endpoint.ok());
  ASSERT_EQ(endpoint.status().code(), absl::StatusCode::kInvalidArgument) << endpoint.status();
  ASSERT_EQ(FaultsOf(endpoint.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(endpoint.status())[0].field, "metrics_address");
}

INSTANTIATE_TEST_SUITE_P(Addresses, BadAddress,
                         ::testing::Values("", ":9489", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                                           "127.0.0.1:80s", "127.0.0.1:80,127.0.0.1:81", "localhost:9489",
                                           "127.0.0.1:-1", "+8080"));

}  // namespace
}  // namespace sm89
