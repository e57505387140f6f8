#include "server/os/file_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/support/faulty_file_store.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using testing::FaultyFileStore;
using testing::TempDir;

TEST(PlainName, AcceptsWhatPeopleUse) {
  for (const char* name : {"bfs.tar.xz", "a", "kernel-1.traceg", "r\xC3\xA9seau 50.zip", "x(1).zst"}) {
    EXPECT_TRUE(IsSafeFileName(name)) << name;
  }
  EXPECT_TRUE(IsSafeFileName(std::string(200, 'a')));
}

TEST(PlainName, RefusesWhatLeavesTheFolderOrTheLine) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../x"), std::string("a/b"),
        std::string("/etc"), std::string(".hidden"), std::string("-rf"), std::string("a\\b"),
        std::string("a\nb"), std::string("a\0b", 3), std::string("a\x7F"), std::string("dot."),
        std::string("space "), std::string(201, 'a'), std::string("bad\xFF")}) {
    EXPECT_FALSE(IsSafeFileName(name)) << name;
  }
}

TEST(Utf8, KnowsOverlongSurrogateAndTruncatedForms) {
  EXPECT_TRUE(IsValidUtf8("\xF0\x9F\x98\x80"));
  EXPECT_FALSE(IsValidUtf8("\xC0\x80"));          // overlong NUL
  EXPECT_FALSE(IsValidUtf8("\xE0\x80\x80"));      // overlong
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));  // past U+10FFFF
  EXPECT_FALSE(IsValidUtf8("\xE2\x82"));          // cut short
  EXPECT_FALSE(IsValidUtf8("\x80"));
}

TEST(FileStore, AppendsAtAChosenLengthAndDropsWhatWasBehindIt) {
  TempDir dir;
  FileStore& files = PosixFileStore();
  const std::string path = dir.File("f");
  {
    auto file = files.Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append("hello world").ok());
  }
  EXPECT_EQ(files.Create(path).status().code(), absl::StatusCode::kAlreadyExists);
  {
    auto file = files.OpenAt(path, 5);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append("!").ok());
  }
  EXPECT_EQ(*ReadWholeFile(files, path, 100), "hello!");
  EXPECT_EQ(files.OpenAt(path, 7).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadWholeFile(files, path, 5).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(FileStore, DoesNotFollowALinkPutInItsWay) {
  TempDir dir;
  FileStore& files = PosixFileStore();
  ASSERT_TRUE(AtomicWriteFile(files, dir.File("target"), "secret").ok());
  ASSERT_EQ(symlink(dir.File("target").c_str(), dir.File("link").c_str()), 0);
  EXPECT_FALSE(files.OpenRead(dir.File("link")).ok());
  EXPECT_FALSE(files.OpenAt(dir.File("link"), 0).ok());
  EXPECT_FALSE(files.Create(dir.File("link")).ok());
}

TEST(FileStore, AtomicWriteKeepsTheOldBytesWhenTheDiskIsFull) {
  TempDir dir;
  FaultyFileStore files(PosixFileStore());
  ASSERT_TRUE(AtomicWriteFile(files, dir.File("f"), "old").ok());
  files.SetBytesLeft(2);
  EXPECT_EQ(AtomicWriteFile(files, dir.File("f"), "newer").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*ReadWholeFile(files, dir.File("f"), 100), "old");
  EXPECT_EQ(files.List(dir.path())->size(), 1u);  // no temporary left
}

}  // namespace
}  // namespace sm89
