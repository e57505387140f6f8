#include "client/error.h"

#include <gtest/gtest.h>

#include "sm89/v1/rpc_status.pb.h"

namespace sm89::client {
namespace {

v1::Fault SomeFault() {
  v1::Fault fault;
  fault.set_file("kernel-1.traceg");
  fault.set_line(27);
  fault.set_field("opcode");
  fault.set_value("QFROB");
  fault.set_expected("an SM 89 opcode");
  fault.set_message("unknown opcode");
  return fault;
}

TEST(ErrorTest, DecodesTheDetailOfAnRpc) {
  v1::ErrorDetail detail;
  detail.set_reason("TRACE_MALFORMED");
  *detail.add_faults() = SomeFault();
  v1::RpcStatus rpc;
  rpc.set_code(3);
  rpc.add_details()->PackFrom(detail);
  const absl::Status status = DecodeStatus(3, "bad trace", rpc.SerializeAsString());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "bad trace");
  ASSERT_TRUE(DetailOf(status).has_value());
  EXPECT_EQ(DetailOf(status)->reason(), "TRACE_MALFORMED");
  ASSERT_EQ(DetailOf(status)->faults_size(), 1);
  EXPECT_EQ(DetailOf(status)->faults(0).line(), 27u);
}

TEST(ErrorTest, GarbageDetailsLeaveCodeAndMessage) {
  const absl::Status status = DecodeStatus(14, "gone", "\xff\xff\xff not a message");
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(), "gone");
  EXPECT_FALSE(DetailOf(status).has_value());
}

TEST(ErrorTest, OkStaysOk) { EXPECT_TRUE(DecodeStatus(0, "", "").ok()); }

TEST(ErrorTest, FormatsAFaultWithWhatItHas) {
  EXPECT_EQ(FormatFault(SomeFault()),
            "kernel-1.traceg:27: unknown opcode (opcode = 'QFROB', expected an SM 89 opcode)");
  v1::Fault bare;
  bare.set_message("is empty");
  EXPECT_EQ(FormatFault(bare), "is empty");
  bare.set_file("a.g");
  EXPECT_EQ(FormatFault(bare), "a.g: is empty");
  bare.set_value("x");
  EXPECT_EQ(FormatFault(bare), "a.g: is empty ('x')");
}

TEST(ErrorTest, CodeNamesGoBothWays) {
  for (int code = 0; code <= 16; ++code) {
    const auto typed = static_cast<absl::StatusCode>(code);
    EXPECT_EQ(CodeFromName(CodeName(typed)), typed);
  }
  EXPECT_EQ(CodeFromName("NO_SUCH"), absl::StatusCode::kUnknown);
}

TEST(ErrorTest, RetryAfterComesFromTheDetail) {
  v1::ErrorDetail detail;
  detail.set_retry_after_seconds(7);
  EXPECT_EQ(RetryAfterSeconds(WithDetail(absl::UnavailableError("busy"), detail)), 7u);
  EXPECT_EQ(RetryAfterSeconds(absl::UnavailableError("busy")), 0u);
}

}  // namespace
}  // namespace sm89::client
