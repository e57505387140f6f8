#include "sim/launch/outputs.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/assert.h"
#include "sim/base/digest.h"
#include "sim/launch/data_type.h"

namespace sm89::launch {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kClocksName[] = "clocks";

Number SumOf(DataType type, const std::vector<uint8_t>& bytes) {
  const uint32_t size = SizeBytes(type);
  double real = 0;
  uint64_t integer = 0;  // wraps like int64 does, without overflow
  for (size_t at = 0; at < bytes.size(); at += size) {
    const Number value = LoadNumber(type, &bytes[at]);
    if (const auto* d = std::get_if<double>(&value)) {
      real += *d;
    } else if (const auto* u = std::get_if<uint64_t>(&value)) {
      integer += *u;
    } else {
      integer += static_cast<uint64_t>(std::get<int64_t>(value));
    }
  }
  if (IsFloat(type)) return real;
  return static_cast<int64_t>(integer);
}

uint64_t AsClock(const Number& value) {
  if (const auto* u = std::get_if<uint64_t>(&value)) return *u;
  return static_cast<uint64_t>(std::get<int64_t>(value));
}

ClockSummary ClocksOf(DataType type, const std::vector<uint8_t>& bytes) {
  const uint32_t size = SizeBytes(type);
  std::vector<uint64_t> clocks;
  clocks.reserve(bytes.size() / size);
  for (size_t at = 0; at < bytes.size(); at += size) clocks.push_back(AsClock(LoadNumber(type, &bytes[at])));
  std::sort(clocks.begin(), clocks.end());
  const size_t middle = clocks.size() / 2;
  double median = static_cast<double>(clocks[middle]);
  if (clocks.size() % 2 == 0) {
    median = static_cast<double>(clocks[middle - 1]) / 2 + static_cast<double>(clocks[middle]) / 2;
  }
  return {.min = clocks.front(), .max = clocks.back(), .median = median};
}

// JSON has no infinities and no NaN: they become strings, as in launch files.
Json ToJson(const Number& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return *i;
  if (const auto* u = std::get_if<uint64_t>(&value)) return *u;
  const double real = std::get<double>(value);
  if (std::isnan(real)) return "nan";
  if (std::isinf(real)) return real > 0 ? "inf" : "-inf";
  return real;
}

Json ToJson(const std::vector<Number>& values) {
  Json list = Json::array();
  for (const Number& value : values) list.push_back(ToJson(value));
  return list;
}

Json ToJson(const OutputSummary& output) {
  Json j = Json::object();
  j["dtype"] = std::string(Name(output.type));
  j["count"] = output.count;
  j["sha256"] = output.sha256;
  j["sum"] = ToJson(output.sum);
  j["head"] = ToJson(output.head);
  if (!output.sample.empty()) j["sample"] = ToJson(output.sample);
  if (output.clocks.has_value()) {
    j["min"] = output.clocks->min;
    j["max"] = output.clocks->max;
    j["median"] = output.clocks->median;
  }
  return j;
}

}  // namespace

OutputSummary Summarise(const BufferSpec& buffer, const std::vector<uint8_t>& bytes) {
  SM89_ASSERT(bytes.size() == buffer.size_bytes() && !bytes.empty(), "bytes of another buffer");
  const uint32_t size = SizeBytes(buffer.type);
  OutputSummary out;
  out.name = buffer.name;
  out.type = buffer.type;
  out.count = buffer.count;
  out.sha256 = Sha256Hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  out.sum = SumOf(buffer.type, bytes);
  for (uint64_t i = 0; i < std::min(buffer.count, kHeadElements); ++i) {
    out.head.push_back(LoadNumber(buffer.type, &bytes[i * size]));
  }
  if (IsFloat(buffer.type)) {
    const uint64_t step = std::max<uint64_t>(1, buffer.count / kSampleElements);
    for (uint64_t i = 0; i < buffer.count && out.sample.size() < kSampleElements; i += step) {
      out.sample.push_back(LoadNumber(buffer.type, &bytes[i * size]));
    }
  } else if (buffer.name == kClocksName) {
    out.clocks = ClocksOf(buffer.type, bytes);
  }
  return out;
}

std::string OutputToJson(const OutputSummary& output) { return ToJson(output).dump(); }

std::string ResultsToJson(const std::vector<LaunchResult>& results) {
  Json cases = Json::array();
  for (const LaunchResult& result : results) {
    Json outputs = Json::object();
    for (const OutputSummary& output : result.outputs) outputs[output.name] = ToJson(output);
    cases.push_back({{"id", result.id}, {"kernel", result.kernel}, {"outputs", std::move(outputs)}});
  }
  return Json{{"cases", std::move(cases)}}.dump(1);
}

}  // namespace sm89::launch
