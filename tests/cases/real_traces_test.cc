// Every list of the public traces is either read completely or refused with the error that fits its defect.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/fault.h"
#include "sim/ingest/archive_unpack.h"
#include "sim/ingest/byte_source.h"
#include "sim/ingest/ingest.h"
#include "sim/ingest/input_file.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/line_reader.h"
#include "sim/ingest/temp_folder.h"
#include "sim/ingest/text_scan.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;

constexpr char kTraces[] = SM89_SOURCE_DIR "/../shared/traces";

bool HasFact(const absl::Status& status, const std::string& key, const std::string& value) {
  for (const Fault& fault : FaultsOf(status)) {
    if (std::find(fault.facts.begin(), fault.facts.end(), std::pair(key, value)) != fault.facts.end())
      return true;
  }
  return false;
}

// What is wrong with a refused list, by the machine-readable facts of its error.
std::string DefectOf(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kNotFound) return "files absent";
  if (HasFact(status, "kernels", "0")) return "empty";
  if (HasFact(status, "reason", "not_grouped")) return "raw";
  if (HasFact(status, "binary_version", "61")) return "version 61";
  return status.ToString();
}

// Sum of the "insts = n" lines of a kernel file, read on its own.
uint64_t DeclaredInstructions(const std::string& folder, const std::string& name) {
  const IngestOptions options;
  IngestContext context(options);
  auto file = InputFile::OpenInFolder(folder, name);
  if (!file.ok()) return 0;
  auto source = OpenByteSource(std::move(*file), context);
  if (!source.ok()) return 0;
  LineReader lines(std::move(*source), name, kMaxLineBytes);
  uint64_t sum = 0;
  std::string_view line;
  while (true) {
    const auto more = lines.Next(&line);
    if (!more.ok() || !*more) return sum;
    if (!line.starts_with("insts = ")) continue;
    sum += ParseUnsigned(TrimBlanks(line.substr(8))).value_or(0);
  }
}

class RealTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kTraces)) GTEST_SKIP() << kTraces << " is absent";
    auto temp = TempFolder::Create(::testing::TempDir() + "real-traces-");
    ASSERT_TRUE(temp.ok()) << temp.status();
    temp_ = std::move(*temp);
  }

  // All archives, or the one whose name holds `part`, each into a folder of its own.
  void Unpack(const std::string& part) {
    for (const fs::directory_entry& entry : fs::directory_iterator(kTraces)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".tar.xz") || name.find(part) == std::string::npos) continue;
      const std::string folder = temp_->path() + "/" + name;
      ASSERT_TRUE(fs::create_directory(folder));
      auto file = InputFile::OpenPath(entry.path().string());
      ASSERT_TRUE(file.ok()) << file.status();
      IngestContext context(options_);
      const absl::Status status = UnpackArchive(**file, folder, context);
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  // Lists below the temporary folder, sorted. The oddities hold a collection of lines, which is no list.
  std::vector<fs::path> Lists() const {
    std::vector<fs::path> lists;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temp_->path())) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && name.starts_with("kernelslist") && name != "kernelslist_variants.txt") {
        lists.push_back(entry.path());
      }
    }
    std::sort(lists.begin(), lists.end());
    return lists;
  }

  std::string Output() const { return temp_->path() + "/out.sm89trace"; }

  IngestOptions options_;
  std::unique_ptr<TempFolder> temp_;
};

TEST_F(RealTraces, EveryListIsReadOrRefusedForItsDefect) {
  Unpack("");
  options_.foreign_arch = true;
  std::map<std::string, int> outcomes;
  for (const fs::path& list : Lists()) {
    const auto result = IngestTrace(list.string(), Output(), options_);
    if (!result.ok()) {
      ++outcomes[DefectOf(result.status())];
      continue;
    }
    ++outcomes["read"];
    for (const KernelInfo& kernel : result->info.kernels) {
      EXPECT_EQ(kernel.num_ctas, kernel.grid_ctas) << list << " " << kernel.file;
      EXPECT_EQ(kernel.warp_instructions, DeclaredInstructions(list.parent_path().string(), kernel.file))
          << list << " " << kernel.file;
    }
    ASSERT_EQ(result->info.marks.size(), 1u) << list;
    EXPECT_EQ(result->info.marks[0].kind, "foreign_arch");
    EXPECT_EQ(result->info.marks[0].count, result->info.kernels.size());
  }
  // The counts of ../shared/traces/README.md.
  const std::map<std::string, int> want = {
      {"read", 15}, {"files absent", 35}, {"empty", 7}, {"raw", 4}, {"version 61", 3}};
  EXPECT_EQ(outcomes, want);
}

TEST_F(RealTraces, ForeignOnesAreRefusedUnlessAskedFor) {
  Unpack("sarchlab");
  int refused = 0;
  for (const fs::path& list : Lists()) {
    const auto result = IngestTrace(list.string(), Output(), options_);
    ASSERT_FALSE(result.ok()) << list;
    refused += HasFact(result.status(), "supported", "89") ? 1 : 0;
  }
  EXPECT_EQ(refused, 10) << "the lists of this archive that are complete";
}

TEST_F(RealTraces, LanesThatRunOnAfterExitAreCountedAndWarnedAbout) {
  Unpack("simpletorch3");
  options_.foreign_arch = true;
  const std::vector<fs::path> lists = Lists();
  ASSERT_EQ(lists.size(), 1u);
  const auto result = IngestTrace(lists[0].string(), Output(), options_);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto& kernels = result->info.kernels;
  EXPECT_EQ(kernels.size(), 131u);
  EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(),
                          [](const KernelInfo& k) { return k.warps_past_exit > 0; }),
            20);
  EXPECT_TRUE(std::any_of(result->info.warnings.begin(), result->info.warnings.end(),
                          [](const TraceWarning& w) { return w.kind == "lanes_after_exit"; }));
}

TEST_F(RealTraces, ArchivesAreReadWithoutUnpackingThemFirst) {
  options_.foreign_arch = true;
  const auto result =
      IngestTrace(std::string(kTraces) + "/sinharudraneel__simpletorch3.tar.xz", Output(), options_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->info.kernels.size(), 131u);
  // Several lists inside: the user has to say which one.
  const auto many = IngestTrace(std::string(kTraces) + "/sarchlab__mgpusim.tar.xz", Output(), options_);
  ASSERT_FALSE(many.ok());
  EXPECT_TRUE(HasFact(many.status(), "list_count", "27"));
  EXPECT_NE(many.status().message().find("bfs-rodinia-2.0-ft/kernelslist.g"), std::string::npos)
      << many.status();
}

TEST_F(RealTraces, OldestFormWithPrefixedLinesIsRead) {
  Unpack("oddities");
  const std::string folder = temp_->path() + "/oddities.tar.xz/oddities";
  // An excerpt: its prefixed lines are read up to the note in brackets on line 38.
  options_.foreign_arch = true;
  const auto excerpt = IngestTrace(folder + "/jager197_lud_kernel-8_excerpt.traceg.txt", Output(), options_);
  ASSERT_FALSE(excerpt.ok());
  ASSERT_EQ(FaultsOf(excerpt.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(excerpt.status())[0].line, 38u) << excerpt.status();
  const auto native = IngestTrace(folder + "/swayhrl_r1_kernel-1.traceg", Output(), IngestOptions());
  ASSERT_TRUE(native.ok()) << native.status();
  EXPECT_EQ(native->info.kernels[0].warp_instructions, 5u);
  const auto garbage =
      IngestTrace(folder + "/accelsim_my_app_kernel-593_first2TB.traceg", Output(), options_);
  ASSERT_FALSE(garbage.ok());
  EXPECT_TRUE(HasFact(garbage.status(), "nregs", "21955"));
  EXPECT_TRUE(HasFact(garbage.status(), "binary_version", "0"));
}

}  // namespace
}  // namespace sm89
