#include "server/os/id_source.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sm89 {
namespace {

TEST(IdSource, IdsAreWellFormedAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = SystemIdSource().NewId();
    EXPECT_TRUE(IsId(id)) << id;
    EXPECT_TRUE(seen.insert(id).second) << id;
  }
}

TEST(IdSource, RefusesWhatItWouldNotGive) {
  for (const char* id :
       {"", "abc", "ABCDEFGHABCDEFGH", "../../../etc/pwd", "abcdefghijklmno1", "abcdefghijklmnopq"}) {
    EXPECT_FALSE(IsId(id)) << id;
  }
}

}  // namespace
}  // namespace sm89
