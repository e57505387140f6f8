#include "server/store/config_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/fault.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using testing::FakeClock;
using testing::TempDir;

class ConfigStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { Restart(); }
  void Restart() {
    store_.reset();
    db_.reset();
    auto db = Database::Open({dir_.File("db")});
    ASSERT_TRUE(db.ok()) << db.status();
    db_ = *std::move(db);
    auto store = ConfigStore::Open(*db_, clock_, {3, 10'000});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  static NewConfig Request(const std::string& id, const std::string& text,
                           const std::string& base = "RTX4090") {
    NewConfig request;
    request.id = id;
    request.base = base;
    request.text = text;
    return request;
  }
  static std::string ValueOf(const Config& config, const std::string& name) {
    for (const ResolvedSetting& s : config.settings) {
      if (s.name == name) return s.value;
    }
    return "absent";
  }
  TempDir dir_;
  FakeClock clock_;
  std::unique_ptr<Database> db_;
  std::unique_ptr<ConfigStore> store_;
};

// Settings that the tests may change: GPGPU-Sim's names, which are not going to move.
constexpr char kClusters[] = "-gpgpu_n_clusters";

TEST_F(ConfigStoreTest, PresetsResolveWithOverrides) {
  const auto preset = store_->Resolve("", {});
  ASSERT_TRUE(preset.ok()) << preset.status();
  EXPECT_EQ(preset->id, "RTX4090");
  EXPECT_TRUE(preset->preset);
  EXPECT_TRUE(preset->worker_text().empty());
  const std::vector<NamedOverride> overrides = {{"gpgpu_n_clusters", "64"}};
  const auto changed = store_->Resolve("RTX4090", overrides);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_NE(changed->config.digest, preset->config.digest);
  EXPECT_EQ(store_->Resolve("none", {}).status().code(), absl::StatusCode::kNotFound);
  const std::vector<NamedOverride> wrong = {{"gpgpu_n_clusters", "many"}, {"no_such", "1"}};
  EXPECT_EQ(FaultsOf(store_->Resolve("RTX4090", wrong).status()).size(), 2u);
}

TEST_F(ConfigStoreTest, ACreatedOneStandsOnItsBaseAndSurvivesARestart) {
  NewConfig request = Request("mine", "# mine\n-gpgpu_n_clusters 64\n");
  request.overrides = {{"gpgpu_n_clusters", "60"}};
  const auto created = store_->Create(request, false);
  ASSERT_TRUE(created.ok()) << created.status();
  Restart();
  const auto mine = store_->Resolve("mine", {});
  ASSERT_TRUE(mine.ok()) << mine.status();
  EXPECT_EQ(mine->config.digest, created->config.digest);
  EXPECT_EQ(ValueOf(mine->config, kClusters), "60");
  // The worker gets the same from the text alone.
  EXPECT_EQ(LoadConfigText("x", mine->worker_text(), {}, {})->digest, mine->config.digest);
}

TEST_F(ConfigStoreTest, ABaseThatIsDeletedDoesNotChangeWhatStandsOnIt) {
  ASSERT_TRUE(store_->Create(Request("base", "-gpgpu_n_clusters 64"), false).ok());
  const auto derived = store_->Create(Request("derived", "", "base"), false);
  ASSERT_TRUE(derived.ok()) << derived.status();
  EXPECT_EQ(derived->config.digest, store_->Resolve("base", {})->config.digest);
  ASSERT_TRUE(store_->Delete("base", "").ok());
  EXPECT_EQ(ValueOf(store_->Resolve("derived", {})->config, kClusters), "64");
  EXPECT_EQ(store_->Create(Request("x", "", "base"), false).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ConfigStoreTest, FaultsHaveTheLinesOfTheTextWhateverTheBase) {
  ASSERT_TRUE(store_->Create(Request("base", "-gpgpu_n_clusters 64"), false).ok());
  for (const char* base : {"", "RTX4090", "base"}) {
    const auto config = store_->Validate(base, "# one\n-no_such_option 1\n-gpgpu_n_clusters x\n", {}, false);
    ASSERT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument) << base;
    const std::vector<Fault> faults = FaultsOf(config.status());
    ASSERT_EQ(faults.size(), 2u) << base;
    EXPECT_EQ(faults[0].line, 2u);
    EXPECT_EQ(faults[1].line, 3u);
  }
}

TEST_F(ConfigStoreTest, TextsDoNotReadFiles) {
  EXPECT_EQ(store_->Validate("", "-include /etc/passwd", {}, false).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Validate("", "-include ../../secret", {}, false).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ConfigStoreTest, RefusesBadIdsPresetsAndLargeTexts) {
  for (const char* id : {"", "../x", "a/b", "-x", ".x", "a b", "\xC3\xA9"}) {
    EXPECT_EQ(store_->Create(Request(id, ""), false).status().code(), absl::StatusCode::kInvalidArgument)
        << id;
  }
  EXPECT_EQ(store_->Create(Request(std::string(64, 'a'), ""), false).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Create(Request("RTX4090", ""), false).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(store_->Create(Request("big", std::string(10'001, '\n')), false).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ConfigStoreTest, RepeatsGiveTheFirstAnswer) {
  NewConfig request = Request("mine", "-gpgpu_n_clusters 64");
  request.request_id = "r1";
  ASSERT_TRUE(store_->Create(request, false).ok());
  EXPECT_TRUE(store_->Create(request, false).ok());
  EXPECT_EQ(store_->List(0, 100)->configs.size(), Presets().size() + 1);
  NewConfig other = request;
  other.text = "-gpgpu_n_clusters 60";
  EXPECT_EQ(store_->Create(other, false).status().code(), absl::StatusCode::kAlreadyExists);
  other.request_id = "";
  EXPECT_EQ(store_->Create(other, false).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(ConfigStoreTest, ValidateOnlyStoresNothing) {
  EXPECT_TRUE(store_->Create(Request("mine", ""), true).ok());
  EXPECT_EQ(store_->Resolve("mine", {}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ConfigStoreTest, PagesHoldEachOnceAndTheLimitHolds) {
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(store_->Create(Request(id, ""), false).ok());
  EXPECT_EQ(store_->Create(Request("d", ""), false).status().code(), absl::StatusCode::kResourceExhausted);
  std::vector<std::string> ids;
  int64_t after = 0;
  do {
    const auto page = store_->List(after, 1);
    ASSERT_TRUE(page.ok());
    ASSERT_EQ(page->configs.size(), 1u);
    EXPECT_FALSE(page->configs[0].digest.empty());
    ids.push_back(page->configs[0].id);
    after = page->next_after;
  } while (after != 0);
  std::vector<std::string> expected;
  for (const PresetInfo& preset : Presets()) expected.push_back(preset.name);
  for (const char* id : {"a", "b", "c"}) expected.emplace_back(id);
  EXPECT_EQ(ids, expected);
}

TEST_F(ConfigStoreTest, DeletesCreatedOnesOnly) {
  EXPECT_EQ(store_->Delete("RTX4090", "").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->Delete("none", "").code(), absl::StatusCode::kNotFound);
  const auto created = store_->Create(Request("mine", ""), false);
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(store_->Delete("mine", "v9").code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(store_->Delete("mine", created->etag()).ok());
}

}  // namespace
}  // namespace sm89
