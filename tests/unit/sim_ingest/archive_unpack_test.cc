#include "sim/ingest/archive_unpack.h"

#include <archive.h>
#include <archive_entry.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/sim_ingest/ingest_fixtures.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using testing::FactOf;
using testing::SmallKernel;

struct Member {
  std::string name;
  std::string content;
  unsigned type = AE_IFREG;
  std::string link;
  size_t attribute_bytes = 0;  // of an extended attribute
};

class ArchiveTest : public testing::IngestTest {
 protected:
  using Set = int (*)(archive*);

  // Writes an archive with the given format and filter.
  std::string Pack(const std::string& name, const std::vector<Member>& members,
                   Set format = archive_write_set_format_pax_restricted,
                   Set filter = archive_write_add_filter_none) {
    const std::string path = Folder() + "/" + name;
    archive* out = archive_write_new();
    EXPECT_EQ(format(out), ARCHIVE_OK);
    EXPECT_EQ(filter(out), ARCHIVE_OK);
    EXPECT_EQ(archive_write_open_filename(out, path.c_str()), ARCHIVE_OK);
    for (const Member& member : members) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, member.name.c_str());
      archive_entry_set_filetype(entry, member.type);
      archive_entry_set_perm(entry, 0644);
      archive_entry_set_size(entry, static_cast<la_int64_t>(member.content.size()));
      if (member.type == AE_IFLNK) archive_entry_set_symlink(entry, member.link.c_str());
      if (member.type == AE_IFREG && !member.link.empty())
        archive_entry_set_hardlink(entry, member.link.c_str());
      const std::string attribute(member.attribute_bytes, 'a');
      if (!attribute.empty()) {
        archive_entry_xattr_add_entry(entry, "user.x", attribute.data(), attribute.size());
      }
      EXPECT_EQ(archive_write_header(out, entry), ARCHIVE_OK) << archive_error_string(out);
      archive_write_data(out, member.content.data(), member.content.size());
      archive_entry_free(entry);
    }
    EXPECT_EQ(archive_write_free(out), ARCHIVE_OK);
    return path;
  }

  // The refusal's code; the archive must leave nothing behind.
  absl::Status Refused(const std::string& path) {
    const auto result = Ingest(path);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(EntriesBesideInput(), 0u);
    return result.status();
  }
};

std::vector<Member> GoodMembers(const std::string& folder) {
  return {{folder + "kernelslist.g", "kernel-1.traceg\n"}, {folder + "kernel-1.traceg", SmallKernel()}};
}

TEST_F(ArchiveTest, EveryKindGivesTheSameTrace) {
  std::string digest;
  const std::vector<Member> members = GoodMembers("run/traces/");
  for (const std::string& path :
       {Pack("a.tar", members),
        Pack("a.tar.gz", members, archive_write_set_format_ustar, archive_write_add_filter_gzip),
        Pack("a.tar.xz", members, archive_write_set_format_gnutar, archive_write_add_filter_xz),
        Pack("a.tar.zst", members, archive_write_set_format_pax_restricted, archive_write_add_filter_zstd),
        Pack("a.tar.bz2", members, archive_write_set_format_pax_restricted, archive_write_add_filter_bzip2),
        Pack("a.zip", members, archive_write_set_format_zip), Pack("no-suffix", members)}) {
    const auto result = Ingest(path);
    ASSERT_TRUE(result.ok()) << path << " " << result.status();
    EXPECT_EQ(result->info.kernels[0].warp_instructions, 3u);
    EXPECT_EQ(result->input_bytes, fs::file_size(path));
    if (digest.empty()) digest = result->written.digest;
    EXPECT_EQ(result->written.digest, digest) << path;
    EXPECT_EQ(EntriesBesideInput(), 1u) << "only the output stays";
  }
}

TEST_F(ArchiveTest, MembersThatLeadOutsideAreRefused) {
  for (const char* name :
       {"../kernel-1.traceg", "/tmp/kernel-1.traceg", "a/../../kernel-1.traceg", "a/\x01/kernel-1.traceg"}) {
    std::vector<Member> members = GoodMembers("");
    members.push_back({name, "x"});
    const absl::Status status = Refused(Pack("a.tar", members));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(fs::exists(root_ + "/kernel-1.traceg"));
}

TEST_F(ArchiveTest, LinksAreSkippedNeverFollowed) {
  const std::string secret = Write("secret", "secret\n");
  std::vector<Member> members = {{"kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n"},
                                 {"kernel-1.traceg", SmallKernel()},
                                 {"kernel-2.traceg", "", AE_IFLNK, secret},
                                 {"kernel-3.traceg", "", AE_IFREG, "kernel-1.traceg"}};
  const absl::Status status = Refused(Pack("a.tar", members));
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FaultsOf(status).size(), 2u);
}

TEST_F(ArchiveTest, ALinkedFolderCannotRedirectAMember) {
  fs::create_directory(root_ + "/elsewhere");
  std::vector<Member> members = GoodMembers("");
  members.push_back({"d", "", AE_IFLNK, root_ + "/elsewhere"});
  members.push_back({"d/kernel-9.traceg", "x"});
  const auto result = Ingest(Pack("a.tar", members));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(fs::is_empty(root_ + "/elsewhere"));
  EXPECT_EQ(result->info.warnings[0].kind, "archive_member_skipped");
}

TEST_F(ArchiveTest, AMemberTwiceIsRefused) {
  std::vector<Member> members = GoodMembers("");
  members.push_back(members.back());
  EXPECT_EQ(Refused(Pack("a.tar", members)).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ArchiveTest, MembersAndBytesAreBounded) {
  std::vector<Member> members = GoodMembers("");
  for (int i = 0; i < 20; ++i) members.push_back({"kernel-x" + std::to_string(i), "x"});
  options_.max_archive_members = 10;
  const absl::Status many = Refused(Pack("a.tar", members));
  EXPECT_EQ(many.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(FactOf(many, "limit_members"), "10");
  options_ = IngestOptions();
  options_.max_unpacked_bytes = 1'000'000;
  for (const char* name : {"kernel-1.traceg", "notes.txt"}) {
    const std::string path = Pack("bomb.tar.xz", {{name, std::string(8'000'000, 'x')}},
                                  archive_write_set_format_pax_restricted, archive_write_add_filter_xz);
    EXPECT_EQ(Refused(path).code(), absl::StatusCode::kResourceExhausted) << name;
  }
}

TEST_F(ArchiveTest, HeadersAreNotFree) {
  options_.max_unpacked_bytes = 1'000'000;
  std::vector<Member> members = GoodMembers("");
  for (int i = 0; i < 40; ++i) {
    members.push_back({"kernel-x" + std::to_string(i), "x"});
    members.back().attribute_bytes = 50'000;
  }
  const std::string path =
      Pack("a.tar.xz", members, archive_write_set_format_pax, archive_write_add_filter_xz);
  EXPECT_EQ(Refused(path).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ArchiveTest, OnlyOneLayerOfCompressionIsUnpacked) {
  const auto twice = [](archive* out) {
    archive_write_add_filter_bzip2(out);
    return archive_write_add_filter_bzip2(out);
  };
  const absl::Status status =
      Refused(Pack("a.tar.bz2.bz2", GoodMembers(""), archive_write_set_format_ustar, twice));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("2 layers"), std::string::npos) << status;
}

TEST_F(ArchiveTest, APlainFileListedOftenIsChargedEachTime) {
  std::string list;
  for (int i = 0; i < 100; ++i) list.append("kernel-1.traceg\n");
  const std::string path = Pack("a.tar", {{"kernelslist.g", list}, {"kernel-1.traceg", SmallKernel()}});
  EXPECT_TRUE(Ingest(path).ok());
  fs::remove(Output());
  options_.max_unpacked_bytes = 20'000;  // the archive's 5,000 and a few rounds
  EXPECT_EQ(Refused(path).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ArchiveTest, CutAndDamagedArchivesAreRefused) {
  const std::string path = Pack("a.tar.gz", GoodMembers(""), archive_write_set_format_pax_restricted,
                                archive_write_add_filter_gzip);
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (const size_t size : {whole.size() / 3, whole.size() / 2, whole.size() - 9}) {
    EXPECT_EQ(Refused(Write("a.tar.gz", whole.substr(0, size))).code(), absl::StatusCode::kInvalidArgument)
        << size;
  }
}

TEST_F(ArchiveTest, ListsInSeveralFoldersAreNamed) {
  std::vector<Member> members = GoodMembers("a/");
  for (const Member& member : GoodMembers("b/c/")) members.push_back(member);
  const absl::Status status = Refused(Pack("a.zip", members, archive_write_set_format_zip));
  EXPECT_EQ(FactOf(status, "lists"), "a/kernelslist.g,b/c/kernelslist.g");
}

TEST_F(ArchiveTest, ProgressNeverGoesBackAndEndsAtTheSize) {
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  options_.progress = [&](uint64_t done, uint64_t total) { steps.emplace_back(done, total); };
  const std::string path = Pack("a.tar", GoodMembers(""));
  ASSERT_TRUE(Ingest(path).ok());
  ASSERT_FALSE(steps.empty());
  for (size_t i = 1; i < steps.size(); ++i) EXPECT_GE(steps[i].first, steps[i - 1].first);
  EXPECT_EQ(steps.back(), std::pair(fs::file_size(path), fs::file_size(path)));
}

}  // namespace
}  // namespace sm89
