#include "sim/ingest/kernel_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/text_scan.h"
#include "sim/isa/decoded_inst.h"

namespace sm89 {
namespace {

// CUDA programming guide, table of technical specifications, every compute capability since 3.0.
constexpr uint32_t kMaxGridX = 2147483647;
constexpr uint32_t kMaxGridYZ = 65535;
constexpr uint32_t kMaxBlockXY = 1024;
constexpr uint32_t kMaxBlockZ = 64;
constexpr uint64_t kMaxBlockThreads = 1024;
constexpr uint64_t kMaxRegisters = 255;  // R255 is the zero register

constexpr uint32_t kNativeVersion = 89;
constexpr std::array<uint32_t, 6> kAcceptedVersions = {89, 70, 75, 80, 86, 90};

bool SetUnsigned(std::string_view text, uint64_t max, uint64_t* out) {
  const std::optional<uint64_t> value = ParseUnsigned(text);
  if (!value || *value > max) return false;
  *out = *value;
  return true;
}

bool SetUnsigned32(std::string_view text, uint64_t max, uint32_t* out) {
  uint64_t value = 0;
  if (!SetUnsigned(text, max, &value)) return false;
  *out = static_cast<uint32_t>(value);
  return true;
}

bool SetTriple(std::string_view text, Dim3* out) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  const std::optional<Dim3> value = ParseTriple(text.substr(1, text.size() - 2));
  if (!value) return false;
  *out = *value;
  return true;
}

bool SetHex(std::string_view text, uint64_t* out) {
  const std::optional<uint64_t> value = ParseHex(text);
  if (value) *out = *value;
  return value.has_value();
}

bool SetGrid(std::string_view text, KernelHeader& header) {
  Dim3& d = header.info.grid;
  return SetTriple(text, &d) && d.x >= 1 && d.x <= kMaxGridX && d.y >= 1 && d.y <= kMaxGridYZ && d.z >= 1 &&
         d.z <= kMaxGridYZ;
}

bool SetBlock(std::string_view text, KernelHeader& header) {
  Dim3& d = header.info.block;
  return SetTriple(text, &d) && d.x >= 1 && d.x <= kMaxBlockXY && d.y >= 1 && d.y <= kMaxBlockXY &&
         d.z >= 1 && d.z <= kMaxBlockZ && SaturatingVolume(d) <= kMaxBlockThreads;
}

bool SetBinaryVersion(std::string_view text, KernelHeader& header) {
  return SetUnsigned32(text, std::numeric_limits<uint32_t>::max(), &header.info.binary_version);
}

// Old tracers print the handle as a signed number: it is the same 64 bits.
bool SetStream(std::string_view text, KernelHeader& header) {
  if (SetUnsigned(text, std::numeric_limits<uint64_t>::max(), &header.info.stream_id)) return true;
  const std::optional<int64_t> value = ParseSigned(text);
  if (value) header.info.stream_id = static_cast<uint64_t>(*value);
  return value.has_value();
}

// "1.2", "3" ... "6": the whole part selects the layout of instruction lines.
bool SetTracerVersion(std::string_view text, KernelHeader& header) {
  const std::optional<uint64_t> whole = ParseUnsigned(text.substr(0, text.find('.')));
  if (!whole || *whole < 1 || *whole > 6 || text.size() > 16) return false;
  header.info.tracer_version = std::string(text);
  using Immediate = LineFormat::Immediate;
  header.format.immediate = *whole <= 3   ? Immediate::kNone
                            : *whole == 4 ? Immediate::kOptional
                            : *whole == 5 ? Immediate::kOne
                                          : Immediate::kTwo;
  return true;
}

bool SetLineInfo(std::string_view text, KernelHeader& header) {
  if (text != "0" && text != "1") return false;
  header.info.has_lineinfo = header.format.has_source_line = text == "1";
  return true;
}

struct KeyRow {
  std::string_view name;
  std::string_view fact;  // its name among the machine-readable facts
  bool required = false;
  bool (*set)(std::string_view, KernelHeader&) = nullptr;
  const char* expected = "";
};

constexpr std::array<KeyRow, 13> kKeys = {{
    {"kernel name", "kernel_name", false,
     [](std::string_view text, KernelHeader& h) {
       h.info.name = std::string(text.substr(0, kMaxKernelNameBytes));
       return text.size() <= kMaxKernelNameBytes && text.find('\0') == std::string_view::npos;
     },
     "a name of at most 64 KiB without NUL bytes"},
    {"kernel id", "kernel_id", false,
     [](std::string_view text, KernelHeader& h) { return SetUnsigned(text, ~uint64_t{0}, &h.info.id); },
     "an unsigned number"},
    {"grid dim", "grid_dim", true, SetGrid, "(x,y,z), x in 1..2147483647, y and z in 1..65535"},
    {"block dim", "block_dim", true, SetBlock, "(x,y,z), at most (1024,1024,64) and 1024 threads in all"},
    {"shmem", "shmem", false,
     [](std::string_view text, KernelHeader& h) {
       return SetUnsigned32(text, ~uint32_t{0}, &h.info.shmem_bytes);
     },
     "bytes, 0..4294967295"},
    {"nregs", "nregs", false,
     [](std::string_view text, KernelHeader& h) { return SetUnsigned32(text, kMaxRegisters, &h.info.nregs); },
     "0..255 registers a thread"},
    {"binary version", "binary_version", true, SetBinaryVersion, "a number such as 89"},
    {"cuda stream id", "stream_id", false, SetStream, "a 64-bit number"},
    {"shmem base_addr", "shmem_base", false,
     [](std::string_view text, KernelHeader& h) { return SetHex(text, &h.info.shmem_base); }, "0x<hex>"},
    {"local mem base_addr", "local_base", false,
     [](std::string_view text, KernelHeader& h) { return SetHex(text, &h.info.local_base); }, "0x<hex>"},
    {"nvbit version", "nvbit_version", false,
     [](std::string_view text, KernelHeader& h) {
       h.info.nvbit_version = std::string(text.substr(0, kMaxVersionTextBytes));
       return text.size() <= kMaxVersionTextBytes;
     },
     "at most 64 bytes"},
    {"accelsim tracer version", "tracer_version", false, SetTracerVersion, "1.2, 3, 4, 5 or 6"},
    {"enable lineinfo", "lineinfo", false, SetLineInfo, "0 or 1"},
}};

Fault KeyFault(const std::string& file, uint64_t line, const KeyRow& key, std::string_view value) {
  Fault fault;
  fault.file = file;
  fault.line = line;
  fault.field = std::string(key.name);
  fault.value = Excerpt(value);
  fault.expected = key.expected;
  fault.message = "the header has an impossible value";
  fault.facts = {{std::string(key.fact), fault.value}};
  return fault;
}

Fault MissingKey(const std::string& file, const KeyRow& key) {
  Fault fault;
  fault.file = file;
  fault.field = std::string(key.name);
  fault.expected = absl::StrCat("-", Av(key.name), " = ", key.expected);
  fault.message = absl::StrCat("the header lacks the required key \"", Av(key.name), "\"");
  fault.facts = {{"key", std::string(key.name)}};
  return fault;
}

Fault VersionFault(const KernelInfo& info, uint64_t line, bool foreign_arch) {
  Fault fault;
  fault.file = info.file;
  fault.line = line;
  fault.field = "binary version";
  fault.value = absl::StrCat(info.binary_version);
  fault.expected = AcceptedVersions(foreign_arch);
  const bool mappable = IsMappableVersion(info.binary_version);
  fault.message = mappable ? absl::StrCat("binary version ", info.binary_version,
                                          " is another architecture; it is read as SM89 only when foreign "
                                          "architectures are asked for (foreign-arch)")
                           : absl::StrCat("binary version ", info.binary_version, " is not supported");
  std::string supported = AcceptedVersions(foreign_arch);
  supported.erase(std::remove(supported.begin(), supported.end(), ' '), supported.end());
  fault.facts = {{"binary_version", fault.value}, {"supported", supported}};
  return fault;
}

}  // namespace

std::string AcceptedVersions(bool foreign_arch) {
  std::string text;
  for (const uint32_t version : kAcceptedVersions) {
    if (version != kNativeVersion && !foreign_arch) break;
    absl::StrAppend(&text, text.empty() ? "" : ", ", version);
  }
  return text;
}

KernelHeaderParser::KernelHeaderParser(std::string file) : lines_(kKeys.size(), 0) {
  header_.info.file = std::move(file);
}

void KernelHeaderParser::Line(std::string_view line, uint64_t number) {
  const std::string_view trimmed = TrimBlanks(line);
  if (trimmed.empty() || trimmed.front() != '-') return;
  const std::optional<KeyValue> pair = SplitKeyValue(trimmed.substr(1));
  if (!pair) return;
  for (size_t i = 0; i < kKeys.size(); ++i) {
    const KeyRow& key = kKeys[i];
    if (key.name != pair->key) continue;
    std::string_view value = pair->value;
    if (i == 0) {  // the name is kept byte for byte behind the first " = "
      const size_t start = line.find(" = ");
      if (start != std::string_view::npos) value = line.substr(start + 3);
    }
    ++num_keys_;
    const bool again = lines_[i] != 0;
    lines_[i] = number;
    if (again) {
      faults_.push_back(KeyFault(header_.info.file, number, key, value));
      faults_.back().message = "the header has a key twice";
    } else if (!key.set(value, header_)) {
      faults_.push_back(KeyFault(header_.info.file, number, key, value));
    }
    return;
  }
}

std::vector<Fault> KernelHeaderParser::Finish(const IngestOptions& options) {
  KernelInfo& info = header_.info;
  for (size_t i = 0; i < kKeys.size(); ++i) {
    if (kKeys[i].required && lines_[i] == 0) faults_.push_back(MissingKey(info.file, kKeys[i]));
  }
  constexpr size_t kShmemKey = 4;
  constexpr size_t kRegistersKey = 5;
  constexpr size_t kVersionKey = 6;
  static_assert(kKeys[kShmemKey].name == "shmem" && kKeys[kRegistersKey].name == "nregs" &&
                kKeys[kVersionKey].name == "binary version");
  const bool accepted = info.binary_version == kNativeVersion ||
                        (options.foreign_arch && IsMappableVersion(info.binary_version));
  if (lines_[kVersionKey] != 0 && !accepted) {
    faults_.push_back(VersionFault(info, lines_[kVersionKey], options.foreign_arch));
  }
  // Occupancy depends on these two; every tracer writes them.
  for (const size_t i : {kShmemKey, kRegistersKey}) {
    if (lines_[i] == 0)
      absl::StrAppend(&header_.assumed, header_.assumed.empty() ? "" : ", ", Av(kKeys[i].name));
  }
  if (info.name.empty()) info.name = info.file;
  info.grid_ctas = SaturatingVolume(info.grid);
  return std::move(faults_);
}

}  // namespace sm89
