#include "client/checksum.h"

#include <gtest/gtest.h>

#include <set>

namespace sm89::client {
namespace {

// Check values published for the algorithms.
TEST(ChecksumTest, Crc32HasThePublishedCheckValue) { EXPECT_EQ(Crc32("123456789", 9), 0xcbf43926u); }

TEST(ChecksumTest, Sha256HasThePublishedValues) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(ChecksumTest, PiecesGiveTheSameAsTheWhole) {
  Sha256 hash;
  hash.Update("a", 1);
  hash.Update("", 0);
  hash.Update("bc", 2);
  EXPECT_EQ(hash.FinishHex(), Sha256Hex("abc"));
}

TEST(ChecksumTest, UuidsAreVersionFourAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = NewUuid();
    ASSERT_EQ(uuid.size(), 36u);
    EXPECT_EQ(uuid[8], '-');
    EXPECT_EQ(uuid[13], '-');
    EXPECT_EQ(uuid[14], '4');
    EXPECT_EQ(uuid[18], '-');
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
    EXPECT_EQ(uuid[23], '-');
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 100u);
}

}  // namespace
}  // namespace sm89::client
