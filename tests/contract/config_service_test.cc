// What clients of ConfigService may rely on, over a real connection.
#include "server/service/config_service.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sm89/v1/config.grpc.pb.h"
#include "tests/contract/grpc_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using grpc::ClientContext;
using grpc::StatusCode;
using testing::DetailOf;
using testing::LocalServer;

class ConfigServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto db = Database::Open({dir_.File("db")});
    ASSERT_TRUE(db.ok()) << db.status();
    db_ = *std::move(db);
    auto store = ConfigStore::Open(*db_, clock_, {100, 100'000});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    executor_ = std::make_unique<Executor>(2, 100);
    service_ = MakeConfigService(*store_, *executor_);
    server_ = std::make_unique<LocalServer>(std::vector<grpc::Service*>{service_.get()});
    stub_ = v1::ConfigService::NewStub(server_->channel());
  }
  void TearDown() override {
    stub_.reset();
    server_.reset();
    executor_.reset();
    service_.reset();
  }
  grpc::Status Create(const v1::CreateConfigRequest& request, v1::Config* config) {
    ClientContext context;
    return stub_->CreateConfig(&context, request, config);
  }
  grpc::Status Get(const v1::GetConfigRequest& request, v1::Config* config) {
    ClientContext context;
    return stub_->GetConfig(&context, request, config);
  }
  static v1::CreateConfigRequest Request(const std::string& id) {
    v1::CreateConfigRequest request;
    request.set_config_id(id);
    request.set_base("configs/RTX4090");
    request.set_text("-gpgpu_n_clusters 64\n");
    return request;
  }
  static const v1::ResolvedSetting* Find(const v1::Config& config, const std::string& name) {
    for (const v1::ResolvedSetting& s : config.settings()) {
      if (s.name() == name) return &s;
    }
    return nullptr;
  }

  testing::TempDir dir_;
  testing::FakeClock clock_;
  std::unique_ptr<Database> db_;
  std::unique_ptr<ConfigStore> store_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<LocalServer> server_;
  std::unique_ptr<v1::ConfigService::Stub> stub_;
};

TEST_F(ConfigServiceTest, GetShowsEveryValueWithItsOrigin) {
  v1::GetConfigRequest request;
  request.set_name("configs/RTX4090");
  v1::Config plain;
  ASSERT_TRUE(Get(request, &plain).ok());
  EXPECT_TRUE(plain.preset());
  for (const SettingInfo& info : SettingsSchema()) {
    EXPECT_TRUE(!info.has_effect || Find(plain, info.name) != nullptr) << info.name;
  }
  v1::Override* o = request.add_overrides();
  o->set_name("gpgpu_n_clusters");
  o->set_value("64");
  v1::Config changed;
  ASSERT_TRUE(Get(request, &changed).ok());
  EXPECT_NE(changed.digest(), plain.digest());
  const v1::ResolvedSetting* setting = Find(changed, "-gpgpu_n_clusters");
  ASSERT_NE(setting, nullptr);
  EXPECT_EQ(setting->value(), "64");
  EXPECT_EQ(setting->origin_kind(), "override");
}

TEST_F(ConfigServiceTest, EveryPresetIsListedAndResolves) {
  ClientContext context;
  v1::ListConfigsResponse page;
  ASSERT_TRUE(stub_->ListConfigs(&context, {}, &page).ok());
  const std::vector<PresetInfo> presets = Presets();
  ASSERT_EQ(static_cast<size_t>(page.configs_size()), presets.size());
  std::set<std::string> digests;
  for (const PresetInfo& preset : presets) {
    v1::GetConfigRequest request;
    request.set_name("configs/" + preset.name);
    v1::Config config;
    ASSERT_TRUE(Get(request, &config).ok()) << preset.name;
    EXPECT_EQ(config.description(), preset.description);
    EXPECT_EQ(config.warnings_size(), 0) << preset.name;
    EXPECT_TRUE(digests.insert(config.digest()).second) << preset.name;
  }
  // A user's own configuration may build on any of them.
  v1::CreateConfigRequest request = Request("mine");
  request.set_base("configs/RTX4060_LAPTOP");
  request.set_text("-include sm89/tc_strategy_registry.cfg\n-gpgpu_sm89_tc_fp8_enabled 0\n");
  v1::Config mine;
  ASSERT_TRUE(Create(request, &mine).ok());
  EXPECT_EQ(Find(mine, "-gpgpu_n_clusters")->value(), "24");
  EXPECT_EQ(Find(mine, "-gpgpu_sm89_tc_fp8_enabled")->value(), "0");
}

TEST_F(ConfigServiceTest, TheSchemaIsComplete) {
  ClientContext context;
  v1::GetSchemaResponse response;
  ASSERT_TRUE(stub_->GetSchema(&context, {}, &response).ok());
  EXPECT_EQ(static_cast<size_t>(response.settings_size()), SettingsSchema().size());
  std::set<std::string> groups;
  for (const v1::SettingSchema& s : response.settings()) {
    EXPECT_FALSE(s.type().empty()) << s.name();
    EXPECT_FALSE(s.help().empty()) << s.name();
    groups.insert(s.group());
  }
  v1::GetSchemaRequest one;
  one.set_group(*groups.begin());
  ClientContext second;
  v1::GetSchemaResponse part;
  ASSERT_TRUE(stub_->GetSchema(&second, one, &part).ok());
  EXPECT_LT(part.settings_size(), response.settings_size());
  one.set_group("nonsense");
  ClientContext third;
  EXPECT_EQ(stub_->GetSchema(&third, one, &part).error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(ConfigServiceTest, TensorModesFollowTheConfiguration) {
  v1::ListTensorModesRequest request;
  request.set_name("configs/RTX4090");
  v1::ListTensorModesResponse response;
  {
    ClientContext context;
    ASSERT_TRUE(stub_->ListTensorModes(&context, request, &response).ok());
  }
  EXPECT_EQ(response.num_sms(), 128u);
  EXPECT_EQ(response.core_mhz(), 2520);
  const auto fp16 = [&]() -> const v1::TensorMode& { return response.modes(0); };
  ASSERT_GT(response.modes_size(), 30);
  EXPECT_EQ(fp16().code(), "HMMA");
  EXPECT_EQ(fp16().macs(), 2048u);
  EXPECT_EQ(fp16().interval_cycles(), 16u);
  EXPECT_NEAR(fp16().peak_tops(), 330.3, 0.05);  // NVIDIA's Ada whitepaper, appendix A
  for (const v1::TensorMode& mode : response.modes()) {
    EXPECT_FALSE(mode.source().empty());
    EXPECT_TRUE(mode.disabled_by().empty());
  }
  v1::Override* off = request.add_overrides();
  off->set_name("gpgpu_sm89_tc_sparse_enabled");
  off->set_value("0");
  ClientContext second;
  ASSERT_TRUE(stub_->ListTensorModes(&second, request, &response).ok());
  for (const v1::TensorMode& mode : response.modes())
    EXPECT_EQ(mode.disabled_by(), mode.sparse() ? "-gpgpu_sm89_tc_sparse_enabled" : "") << mode.code();
  request.set_name("configs/none");
  ClientContext third;
  EXPECT_EQ(stub_->ListTensorModes(&third, request, &response).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(ConfigServiceTest, ValidateGivesAllErrorsWithLines) {
  v1::ValidateConfigRequest request;
  request.set_base("configs/RTX4090");
  request.set_text("# c\n-no_such 1\n-gpgpu_n_clusters many\n");
  v1::ValidateConfigResponse response;
  {
    ClientContext context;
    ASSERT_TRUE(stub_->ValidateConfig(&context, request, &response).ok());
  }
  EXPECT_FALSE(response.valid());
  ASSERT_EQ(response.errors_size(), 2);
  EXPECT_EQ(response.errors(0).line(), 2u);
  EXPECT_EQ(response.errors(1).line(), 3u);
  request.set_text("-gpgpu_n_clusters 64\n");
  {
    ClientContext context;
    ASSERT_TRUE(stub_->ValidateConfig(&context, request, &response).ok());
  }
  EXPECT_TRUE(response.valid());
  EXPECT_FALSE(response.digest().empty());
  request.set_base("configs/none");
  ClientContext context;
  EXPECT_EQ(stub_->ValidateConfig(&context, request, &response).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(ConfigServiceTest, CreatedOnesAreListedDiffedAndDeleted) {
  v1::Config created;
  const grpc::Status status = Create(Request("mine"), &created);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(created.name(), "configs/mine");
  EXPECT_FALSE(created.etag().empty());

  std::set<std::string> names;
  v1::ListConfigsRequest list;
  list.set_page_size(1);
  do {
    ClientContext context;
    v1::ListConfigsResponse page;
    ASSERT_TRUE(stub_->ListConfigs(&context, list, &page).ok());
    ASSERT_EQ(page.configs_size(), 1);
    EXPECT_TRUE(names.insert(page.configs(0).name()).second);
    EXPECT_EQ(page.configs(0).settings_size(), 0);
    list.set_page_token(page.next_page_token());
  } while (!list.page_token().empty());
  EXPECT_EQ(names.count("configs/mine") + names.count("configs/RTX4090"), 2u);

  v1::DiffConfigsRequest diff;
  diff.set_left("configs/RTX4090");
  diff.set_right("configs/mine");
  v1::DiffConfigsResponse differences;
  {
    ClientContext context;
    ASSERT_TRUE(stub_->DiffConfigs(&context, diff, &differences).ok());
  }
  ASSERT_GE(differences.differences_size(), 1);

  const auto remove = [&](const std::string& name, const std::string& etag) {
    ClientContext context;
    v1::DeleteConfigRequest request;
    request.set_name(name);
    request.set_etag(etag);
    v1::DeleteConfigResponse response;
    return stub_->DeleteConfig(&context, request, &response).error_code();
  };
  EXPECT_EQ(remove("configs/mine", "v77"), StatusCode::ABORTED);
  EXPECT_EQ(remove("configs/mine", created.etag()), StatusCode::OK);
  EXPECT_EQ(remove("configs/mine", ""), StatusCode::NOT_FOUND);
  EXPECT_EQ(remove("configs/RTX4090", ""), StatusCode::FAILED_PRECONDITION);
}

TEST_F(ConfigServiceTest, CreateRefusesWithFieldAndLine) {
  v1::Config config;
  for (const char* id : {"", "../x", "a/b", "-x"}) {
    const grpc::Status status = Create(Request(id), &config);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << id;
    EXPECT_EQ(DetailOf(status).faults(0).field(), "config_id");
    EXPECT_EQ(DetailOf(status).reason(), "CONFIG_INVALID_ARGUMENT");
  }
  v1::CreateConfigRequest wrong = Request("mine");
  wrong.set_text("\n\n-gpgpu_n_clusters many");
  const grpc::Status status = Create(wrong, &config);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(status).faults(0).line(), 3u);
  wrong = Request("mine");
  wrong.set_request_id("x");
  EXPECT_EQ(Create(wrong, &config).error_code(), StatusCode::INVALID_ARGUMENT);
  wrong = Request("mine");
  wrong.set_base("RTX4090");  // not a resource name
  EXPECT_EQ(Create(wrong, &config).error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(ConfigServiceTest, ValidateOnlyStoresNothingAndRepeatsGiveTheSame) {
  v1::CreateConfigRequest request = Request("mine");
  request.set_request_id("123e4567-e89b-42d3-a456-426614174000");
  request.set_validate_only(true);
  v1::Config config;
  ASSERT_TRUE(Create(request, &config).ok());
  v1::GetConfigRequest get;
  get.set_name("configs/mine");
  EXPECT_EQ(Get(get, &config).error_code(), StatusCode::NOT_FOUND);
  request.set_validate_only(false);
  ASSERT_TRUE(Create(request, &config).ok());
  ASSERT_TRUE(Create(request, &config).ok());
  request.set_text("-gpgpu_n_clusters 60");
  EXPECT_EQ(Create(request, &config).error_code(), StatusCode::ALREADY_EXISTS);
}

}  // namespace
}  // namespace sm89
