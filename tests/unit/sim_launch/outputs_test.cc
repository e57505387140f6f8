#include "sim/launch/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/base/fault.h"

namespace sm89::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using Json = nlohmann::json;

template <typename T>
OutputSummary Summary(const std::string& name, DataType type, const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return Summarise({name, type, values.size()}, bytes);
}

std::vector<float> Ramp(size_t count) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

TEST(Summarise, FloatsHaveSumHeadAndSixtyFourSamples) {
  const OutputSummary s = Summary("x", DataType::kF32, Ramp(1000));
  EXPECT_EQ(std::get<double>(s.sum), 499500);
  EXPECT_THAT(s.head, SizeIs(16));
  EXPECT_EQ(std::get<double>(s.head[15]), 15);
  ASSERT_THAT(s.sample, SizeIs(64));
  EXPECT_EQ(std::get<double>(s.sample[63]), 63 * 15);  // 1000 / 64 = 15 apart
  EXPECT_THAT(Summary("x", DataType::kF32, Ramp(5)).sample, SizeIs(5));
}

TEST(Summarise, IntegersAddUpAsSixtyFourBits) {
  const OutputSummary s = Summary<uint32_t>("x", DataType::kU32, {0xffffffffu, 0xffffffffu});
  EXPECT_EQ(std::get<int64_t>(s.sum), 0x1fffffffe);
  EXPECT_THAT(s.sample, SizeIs(0));
  EXPECT_EQ(std::get<int64_t>(Summary<int8_t>("x", DataType::kI8, {-3, 1}).sum), -2);
  const OutputSummary wide = Summary<uint64_t>("x", DataType::kU64, {~0ull, ~0ull});
  EXPECT_EQ(std::get<int64_t>(wide.sum), -2);
  EXPECT_EQ(std::get<uint64_t>(wide.head[0]), ~0ull);
}

TEST(Summarise, HalvesAreWidened) {
  // 1.0, -2.0 and the smallest subnormal of f16; 1.0 and 3.0 in bf16.
  const OutputSummary half = Summary<uint16_t>("x", DataType::kF16, {0x3c00, 0xc000, 0x0001});
  EXPECT_EQ(std::get<double>(half.sum), -1.0 + 0x1p-24);
  EXPECT_EQ(std::get<double>(Summary<uint16_t>("x", DataType::kBf16, {0x3f80, 0x4040}).sum), 4);
}

TEST(Summarise, ClocksHaveLeastMostAndMedian) {
  const OutputSummary s = Summary<uint32_t>("clocks", DataType::kU32, {40, 10, 30, 20});
  ASSERT_TRUE(s.clocks.has_value());
  EXPECT_EQ(s.clocks->min, 10u);
  EXPECT_EQ(s.clocks->max, 40u);
  EXPECT_EQ(s.clocks->median, 25);
  EXPECT_EQ(Summary<uint32_t>("clocks", DataType::kU32, {3, 1, 2}).clocks->median, 2);
  EXPECT_FALSE(Summary<uint32_t>("ticks", DataType::kU32, {3, 1, 2}).clocks.has_value());
}

TEST(ResultsToJson, NamesCasesAndBuffersAndReadsBackAsAReference) {
  const std::vector<LaunchResult> results = {
      {"one",
       "k",
       {Summary("y", DataType::kF32, Ramp(3)), Summary<uint32_t>("clocks", DataType::kU32, {7})}}};
  const Json j = Json::parse(ResultsToJson(results));
  const Json& outputs = j.at("cases").at(0).at("outputs");
  EXPECT_EQ(j.at("cases").at(0).at("id"), "one");
  EXPECT_EQ(j.at("cases").at(0).at("kernel"), "k");
  EXPECT_EQ(outputs.at("y").at("sum"), 3.0);
  EXPECT_EQ(outputs.at("y").at("dtype"), "f32");
  EXPECT_EQ(outputs.at("y").at("sample"), Json({0.0, 1.0, 2.0}));
  EXPECT_EQ(outputs.at("clocks").at("max"), 7);
  const auto reference = ParseReference(j.dump(), "r.json");
  ASSERT_TRUE(reference.ok()) << reference.status();
  ASSERT_THAT(*reference, SizeIs(1));
  EXPECT_TRUE(CompareWithReference(results[0], Compare::kExact, (*reference)[0]).ok());
  EXPECT_TRUE(CompareWithReference(results[0], Compare::kApprox, (*reference)[0]).ok());
}

TEST(ResultsToJson, WhatJsonCannotSpellIsText) {
  const float inf = HUGE_VALF;
  const LaunchResult result = {"one", "k", {Summary<float>("y", DataType::kF32, {inf, -inf, std::nanf("")})}};
  const std::string text = ResultsToJson({result});
  EXPECT_EQ(Json::parse(text).at("cases").at(0).at("outputs").at("y").at("head"),
            Json({"inf", "-inf", "nan"}));
  const auto reference = ParseReference(text, "r.json");
  ASSERT_TRUE(reference.ok());
  EXPECT_TRUE(CompareWithReference(result, Compare::kApprox, (*reference)[0]).ok());
}

ReferenceCase Reference(const std::string& output) {
  const auto cases = ParseReference(R"({"one":{"regs":9,"outputs":{"y":)" + output + "}}}", "r.json");
  EXPECT_TRUE(cases.ok()) << cases.status();
  return cases->at(0);
}

TEST(CompareWithReference, ApproximateValuesMayDifferByAThousandth) {
  const LaunchResult result = {"one", "k", {Summary<float>("y", DataType::kF32, {1000.0f, 0.0f})}};
  EXPECT_TRUE(CompareWithReference(result, Compare::kApprox, Reference(R"({"head":[1000.9,9e-7]})")).ok());
  const absl::Status status = CompareWithReference(
      result, Compare::kApprox, Reference(R"({"sum":1003,"head":[1001.5,2e-6],"sample":[1000,0]})"));
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  std::vector<std::string> fields;
  for (const Fault& fault : FaultsOf(status)) fields.push_back(fault.field);
  EXPECT_THAT(fields, ElementsAre("y.sum", "y.head[0]", "y.head[1]"));
}

TEST(CompareWithReference, ExactOutputsNeedTheSameDigest) {
  const OutputSummary y = Summary<float>("y", DataType::kF32, {1000.0f, 0.0f});
  const LaunchResult result = {"one", "k", {y}};
  EXPECT_TRUE(
      CompareWithReference(result, Compare::kExact, Reference(R"({"sha256":")" + y.sha256 + "\"}")).ok());
  EXPECT_FALSE(CompareWithReference(result, Compare::kExact, Reference(R"({"sha256":"00"})")).ok());
  EXPECT_TRUE(CompareWithReference(result, Compare::kNone, Reference(R"({"sha256":"00"})")).ok());
}

TEST(CompareWithReference, AnEmptyComparisonIsNoAgreement) {
  const LaunchResult result = {"one", "k", {Summary<float>("y", DataType::kF32, {1.0f})}};
  EXPECT_FALSE(CompareWithReference(result, Compare::kExact, Reference("{}")).ok());
  EXPECT_FALSE(CompareWithReference(result, Compare::kApprox, Reference("{}")).ok());
  EXPECT_FALSE(CompareWithReference(result, Compare::kExact, {.id = "one", .outputs = {}}).ok());
  EXPECT_FALSE(CompareWithReference(result, Compare::kApprox, Reference(R"({"head":[1,1]})")).ok());
  EXPECT_FALSE(CompareWithReference({"one", "k", {}}, Compare::kApprox, Reference(R"({"head":[1]})")).ok());
}

TEST(ParseReference, AWrongValueIsPlaced) {
  const auto bad = ParseReference("{\"one\": {\"outputs\": {\"y\": {\n\"head\": [1, true]}}}}", "r.json");
  ASSERT_THAT(FaultsOf(bad.status()), SizeIs(1));
  EXPECT_EQ(FaultsOf(bad.status())[0].line, 2u);
  EXPECT_EQ(FaultsOf(bad.status())[0].field, "one.outputs.y.head");
  EXPECT_FALSE(ParseReference("{}", "r.json").ok());
}

}  // namespace
}  // namespace sm89::launch
