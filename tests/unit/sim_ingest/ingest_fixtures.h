// Small traces, a writer that remembers, and folders that vanish, for the tests of the text readers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/fault.h"
#include "sim/ingest/byte_source.h"
#include "sim/ingest/ingest.h"
#include "sim/trace/compact_writer.h"

namespace sm89::testing {

// Records what a reader hands on.
class RecordingWriter final : public CompactWriter {
 public:
  struct Inst {
    uint32_t static_id = 0;
    LaneMask mask = 0;
    std::vector<uint64_t> addresses;
  };
  struct Warp {
    uint32_t id = 0;
    std::vector<Inst> insts;
  };
  struct Cta {
    Dim3 id;
    std::vector<Warp> warps;
  };

  absl::Status BeginKernel(const KernelInfo&) override { return absl::OkStatus(); }
  uint32_t AddStatic(const StaticInst& inst) override {
    const auto id = static_cast<size_t>(std::find(statics.begin(), statics.end(), inst) - statics.begin());
    if (id == statics.size()) statics.push_back(inst);
    return static_cast<uint32_t>(id);
  }
  absl::Status BeginCta(const Dim3& id) override {
    ctas.push_back({id, {}});
    return absl::OkStatus();
  }
  absl::Status BeginWarp(uint32_t warp) override {
    ctas.back().warps.push_back({warp, {}});
    return absl::OkStatus();
  }
  absl::Status Add(const DynInstRecord& inst) override {
    ctas.back().warps.back().insts.push_back(
        {inst.static_id, inst.mask, std::vector<uint64_t>(inst.addresses.begin(), inst.addresses.end())});
    return absl::OkStatus();
  }
  absl::Status EndWarp() override { return absl::OkStatus(); }
  absl::Status EndCta() override { return absl::OkStatus(); }
  absl::Status EndKernel(const KernelInfo&) override { return absl::OkStatus(); }
  absl::StatusOr<WrittenTrace> Finish(const TraceSetInfo&) override { return WrittenTrace{}; }

  std::vector<StaticInst> statics;
  std::vector<Cta> ctas;
};

// Bytes of a text, `step` at a time.
class StringSource final : public ByteSource {
 public:
  explicit StringSource(std::string text, size_t step = 7) : text_(std::move(text)), step_(step) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    const size_t part = std::min({size, step_, text_.size() - at_});
    std::memcpy(out, text_.data() + at_, part);
    at_ += part;
    return part;
  }

 private:
  const std::string text_;
  const size_t step_;
  size_t at_ = 0;
};

// The text of a kernel file. Every part can be changed before Text() is taken.
struct KernelText {
  std::string grid = "(1,1,1)";
  std::string block = "(32,1,1)";
  std::string binary = "89";
  std::string tracer = "-accelsim tracer version = 5\n-enable lineinfo = 0\n";
  std::string extra_header;
  std::vector<std::string> blocks;

  std::string Header() const {
    return "-kernel name = k\n-kernel id = 1\n-grid dim = " + grid + "\n-block dim = " + block +
           "\n-shmem = 0\n-nregs = 16\n-binary version = " + binary + "\n-cuda stream id = 0\n" + tracer +
           extra_header + "\n#traces format = PC mask ...\n\n";
  }
  std::string Text() const {
    std::string text = Header();
    for (const std::string& one : blocks) text.append(one);
    return text;
  }
};

// One warp section.
inline std::string WarpText(int warp, const std::vector<std::string>& lines) {
  std::string text = "\nwarp = " + std::to_string(warp) + "\ninsts = " + std::to_string(lines.size()) + "\n";
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

// One block of warp sections.
inline std::string BlockText(const std::string& id, const std::vector<std::string>& warps) {
  std::string text = "#BEGIN_TB\n\nthread block = " + id + "\n";
  for (const std::string& warp : warps) text.append(warp);
  return text.append("\n#END_TB\n\n");
}

inline const std::vector<std::string>& PlainLines() {
  static const std::vector<std::string> kLines = {"0000 ffffffff 1 R1 MOV 0 0 0 ",
                                                  "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f4c80000000 4 0 ",
                                                  "0020 ffffffff 0 EXIT 0 0 0 "};
  return kLines;
}

// A complete kernel of one warp.
inline std::string SmallKernel() {
  KernelText kernel;
  kernel.blocks = {BlockText("0,0,0", {WarpText(0, PlainLines())})};
  return kernel.Text();
}

// A new folder for a test, removed with it.
class IngestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = ::testing::TempDir() + "ingest-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    root_ = path;
    std::filesystem::create_directory(Folder());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string Folder() const { return root_ + "/trace"; }
  std::string Output() const { return root_ + "/out.sm89trace"; }
  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string path = Folder() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  absl::StatusOr<IngestResult> Ingest(const std::string& input) const {
    return IngestTrace(input, Output(), options_);
  }
  // Nothing but the input and, after success, the output may stay behind.
  size_t EntriesBesideInput() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(root_)) ++count;
    return count - 1;
  }

  std::string root_;
  IngestOptions options_;
};

inline std::string FactOf(const absl::Status& status, const std::string& key) {
  for (const Fault& fault : FaultsOf(status)) {
    for (const auto& [name, value] : fault.facts) {
      if (name == key) return value;
    }
  }
  return "(no fact " + key + ")";
}

}  // namespace sm89::testing
