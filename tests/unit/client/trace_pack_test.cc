#include "client/trace_pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "client/checksum.h"
#include "client/error.h"

namespace sm89::client {
namespace {

namespace fs = std::filesystem;

class TracePackTest : public ::testing::Test {
 protected:
  TracePackTest() : folder_(fs::path(::testing::TempDir()) / ("pack-" + NewUuid()) / "bfs") {
    fs::create_directories(folder_);
  }
  ~TracePackTest() override { fs::remove_all(folder_.parent_path()); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  absl::StatusOr<LocalFile> Pack(const std::string& path, PackLimits limits = {}) {
    return PackTrace(path, limits, [](uint64_t, uint64_t) { return true; });
  }
  static std::string Bytes(const LocalFile& file) {
    return file.Read(0, static_cast<size_t>(file.size_bytes())).value();
  }

  // Names and contents, in archive order.
  static std::vector<std::pair<std::string, std::string>> Unpack(const std::string& bytes) {
    std::vector<std::pair<std::string, std::string>> members;
    archive* a = archive_read_new();
    archive_read_support_filter_zstd(a);
    archive_read_support_format_tar(a);
    EXPECT_EQ(archive_read_open_memory(a, bytes.data(), bytes.size()), ARCHIVE_OK);
    archive_entry* entry = nullptr;
    while (archive_read_next_header(a, &entry) == ARCHIVE_OK) {
      std::string text(static_cast<size_t>(archive_entry_size(entry)), '\0');
      EXPECT_EQ(archive_read_data(a, text.data(), text.size()), static_cast<la_ssize_t>(text.size()));
      EXPECT_EQ(archive_entry_filetype(entry), static_cast<mode_t>(AE_IFREG));
      members.emplace_back(archive_entry_pathname(entry), text);
    }
    archive_read_free(a);
    return members;
  }

  fs::path folder_;
};

TEST_F(TracePackTest, PacksTheListAndWhatItNamesOnly) {
  Write("kernelslist.g",
        "MemcpyHtoD,0x7f00,16\r\n  kernel-1.traceg \r\nkernel-2.traceg.xz\nkernel-1.traceg\n");
  Write("kernel-1.traceg", "one");
  Write("kernel-2.traceg.xz", "two");
  Write("private.txt", "not yours");
  const auto file = Pack(folder_.string());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->display_name(), "bfs.tar.zst");
  const auto members = Unpack(Bytes(*file));
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].first, "kernelslist.g");
  EXPECT_EQ(members[0].second.substr(0, 10), "MemcpyHtoD");
  EXPECT_EQ(members[1], std::make_pair(std::string("kernel-1.traceg"), std::string("one")));
  EXPECT_EQ(members[2], std::make_pair(std::string("kernel-2.traceg.xz"), std::string("two")));
}

TEST_F(TracePackTest, EqualContentGivesEqualBytes) {
  Write("kernelslist.g", "kernel-1.traceg\n");
  Write("kernel-1.traceg", std::string(300'000, 'x'));
  const auto first = Pack(folder_.string());
  fs::last_write_time(folder_ / "kernel-1.traceg", fs::file_time_type::clock::now() + std::chrono::hours(1));
  fs::permissions(folder_ / "kernel-1.traceg", fs::perms::owner_read);
  const auto second = Pack((folder_ / "kernelslist.g").string());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(Bytes(*first), Bytes(*second));
}

TEST_F(TracePackTest, ReportsEveryUnusableEntryWithItsLine) {
  Write("kernelslist.g",
        "kernel-1.traceg\nkernel-gone.traceg\nkernel/../../etc/passwd\nkernel-link.traceg\n");
  Write("kernel-1.traceg", "one");
  fs::create_symlink("/etc/passwd", folder_ / "kernel-link.traceg");
  const auto file = Pack(folder_.string());
  ASSERT_TRUE(absl::IsInvalidArgument(file.status())) << file.status();
  const auto detail = DetailOf(file.status());
  ASSERT_TRUE(detail.has_value());
  ASSERT_EQ(detail->faults_size(), 3);
  EXPECT_EQ(detail->faults(0).line(), 2u);
  EXPECT_EQ(detail->faults(0).value(), "kernel-gone.traceg");
  EXPECT_EQ(detail->faults(1).line(), 3u);
  EXPECT_EQ(detail->faults(2).line(), 4u);
  EXPECT_EQ(detail->faults(2).message(), "is a symbolic link");
}

TEST_F(TracePackTest, AFolderWithoutAListSaysSo) {
  Write("kernelslist", "kernel-1.trace\n");
  const auto file = Pack(folder_.string());
  ASSERT_TRUE(absl::IsInvalidArgument(file.status()));
  EXPECT_NE(DetailOf(file.status())->faults(0).message().find("post-processing"), std::string::npos);
}

TEST_F(TracePackTest, KeepsItsBounds) {
  Write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
  Write("kernel-1.traceg", "one");
  Write("kernel-2.traceg", "two");
  PackLimits limits;
  limits.files_max = 1;
  EXPECT_TRUE(absl::IsInvalidArgument(Pack(folder_.string(), limits).status()));
  limits = PackLimits();
  limits.input_bytes_max = 10;
  EXPECT_TRUE(absl::IsInvalidArgument(Pack(folder_.string(), limits).status()));
  limits = PackLimits();
  limits.list_bytes_max = 5;
  EXPECT_TRUE(absl::IsInvalidArgument(Pack(folder_.string(), limits).status()));
}

TEST_F(TracePackTest, CanBeInterrupted) {
  Write("kernelslist.g", "kernel-1.traceg\n");
  Write("kernel-1.traceg", "one");
  EXPECT_TRUE(absl::IsCancelled(
      PackTrace(folder_.string(), PackLimits(), [](uint64_t, uint64_t) { return false; }).status()));
}

TEST_F(TracePackTest, KnowsWhatNeedsPacking) {
  EXPECT_TRUE(NeedsPacking(folder_.string()));
  EXPECT_TRUE(NeedsPacking("x/kernelslist.g"));
  EXPECT_TRUE(NeedsPacking("x/kernelslist"));
  EXPECT_TRUE(NeedsPacking("kernelslist_ctx_0x55"));
  EXPECT_FALSE(NeedsPacking("x/kernelslist.tar.zst"));
  EXPECT_FALSE(NeedsPacking("x/kernel-1.traceg"));
  EXPECT_FALSE(NeedsPacking("bfs.tar.xz"));
}

}  // namespace
}  // namespace sm89::client
