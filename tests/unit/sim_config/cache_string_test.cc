#include "sim/config/cache_string.h"

#include <gtest/gtest.h>

#include <string>

namespace sm89::settings {
namespace {

std::string Message(std::string_view text) {
  CacheConfig cache;
  const CacheConfig before = cache;
  const Outcome bad = ReadCacheString(text, &cache);
  if (!bad) return "fine";
  EXPECT_EQ(cache, before) << "a refused text must not change the cache";
  EXPECT_EQ(bad->expected, kCachePattern);
  return bad->message;
}

TEST(CacheString, FullForm) {
  CacheConfig cache;
  ASSERT_FALSE(ReadCacheString("S:4:128:256,F:B:s:W:X,T:384:48,16:8,32", &cache));
  const CacheConfig expected = {.present = true,
                                .sectored = true,
                                .sets = 4,
                                .line_bytes = 128,
                                .ways = 256,
                                .replacement = 'F',
                                .write_policy = 'B',
                                .allocate = 's',
                                .write_allocate = 'W',
                                .set_index = 'X',
                                .mshr_kind = 'T',
                                .mshr_entries = 384,
                                .mshr_merges = 48,
                                .miss_queue_entries = 16,
                                .result_fifo_entries = 8,
                                .data_port_bytes = 32};
  EXPECT_EQ(cache, expected);
  EXPECT_EQ(WriteCacheString(cache), "S:4:128:256,F:B:s:W:X,T:384:48,16:8,32");
}

TEST(CacheString, ShortFormLeavesNothingUnset) {
  CacheConfig cache;
  cache.result_fifo_entries = 99;
  ASSERT_FALSE(ReadCacheString("N:64:128:16,L:R:f:N:L,S:2:48,4", &cache));
  EXPECT_EQ(cache.result_fifo_entries, 0u);
  EXPECT_EQ(cache.data_port_bytes, 128u) << "no port width is a port as wide as the line";
  EXPECT_EQ(WriteCacheString(cache), "N:64:128:16,L:R:f:N:L,S:2:48,4:0,128");
}

TEST(CacheString, None) {
  CacheConfig cache;
  ASSERT_FALSE(ReadCacheString("none", &cache));
  EXPECT_FALSE(cache.present);
  EXPECT_EQ(WriteCacheString(cache), "none");
}

TEST(CacheString, FaultsNameGroupAndField) {
  EXPECT_EQ(Message(""), "group 'geometry', field 'type': '' is not one of the letters NS");
  EXPECT_EQ(Message("Q:4:128:64,L:T:m:L:L,A:384:48,16"),
            "group 'geometry', field 'type': 'Q' is not one of the letters NS");
  EXPECT_EQ(Message("S:0:128:64,L:T:m:L:L,A:384:48,16"),
            "group 'geometry', field 'sets': outside the range 1..1048576");
  EXPECT_EQ(Message("S:4:128,L:T:m:L:L,A:384:48,16"), "group 'geometry', field 'ways': missing");
  EXPECT_EQ(Message("S:4:128:64:1,L:T:m:L:L,A:384:48,16"), "group 'geometry': 5 fields instead of 4");
  EXPECT_EQ(Message("S:4:128:64,L:T:m:L,A:384:48,16:0,32"), "group 'policy', field 'set index': missing");
  EXPECT_EQ(Message("S:4:128:64,L:T:m:LL:L,A:384:48,16"),
            "group 'policy', field 'write allocation': 'LL' is not one of the letters NWFL");
  EXPECT_EQ(Message("S:4:128:64,l:T:m:L:L,A:384:48,16"),
            "group 'policy', field 'replacement': 'l' is not one of the letters LF");
  EXPECT_EQ(Message("S:4:128:64,L:T:m:L:L,A:-1:48,16"),
            "group 'mshr', field 'entries': a negative value is not possible");
  EXPECT_EQ(Message("S:4:128:64,L:T:m:L:L"), "group 'mshr': missing");
  EXPECT_EQ(Message("S:4:128:64,L:T:m:L:L,A:384:48"), "group 'miss queue': missing");
  EXPECT_EQ(Message("S:4:128:64,L:T:m:L:L,A:384:48,16:0:1"), "group 'miss queue': 3 fields instead of 2");
  EXPECT_EQ(Message("S:4:128:64,L:T:m:L:L,A:384:48,16:0,32,9"),
            "group 'data port': 1 field(s) too many behind the last one");
  EXPECT_EQ(Message("NONE"), "group 'geometry', field 'type': 'NONE' is not one of the letters NS");
}

TEST(CacheString, GeometryMustMakeSense) {
  EXPECT_EQ(Message("S:4:64:64,L:T:m:L:L,A:384:48,16"),
            "group 'geometry', field 'line bytes': a sectored line has 4 sectors of 32 bytes, so 128");
  EXPECT_EQ(Message("N:4:96:64,L:T:m:L:L,A:384:48,16"),
            "group 'geometry', field 'line bytes': not a power of two");
  EXPECT_EQ(Message("N:4:64:64,L:T:m:L:L,A:384:48,16"), "fine");
  EXPECT_EQ(Message("S:4:128:64,L:T:m:L:L,A:384:48,16:0,48"),
            "group 'data port', field 'bytes': does not divide the line");
}

}  // namespace
}  // namespace sm89::settings
