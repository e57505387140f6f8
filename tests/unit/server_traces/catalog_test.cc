// Listing, deleting, and what jobs ask of traces.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/trace_fixture.h"

namespace sm89 {
namespace {

using testing::TraceFixture;

class CatalogTest : public TraceFixture {};

TEST_F(CatalogTest, PagesHoldEveryTraceOnceNewestFirst) {
  std::vector<std::string> ids;
  for (int i = 0; i < 7; ++i) ids.push_back(Upload("bytes" + std::to_string(i))->id);
  std::vector<std::string> listed;
  int64_t before = 0;
  int pages = 0;
  do {
    const auto page = manager_->List({}, before, 3);
    ASSERT_TRUE(page.ok());
    EXPECT_LE(page->traces.size(), 3u);
    for (const TraceRecord& record : page->traces) listed.push_back(record.id);
    before = page->next_before;
    ++pages;
  } while (before != 0);
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(listed, std::vector<std::string>(ids.rbegin(), ids.rend()));
}

TEST_F(CatalogTest, AFullLastPageHasNoNext) {
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Upload("bytes" + std::to_string(i)).ok());
  const auto first = manager_->List({}, 0, 2);
  EXPECT_NE(first->next_before, 0);
  EXPECT_EQ(manager_->List({}, first->next_before, 2)->next_before, 0);
}

TEST_F(CatalogTest, FiltersByStateAndName) {
  ASSERT_TRUE(Upload("a", "bfs_%.tar.xz").ok());
  ASSERT_TRUE(Upload("b", "gemm.zip").ok());
  Begin(Request("c", "bfs2.zip"));
  EXPECT_EQ(manager_->List({TraceState::kReady, ""}, 0, 10)->traces.size(), 2u);
  EXPECT_EQ(manager_->List({{}, "bfs"}, 0, 10)->traces.size(), 2u);
  EXPECT_EQ(manager_->List({{}, "_%"}, 0, 10)->traces.size(), 1u);  // no wildcards
  EXPECT_EQ(manager_->List({TraceState::kUploading, "bfs"}, 0, 10)->traces.size(), 1u);
  EXPECT_EQ(manager_->counts().traces, 3u);
  EXPECT_EQ(manager_->counts().uploads_open, 1u);
}

TEST_F(CatalogTest, DeletesOnlyTheVersionThatWasSeen) {
  const auto trace = Upload("0123456789");
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(manager_->Delete(trace->id, "v0").code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(manager_->Delete(trace->id, trace->etag()).ok());
  EXPECT_EQ(manager_->Delete(trace->id, "").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(blobs_->total_bytes(), 0u);
}

TEST_F(CatalogTest, KeepsWhatAJobUses) {
  const auto trace = Upload("0123456789");
  ASSERT_TRUE(trace.ok());
  bool used = true;
  manager_->SetInUseCheck([&](Transaction&, const std::string& id) -> absl::StatusOr<bool> {
    EXPECT_EQ(id, trace->id);
    return used;
  });
  EXPECT_EQ(manager_->Delete(trace->id, "").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(blobs_->OpenBlob(trace->content.blob).ok());
  used = false;
  EXPECT_TRUE(manager_->Delete(trace->id, "").ok());
}

TEST_F(CatalogTest, AJobIsAcceptedOnReadyTracesOnly) {
  const auto ready = Upload("0123456789");
  ASSERT_TRUE(ready.ok());
  const std::string open = Begin(Request("x"));
  ASSERT_TRUE(db_->Write([&](Transaction& tx) {
                   EXPECT_EQ(manager_->RequireReady(tx, ready->id)->content.digest, "abc");
                   EXPECT_EQ(manager_->RequireReady(tx, open).status().code(),
                             absl::StatusCode::kFailedPrecondition);
                   EXPECT_EQ(manager_->RequireReady(tx, "none").status().code(), absl::StatusCode::kNotFound);
                   return absl::OkStatus();
                 })
                  .ok());
}

TEST_F(CatalogTest, TwoTracesWithTheSameContentShareTheBlob) {
  const auto first = Upload("one packing");
  const auto second = Upload("another packing");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->content.blob, second->content.blob);
  ASSERT_TRUE(manager_->Delete(first->id, "").ok());
  EXPECT_TRUE(blobs_->OpenBlob(second->content.blob).ok());
}

}  // namespace
}  // namespace sm89
