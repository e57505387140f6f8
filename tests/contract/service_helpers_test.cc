// The pieces that every service uses: error details, page tokens, request checks.
#include <gtest/gtest.h>

#include <string>

#include "server/os/file_store.h"
#include "server/os/id_source.h"
#include "server/service/paging.h"
#include "server/service/status_conversion.h"
#include "server/service/validation.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

TEST(StatusConversion, FaultsSurviveTheRoundTrip) {
  Fault fault;
  fault.file = "a.config";
  fault.line = 12;
  fault.field = "-x";
  fault.value = "7";
  fault.expected = "1..5";
  fault.message = "out of range";
  fault.facts = {{"max", "5"}, {"min", "1"}};
  const absl::Status status = InputError(absl::StatusCode::kInvalidArgument, fault);
  const grpc::Status wire = ToGrpc(status, "CONFIG");
  EXPECT_EQ(wire.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const absl::Status back = FromGrpc(wire);
  EXPECT_EQ(back.message(), status.message());
  ASSERT_EQ(FaultsOf(back).size(), 1u);
  EXPECT_EQ(FormatFault(FaultsOf(back)[0]), FormatFault(fault));
  EXPECT_EQ(FaultsOf(back)[0].facts, fault.facts);
}

TEST(StatusConversion, OkHasNothingAndForeignErrorsKeepCodeAndText) {
  EXPECT_TRUE(ToGrpc(absl::OkStatus(), "X").ok());
  EXPECT_TRUE(FromGrpc(grpc::Status::OK).ok());
  const absl::Status back = FromGrpc(grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone", "\xFF garbage"));
  EXPECT_EQ(back, absl::UnavailableError("gone"));
}

TEST(StatusConversion, TellsWhenARetryIsWorthIt) {
  EXPECT_GT(ToErrorDetail(absl::UnavailableError(""), "X").retry_after_seconds(), 0u);
  EXPECT_EQ(ToErrorDetail(absl::NotFoundError(""), "X").retry_after_seconds(), 0u);
  EXPECT_EQ(ToErrorDetail(absl::NotFoundError(""), "JOB").reason(), "JOB_NOT_FOUND");
  EXPECT_EQ(ToErrorDetail(WithSubject(absl::NotFoundError(""), "CONFIG"), "JOB").reason(),
            "CONFIG_NOT_FOUND");
  EXPECT_TRUE(WithSubject(absl::OkStatus(), "CONFIG").ok());
}

TEST(CleanText, GivesUtf8OfBoundedLength) {
  EXPECT_EQ(CleanText("plain", 10), "plain");
  EXPECT_EQ(CleanText("caf\xC3\xA9", 10), "caf\xC3\xA9");
  EXPECT_EQ(CleanText("caf\xFF", 10), "caf?");
  EXPECT_EQ(CleanText("0123456789", 6), "012...");
  for (size_t max = 0; max < 12; ++max) {
    const std::string cut = CleanText("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC", max);
    EXPECT_LE(cut.size(), std::max<size_t>(max, 3));
    EXPECT_TRUE(IsValidUtf8(cut)) << max;
  }
}

TEST(Paging, TokensBelongToTheirListing) {
  EXPECT_EQ(MakePageToken("a", 0), "");
  EXPECT_EQ(*ReadPageToken("a", ""), 0);
  const std::string token = MakePageToken("a", 42);
  EXPECT_EQ(*ReadPageToken("a", token), 42);
  EXPECT_FALSE(ReadPageToken("b", token).ok());
  for (size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    const auto position = ReadPageToken("a", changed);
    // The last character may hold unused bits.
    EXPECT_TRUE(!position.ok() || *position == 42) << i;
  }
  EXPECT_FALSE(ReadPageToken("a", std::string(10'000, 'A')).ok());
}

TEST(Validation, Names) {
  EXPECT_EQ(*ParseName("name", "traces/abcdefghabcdefgh", "traces", IsId), "abcdefghabcdefgh");
  for (const char* name :
       {"", "traces/", "traces/x", "jobs/abcdefghabcdefgh", "traces/abcdefghabcdefgh/", "/traces/x"}) {
    const absl::Status status = ParseName("name", name, "traces", IsId).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(FaultsOf(status).at(0).field, "name");
  }
}

TEST(Validation, RequestIdsTextsPageSizesMasks) {
  EXPECT_TRUE(CheckRequestId("").ok());
  EXPECT_TRUE(CheckRequestId("123E4567-e89b-42d3-a456-426614174000").ok());
  for (const char* id : {"x", "123e4567e89b42d3a456426614174000", "123e4567-e89b-42d3-a456-42661417400g"}) {
    EXPECT_FALSE(CheckRequestId(id).ok()) << id;
  }
  EXPECT_TRUE(CheckText("f", "two\nlines", 20).ok());
  EXPECT_FALSE(CheckText("f", "esc\x1B[0m", 20).ok());
  EXPECT_FALSE(CheckText("f", "\xFF", 20).ok());
  EXPECT_FALSE(CheckText("f", "long", 3).ok());
  EXPECT_EQ(*CheckPageSize(0, 50, 1000), 50u);
  EXPECT_EQ(*CheckPageSize(7, 50, 1000), 7u);
  EXPECT_EQ(*CheckPageSize(100'000, 50, 1000), 1000u);
  EXPECT_FALSE(CheckPageSize(-1, 50, 1000).ok());
  google::protobuf::RepeatedPtrField<std::string> paths;
  EXPECT_FALSE(CheckFieldMask(paths, {"a"}).ok());
  *paths.Add() = "a";
  EXPECT_TRUE(CheckFieldMask(paths, {"a", "b"}).ok());
  *paths.Add() = "c";
  EXPECT_FALSE(CheckFieldMask(paths, {"a", "b"}).ok());
}

}  // namespace
}  // namespace sm89
