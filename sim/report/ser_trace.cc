#include "sim/report/ser_trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/trace/packing.h"

namespace sm89 {
namespace {

// A compact file: the magic, then blocks of {raw bytes, packed bytes: 32 bits each; a zstd frame of rows},
// then the end record: a block's head of two zeros and the number of rows, 64 bits. All numbers are
// little-endian.
constexpr std::string_view kMagic = "SM89SER1";
constexpr size_t kHeadBytes = 8;
constexpr size_t kCountBytes = 8;
constexpr uint32_t kRowBytes = 32;
constexpr size_t kBlockBytes = 1u << 20;
constexpr int kZstdLevel = 3;
constexpr std::string_view kCsvHeader =
    "cycle,sm,launch,warp,pc,lanes,threads,reason,unit,source_scheduler,target_scheduler,joins_warp,issued\n";

void PutNumber(std::string* out, uint64_t value, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t TakeNumber(std::string_view* in, uint32_t bytes) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) value |= uint64_t{static_cast<uint8_t>((*in)[i])} << (8 * i);
  in->remove_prefix(bytes);
  return value;
}

void PutRow(std::string* out, const SerRecord& r) {
  PutNumber(out, r.cycle, 8);
  PutNumber(out, r.kernel, 4);
  PutNumber(out, r.pc, 4);
  PutNumber(out, r.lanes, 4);
  PutNumber(out, r.sm, 2);
  PutNumber(out, r.warp, 2);
  PutNumber(out, r.joins, 2);
  PutNumber(out, r.source, 1);
  PutNumber(out, r.target, 1);
  PutNumber(out, static_cast<uint64_t>(r.reason), 1);
  PutNumber(out, static_cast<uint64_t>(r.unit), 1);
  PutNumber(out, r.issued ? 1 : 0, 1);
  PutNumber(out, 0, 1);
}

SerRecord TakeRow(std::string_view row) {
  SerRecord r;
  r.cycle = TakeNumber(&row, 8);
  r.kernel = static_cast<uint32_t>(TakeNumber(&row, 4));
  r.pc = static_cast<uint32_t>(TakeNumber(&row, 4));
  r.lanes = static_cast<LaneMask>(TakeNumber(&row, 4));
  r.sm = static_cast<uint16_t>(TakeNumber(&row, 2));
  r.warp = static_cast<uint16_t>(TakeNumber(&row, 2));
  r.joins = static_cast<uint16_t>(TakeNumber(&row, 2));
  r.source = static_cast<uint8_t>(TakeNumber(&row, 1));
  r.target = static_cast<uint8_t>(TakeNumber(&row, 1));
  r.reason = static_cast<SerReason>(std::min<uint64_t>(TakeNumber(&row, 1), 2));
  r.unit = static_cast<SerUnit>(std::min<uint64_t>(TakeNumber(&row, 1), 3));
  r.issued = TakeNumber(&row, 1) != 0;
  return r;
}

// Takes what follows the head of an end record.
absl::Status TakeEnd(std::string_view* rest, uint64_t rows) {
  if (rest->size() < kCountBytes)
    return absl::DataLossError("the file ends inside its end record: it was cut");
  const uint64_t count = TakeNumber(rest, kCountBytes);
  if (count == rows) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the end record counts other rows (rows = '", count, "', expected ", rows, ")"));
}

absl::string_view Av(std::string_view text) { return {text.data(), text.size()}; }

void PutText(std::string* out, const SerRecord& r, bool json) {
  const int threads = __builtin_popcount(r.lanes);
  if (json) {
    absl::StrAppend(out, "{\"cycle\":", r.cycle, ",\"sm\":", r.sm, ",\"launch\":", r.kernel,
                    ",\"warp\":", r.warp, ",\"pc\":", r.pc, ",\"lanes\":", r.lanes, ",\"threads\":", threads,
                    ",\"reason\":\"", Av(Name(r.reason)), "\",\"unit\":\"");
    absl::StrAppend(out, Av(Name(r.unit)), "\",\"source_scheduler\":", int{r.source},
                    ",\"target_scheduler\":", int{r.target}, ",\"joins_warp\":", r.joins,
                    ",\"issued\":", r.issued ? "true" : "false", "}\n");
    return;
  }
  absl::StrAppend(out, r.cycle, ",", r.sm, ",", r.kernel, ",", r.warp, ",", r.pc, ",", r.lanes, ",", threads,
                  ",", Av(Name(r.reason)), ",", Av(Name(r.unit)));
  absl::StrAppend(out, ",", int{r.source}, ",", int{r.target}, ",", r.joins, ",", r.issued ? 1 : 0, "\n");
}

}  // namespace

SerTraceWriter::SerTraceWriter(SerTraceFormat format, std::function<bool(std::string_view)> sink)
    : format_(format), sink_(std::move(sink)) {
  SM89_ASSERT(format_ != SerTraceFormat::kNone, "nobody writes a trace of no format");
  if (format_ == SerTraceFormat::kCsv) pending_ = kCsvHeader;
}

bool SerTraceWriter::Append(std::span<const SerRecord> records) {
  for (const SerRecord& record : records) {
    if (!good_) return false;
    if (format_ == SerTraceFormat::kCompact) {
      PutRow(&pending_, record);
      ++rows_;
    } else {
      PutText(&pending_, record, format_ == SerTraceFormat::kJsonLines);
    }
    if (pending_.size() >= kBlockBytes) Flush();
  }
  return good_;
}

void SerTraceWriter::Flush() {
  if (pending_.empty() || !good_) return;
  if (format_ == SerTraceFormat::kCompact) {
    if (!began_) good_ = sink_(kMagic);
    began_ = true;
    const std::string packed = Pack(pending_, kZstdLevel);
    std::string head;
    PutNumber(&head, pending_.size(), 4);
    PutNumber(&head, packed.size(), 4);
    good_ = good_ && sink_(head) && sink_(packed);
  } else {
    good_ = sink_(pending_);
  }
  pending_.clear();
}

bool SerTraceWriter::Finish() {
  Flush();
  if (format_ != SerTraceFormat::kCompact || !good_) return good_;
  std::string end(began_ ? "" : kMagic);
  PutNumber(&end, 0, kHeadBytes);
  PutNumber(&end, rows_, kCountBytes);
  good_ = sink_(end);
  return good_;
}

absl::StatusOr<std::vector<SerRecord>> ReadSerTrace(std::string_view bytes, uint64_t max_records) {
  const auto fault = [&](std::string_view rest, const std::string& what) {
    return absl::DataLossError(absl::StrCat("at byte ", bytes.size() - rest.size(), ": ", what));
  };
  std::string_view rest = bytes;
  if (!rest.starts_with(kMagic)) return fault(rest, "not a file of reordering decisions (SM89SER1)");
  rest.remove_prefix(kMagic.size());
  std::vector<SerRecord> records;
  while (true) {
    const std::string_view block = rest;
    if (rest.empty()) return fault(block, "the file ends without its end record: it was cut");
    if (rest.size() < kHeadBytes) return fault(block, "the file ends inside a block's head");
    const uint64_t raw = TakeNumber(&rest, 4);
    const uint64_t packed = TakeNumber(&rest, 4);
    if (raw == 0 && packed == 0) {
      const absl::Status end = TakeEnd(&rest, records.size());
      if (!end.ok()) return fault(block, std::string(end.message()));
      if (!rest.empty()) return fault(rest, "bytes behind the end record (expected the file's end)");
      return records;
    }
    if (packed > rest.size()) return fault(block, "the file ends inside a block");
    if (raw == 0 || raw % kRowBytes != 0 || raw > kBlockBytes + kRowBytes)
      return fault(block, "a block of no whole rows");
    if (records.size() + raw / kRowBytes > max_records) {
      return absl::ResourceExhaustedError(absl::StrCat("more than ", max_records, " decisions"));
    }
    const absl::StatusOr<std::string> rows = Unpack(rest.substr(0, packed), raw);
    if (!rows.ok()) return fault(block, std::string(rows.status().message()));
    rest.remove_prefix(packed);
    for (size_t at = 0; at < rows->size(); at += kRowBytes) {
      records.push_back(TakeRow(std::string_view(*rows).substr(at, kRowBytes)));
    }
  }
}

}  // namespace sm89
