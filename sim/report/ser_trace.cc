#include "sim/report/ser_trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"
#include "sim/trace/byte_io.h"
#include "sim/trace/packing.h"

namespace sm89 {
namespace {

// A compact file: the magic, then blocks of {raw bytes, packed bytes: 32 bits each; a zstd frame of rows},
// then the end record: a block's head of two zeros and the number of rows, 64 bits. All numbers are
// little-endian.
constexpr std::string_view kMagic = "SM89SER1";
constexpr int kHeadBytes = 8;
constexpr int kCountBytes = 8;
constexpr uint32_t kRowBytes = 32;
constexpr size_t kBlockBytes = 1u << 20;
constexpr int kZstdLevel = 3;
constexpr std::string_view kCsvHeader =
    "cycle,sm,launch,warp,pc,lanes,threads,reason,unit,source_scheduler,target_scheduler,joins_warp,issued\n";

// `in` has so many.
uint64_t TakeNumber(std::string_view* in, int bytes) {
  const uint64_t value = ByteReader(*in).LittleEndian(bytes);
  in->remove_prefix(static_cast<size_t>(bytes));
  return value;
}

void PutRow(std::string* out, const SerRecord& r) {
  AppendLittleEndian(out, r.cycle, 8);
  AppendLittleEndian(out, r.kernel, 4);
  AppendLittleEndian(out, r.pc, 4);
  AppendLittleEndian(out, r.lanes, 4);
  AppendLittleEndian(out, r.sm, 2);
  AppendLittleEndian(out, r.warp, 2);
  AppendLittleEndian(out, r.joins, 2);
  AppendLittleEndian(out, r.source, 1);
  AppendLittleEndian(out, r.target, 1);
  AppendLittleEndian(out, static_cast<uint64_t>(r.reason), 1);
  AppendLittleEndian(out, static_cast<uint64_t>(r.unit), 1);
  AppendLittleEndian(out, r.issued ? 1 : 0, 1);
  AppendLittleEndian(out, 0, 1);
}

SerRecord TakeRow(std::string_view row) {
  ByteReader in(row);
  SerRecord r;
  r.cycle = in.LittleEndian(8);
  r.kernel = static_cast<uint32_t>(in.LittleEndian(4));
  r.pc = static_cast<uint32_t>(in.LittleEndian(4));
  r.lanes = static_cast<LaneMask>(in.LittleEndian(4));
  r.sm = static_cast<uint16_t>(in.LittleEndian(2));
  r.warp = static_cast<uint16_t>(in.LittleEndian(2));
  r.joins = static_cast<uint16_t>(in.LittleEndian(2));
  r.source = static_cast<uint8_t>(in.LittleEndian(1));
  r.target = static_cast<uint8_t>(in.LittleEndian(1));
  r.reason = static_cast<SerReason>(std::min<uint64_t>(in.LittleEndian(1), 2));
  r.unit = static_cast<SerUnit>(std::min<uint64_t>(in.LittleEndian(1), 3));
  r.issued = in.LittleEndian(1) != 0;
  return r;
}

// Takes what follows the head of an end record.
absl::Status TakeEnd(std::string_view* rest, uint64_t rows) {
  if (rest->size() < size_t{kCountBytes})
    return absl::DataLossError("the file ends inside its end record: it was cut");
  const uint64_t count = TakeNumber(rest, kCountBytes);
  if (count == rows) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("the end record counts other rows (rows = '", count, "', expected ", rows, ")"));
}

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
    AppendLittleEndian(&head, pending_.size(), 4);
    AppendLittleEndian(&head, packed.size(), 4);
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
  AppendLittleEndian(&end, 0, kHeadBytes);
  AppendLittleEndian(&end, rows_, kCountBytes);
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
    if (rest.size() < size_t{kHeadBytes}) return fault(block, "the file ends inside a block's head");
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
