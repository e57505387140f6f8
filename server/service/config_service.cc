#include "server/service/config_service.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/service/paging.h"
#include "server/service/status_conversion.h"
#include "server/service/unary_call.h"
#include "server/service/validation.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/base/version.h"
#include "sim/isa/tensor_modes.h"
#include "sim/tensor/tensor_timing.h"
#include "sm89/v1/config.grpc.pb.h"

namespace sm89 {
namespace {

using Context = grpc::CallbackServerContext;
using Unary = grpc::ServerUnaryReactor;

constexpr char kSubject[] = "CONFIG";
constexpr uint32_t kPageSize = 50;
constexpr uint32_t kPageSizeMax = 200;  // each entry is resolved
constexpr size_t kTextBytes = 4096;
constexpr size_t kDescriptionBytes = 1000;
constexpr size_t kWarningsMax = 100;

std::string WarningText(const ConfigWarning& warning) {
  Fault fault;
  fault.file = warning.file;
  fault.line = warning.line;
  fault.message = warning.message;
  return CleanText(FormatFault(fault), kTextBytes);
}

template <typename Message>
void AddWarnings(const Config& config, Message* message) {
  for (const ConfigWarning& warning : config.warnings) {
    if (static_cast<size_t>(message->warnings_size()) >= kWarningsMax) return;
    message->add_warnings(WarningText(warning));
  }
}

template <typename Message>
void AddSettings(const Config& config, Message* message) {
  for (const ResolvedSetting& setting : config.settings) {
    v1::ResolvedSetting* out = message->add_settings();
    out->set_name(setting.name);
    out->set_value(CleanText(setting.value, kTextBytes));
    out->set_origin_kind(setting.origin.kind);
    out->set_origin_file(CleanText(setting.origin.file, kTextBytes));
    out->set_origin_line(setting.origin.line);
  }
}

void ToMessage(const NamedConfig& named, v1::Config* message) {
  message->set_name("configs/" + named.id);
  message->set_description(named.description);
  message->set_preset(named.preset);
  message->set_digest(named.config.digest);
  message->set_text(named.text);
  AddSettings(named.config, message);
  AddWarnings(named.config, message);
  if (named.preset) return;
  message->mutable_create_time()->set_unix_nanos(named.create_unix_nanos);
  message->set_etag(named.etag());
}

// Names that programs may rely on.
std::string_view ProtocolName(SettingType type) {
  switch (type) {
    case SettingType::kUint:
      return "uint";
    case SettingType::kInt:
      return "int";
    case SettingType::kBool:
      return "bool";
    case SettingType::kDouble:
      return "double";
    case SettingType::kEnum:
      return "enum";
    case SettingType::kCacheString:
      return "cache_string";
    case SettingType::kClockDomains:
      return "clock_domains";
    case SettingType::kList:
      return "list";
    case SettingType::kString:
      return "string";
  }
  return "";
}

void ToMessage(const SettingInfo& info, v1::SettingSchema* message) {
  message->set_name(info.name);
  for (const std::string& alias : info.aliases) message->add_aliases(alias);
  message->set_type(std::string(ProtocolName(info.type)));
  message->set_unit(info.unit);
  message->set_range(info.range);
  message->set_default_value(info.default_value);
  message->set_help(info.help);
  message->set_source(info.source);
  message->set_group(info.group);
  message->set_has_effect(info.has_effect);
}

void ToMessage(const TensorMode& mode, const GpuConfig& gpu, v1::TensorMode* message) {
  const UnitTiming timing = StrategyOf(mode).Timing(mode, gpu.exec);
  message->set_code(std::string(mode.mnemonic));
  message->set_inputs(std::string(mode.inputs));
  message->set_accumulator(std::string(Name(mode.accumulator)));
  message->set_m(mode.m);
  message->set_n(mode.n);
  message->set_k(mode.k);
  message->set_sparse(mode.sparse);
  message->set_macs(mode.macs());
  message->set_interval_cycles(timing.interval_cycles);
  message->set_latency_cycles(timing.latency_cycles);
  message->set_peak_tops(PeakTops(mode, gpu));
  message->set_source(SourceOf(mode, gpu.exec));
  message->set_disabled_by(std::string(DisablingSetting(mode, gpu.exec)));
}

absl::StatusOr<std::string> ConfigId(std::string_view field, const std::string& name) {
  return ParseName(field, name, "configs", IsConfigId);
}

// An absent base or name is allowed where the protocol says so.
absl::StatusOr<std::string> OptionalConfigId(std::string_view field, const std::string& name) {
  if (name.empty()) return std::string();
  return ConfigId(field, name);
}

class ConfigServiceImpl final : public v1::ConfigService::CallbackService {
 public:
  ConfigServiceImpl(ConfigStore& configs, Executor& executor) : configs_(configs), executor_(executor) {}

  Unary* ListConfigs(Context* context, const v1::ListConfigsRequest* request,
                     v1::ListConfigsResponse* response) override {
    return RunUnary(context, executor_, kSubject,
                    [this, request, response] { return List(*request, response); });
  }

  Unary* GetConfig(Context* context, const v1::GetConfigRequest* request, v1::Config* response) override {
    return RunUnary(context, executor_, kSubject, [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, ConfigId("name", request->name()));
      ASSIGN_OR_RETURN(const auto overrides, ToOverrides("overrides", request->overrides()));
      ASSIGN_OR_RETURN(const NamedConfig named, configs_.Resolve(id, overrides));
      ToMessage(named, response);
      *response->mutable_overrides() = request->overrides();
      return absl::OkStatus();
    });
  }

  Unary* GetSchema(Context* context, const v1::GetSchemaRequest* request,
                   v1::GetSchemaResponse* response) override {
    return RunUnary(context, executor_, kSubject, [request, response]() -> absl::Status {
      for (const SettingInfo& info : SettingsSchema()) {
        if (request->group().empty() || request->group() == info.group) {
          ToMessage(info, response->add_settings());
        }
      }
      if (response->settings_size() == 0) {
        return FieldError("group", request->group(), "a group that the whole schema shows", "no such group");
      }
      response->set_model_version(std::string(kModelVersion));
      return absl::OkStatus();
    });
  }

  Unary* ListTensorModes(Context* context, const v1::ListTensorModesRequest* request,
                         v1::ListTensorModesResponse* response) override {
    return RunUnary(context, executor_, kSubject, [this, request, response]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, ConfigId("name", request->name()));
      ASSIGN_OR_RETURN(const auto overrides, ToOverrides("overrides", request->overrides()));
      ASSIGN_OR_RETURN(const NamedConfig named, configs_.Resolve(id, overrides));
      const GpuConfig& gpu = named.config.gpu;
      for (const TensorMode& mode : TensorModes()) ToMessage(mode, gpu, response->add_modes());
      response->set_num_sms(gpu.sm.num_sms);
      response->set_core_mhz(gpu.clocks.core_khz / 1000.0);
      response->set_digest(named.config.digest);
      response->set_model_version(std::string(kModelVersion));
      return absl::OkStatus();
    });
  }

  Unary* ValidateConfig(Context* context, const v1::ValidateConfigRequest* request,
                        v1::ValidateConfigResponse* response) override {
    return RunUnary(context, executor_, kSubject,
                    [this, request, response] { return Validate(*request, response); });
  }

  Unary* CreateConfig(Context* context, const v1::CreateConfigRequest* request,
                      v1::Config* response) override {
    return RunUnary(context, executor_, kSubject,
                    [this, request, response] { return Create(*request, response); });
  }

  Unary* DiffConfigs(Context* context, const v1::DiffConfigsRequest* request,
                     v1::DiffConfigsResponse* response) override {
    return RunUnary(context, executor_, kSubject,
                    [this, request, response] { return Diff(*request, response); });
  }

  Unary* DeleteConfig(Context* context, const v1::DeleteConfigRequest* request,
                      v1::DeleteConfigResponse*) override {
    return RunUnary(context, executor_, kSubject, [this, request]() -> absl::Status {
      ASSIGN_OR_RETURN(const std::string id, ConfigId("name", request->name()));
      const absl::Status deleted = configs_.Delete(id, request->etag());
      return absl::IsNotFound(deleted) && request->allow_missing() ? absl::OkStatus() : deleted;
    });
  }

 private:
  absl::Status List(const v1::ListConfigsRequest& request, v1::ListConfigsResponse* response) {
    ASSIGN_OR_RETURN(const uint32_t page_size, CheckPageSize(request.page_size(), kPageSize, kPageSizeMax));
    ASSIGN_OR_RETURN(const int64_t after, ReadPageToken("configs", request.page_token()));
    ASSIGN_OR_RETURN(const ConfigPage page, configs_.List(after, page_size));
    for (const ConfigPage::Entry& entry : page.configs) {
      v1::Config* message = response->add_configs();
      message->set_name("configs/" + entry.id);
      message->set_description(entry.description);
      message->set_preset(entry.preset);
      message->set_digest(entry.digest);
      for (const std::string& problem : entry.problems) message->add_warnings(CleanText(problem, kTextBytes));
      if (entry.preset) continue;
      message->mutable_create_time()->set_unix_nanos(entry.create_unix_nanos);
      message->set_etag(absl::StrCat("v", entry.version));
    }
    response->set_next_page_token(MakePageToken("configs", page.next_after));
    return absl::OkStatus();
  }

  absl::Status Validate(const v1::ValidateConfigRequest& request, v1::ValidateConfigResponse* response) {
    ASSIGN_OR_RETURN(const std::string base, OptionalConfigId("base", request.base()));
    ASSIGN_OR_RETURN(const auto overrides, ToOverrides("overrides", request.overrides()));
    const absl::StatusOr<Config> config =
        configs_.Validate(base, request.text(), overrides, request.strict());
    if (config.ok()) {
      response->set_valid(true);
      response->set_digest(config->digest);
      AddSettings(*config, response);
      AddWarnings(*config, response);
      return absl::OkStatus();
    }
    const v1::ErrorDetail detail = ToErrorDetail(config.status(), kSubject);
    // Without faults it is not the text that is wrong but the request: unknown base, too large.
    if (!absl::IsInvalidArgument(config.status()) || detail.faults().empty()) return config.status();
    *response->mutable_errors() = detail.faults();
    return absl::OkStatus();
  }

  absl::Status Create(const v1::CreateConfigRequest& request, v1::Config* response) {
    RETURN_IF_ERROR(CheckRequestId(request.request_id()));
    RETURN_IF_ERROR(CheckText("description", request.description(), kDescriptionBytes));
    NewConfig fresh;
    fresh.id = request.config_id();
    fresh.description = request.description();
    ASSIGN_OR_RETURN(fresh.base, OptionalConfigId("base", request.base()));
    fresh.text = request.text();
    ASSIGN_OR_RETURN(fresh.overrides, ToOverrides("overrides", request.overrides()));
    fresh.request_id = request.request_id();
    ASSIGN_OR_RETURN(const NamedConfig named, configs_.Create(fresh, request.validate_only()));
    ToMessage(named, response);
    return absl::OkStatus();
  }

  absl::Status Diff(const v1::DiffConfigsRequest& request, v1::DiffConfigsResponse* response) {
    ASSIGN_OR_RETURN(const std::string left_id, ConfigId("left", request.left()));
    ASSIGN_OR_RETURN(const std::string right_id, ConfigId("right", request.right()));
    ASSIGN_OR_RETURN(const auto left_overrides, ToOverrides("left_overrides", request.left_overrides()));
    ASSIGN_OR_RETURN(const auto right_overrides, ToOverrides("right_overrides", request.right_overrides()));
    ASSIGN_OR_RETURN(const NamedConfig left, configs_.Resolve(left_id, left_overrides));
    ASSIGN_OR_RETURN(const NamedConfig right, configs_.Resolve(right_id, right_overrides));
    for (const ConfigDifference& difference : sm89::DiffConfigs(left.config, right.config)) {
      v1::ConfigDifference* message = response->add_differences();
      message->set_name(difference.name);
      message->set_left(CleanText(difference.left, kTextBytes));
      message->set_right(CleanText(difference.right, kTextBytes));
    }
    return absl::OkStatus();
  }

  ConfigStore& configs_;
  Executor& executor_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeConfigService(ConfigStore& configs, Executor& executor) {
  return std::make_unique<ConfigServiceImpl>(configs, executor);
}

}  // namespace sm89
