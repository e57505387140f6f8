#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/checksum.h"
#include "client/cli/commands.h"
#include "client/cli/config_source.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/json_out.h"
#include "client/cli/paging.h"
#include "client/cli/table.h"
#include "client/error.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr uint32_t kConfigsMax = 100'000;

struct ConfigOptions {
  std::string name;
  std::string other;
  std::string file;
  std::string base;
  std::string description;
  std::string group;
  std::string setting;
  std::vector<std::string> sets;
  std::vector<std::string> other_sets;
  bool strict = false;
  bool text = false;
  bool allow_missing = false;
  bool validate_only = false;
};

template <typename Field>
absl::Status AddOverrides(const std::string& option, const std::vector<std::string>& pairs, Field* field) {
  CLIENT_ASSIGN_OR_RETURN(const std::vector<v1::Override> overrides, ParseOverrides(option, pairs));
  for (const v1::Override& one : overrides) *field->Add() = one;
  return absl::OkStatus();
}

std::string OriginText(const v1::ResolvedSetting& setting) {
  if (setting.origin_file().empty()) return setting.origin_kind();
  return absl::StrCat(setting.origin_file(), ":", setting.origin_line());
}

void PrintWarnings(Terminal& terminal, const google::protobuf::RepeatedPtrField<std::string>& warnings) {
  for (const std::string& warning : warnings) terminal.out() << "warning: " << Printable(warning) << '\n';
}

absl::StatusOr<ExitCode> ListConfigs(Context& context) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::ListConfigsResponse all;
  CLIENT_RETURN_IF_ERROR(ReadPages(
      v1::ListConfigsRequest(), kConfigsMax,
      [&](const v1::ListConfigsRequest& r) { return client->ListConfigs(r); },
      [&](const v1::ListConfigsResponse& page) {
        all.mutable_configs()->MergeFrom(page.configs());
        return page.configs_size();
      }));
  if (context.flags.json) {
    context.PrintJson(ToJson(all));
    return kExitOk;
  }
  Table table({{"CONFIG"}, {"KIND"}, {"DIGEST"}, {"DESCRIPTION", Table::Align::kLeft, 80}});
  for (const v1::Config& config : all.configs()) {
    table.AddRow({{ShortName(config.name()), Style::kBold},
                  config.preset() ? "preset" : "created",
                  config.digest().substr(0, 12),
                  config.description()});
  }
  table.Print(context.terminal());
  return kExitOk;
}

absl::StatusOr<ExitCode> ShowConfig(Context& context, const ConfigOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::GetConfigRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_name(), FullName("configs", options.name));
  CLIENT_RETURN_IF_ERROR(AddOverrides("--set", options.sets, request.mutable_overrides()));
  CLIENT_ASSIGN_OR_RETURN(const v1::Config config, client->GetConfig(request));
  Terminal& terminal = context.terminal();
  if (context.flags.json) {
    context.PrintJson(ToJson(config));
    return kExitOk;
  }
  if (options.text) {
    terminal.out() << config.text();
    return kExitOk;
  }
  PrintFields(terminal, {{"config", config.name()},
                         {"description", config.description()},
                         {"digest", config.digest()},
                         {"created", config.preset() ? "preset" : TimeText(config.create_time())}});
  PrintWarnings(terminal, config.warnings());
  Table table({{"SETTING"}, {"VALUE", Table::Align::kLeft, 60}, {"FROM", Table::Align::kLeft, 60}});
  for (const v1::ResolvedSetting& setting : config.settings()) {
    table.AddRow({setting.name(), setting.value(), {OriginText(setting), Style::kDim}});
  }
  table.Print(terminal);
  return kExitOk;
}

bool NamesSetting(const v1::SettingSchema& setting, const std::string& name) {
  const auto same = [&](const std::string& known) { return known == name || known == "-" + name; };
  return same(setting.name()) || std::any_of(setting.aliases().begin(), setting.aliases().end(), same);
}

void PrintSetting(Terminal& terminal, const v1::SettingSchema& setting) {
  terminal.out() << terminal.OnOut(Style::kBold, setting.name()) << "  " << setting.type();
  if (!setting.unit().empty()) terminal.out() << ", " << setting.unit();
  terminal.out() << '\n';
  const auto line = [&](const char* title, const std::string& value) {
    if (!value.empty()) terminal.out() << "    " << title << Printable(value) << '\n';
  };
  line("", setting.help());
  line("range: ", setting.range());
  line("default: ", setting.default_value());
  line("source: ", setting.source());
  std::string aliases;
  for (const std::string& alias : setting.aliases())
    absl::StrAppend(&aliases, aliases.empty() ? "" : ", ", alias);
  line("also written: ", aliases);
  if (!setting.has_effect()) line("", "accepted for compatibility, without effect");
}

absl::StatusOr<ExitCode> ShowSchema(Context& context, const ConfigOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::GetSchemaRequest request;
  request.set_group(options.group);
  CLIENT_ASSIGN_OR_RETURN(v1::GetSchemaResponse schema, client->GetSchema(request));
  if (!options.setting.empty()) {
    v1::GetSchemaResponse one;
    one.set_model_version(schema.model_version());
    for (const v1::SettingSchema& setting : schema.settings()) {
      if (NamesSetting(setting, options.setting)) *one.add_settings() = setting;
    }
    if (one.settings().empty()) {
      return absl::NotFoundError(
          absl::StrCat("there is no setting ", options.setting, "; 'sm89 configs schema' lists all"));
    }
    schema = one;
  }
  if (context.flags.json) {
    context.PrintJson(ToJson(schema));
    return kExitOk;
  }
  std::string group;
  for (const v1::SettingSchema& setting : schema.settings()) {
    if (setting.group() != group) {
      group = setting.group();
      context.terminal().out() << context.terminal().OnOut(Style::kBusy, absl::StrCat("== ", group, " =="))
                               << '\n';
    }
    PrintSetting(context.terminal(), setting);
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> ShowTensorModes(Context& context, const ConfigOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::ListTensorModesRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_name(), FullName("configs", options.name));
  CLIENT_RETURN_IF_ERROR(AddOverrides("--set", options.sets, request.mutable_overrides()));
  CLIENT_ASSIGN_OR_RETURN(const v1::ListTensorModesResponse answer, client->ListTensorModes(request));
  if (context.flags.json) {
    context.PrintJson(ToJson(answer));
    return kExitOk;
  }
  const auto right = Table::Align::kRight;
  Table table({{"CODE"},
               {"INPUTS"},
               {"ACC."},
               {"SHAPE"},
               {"MACS", right},
               {"INTERVAL", right},
               {"LATENCY", right},
               {"TOP/S", right},
               {"SOURCE OF THE RATE", Table::Align::kLeft, 60}});
  for (const v1::TensorMode& mode : answer.modes()) {
    const std::string source =
        mode.disabled_by().empty() ? mode.source() : absl::StrCat("OFF: ", mode.disabled_by(), " 0");
    table.AddRow({mode.code(), mode.inputs(), mode.accumulator(),
                  absl::StrCat("m", mode.m(), "n", mode.n(), "k", mode.k(), mode.sparse() ? " sparse" : ""),
                  absl::StrCat(mode.macs()), absl::StrCat(mode.interval_cycles()),
                  absl::StrCat(mode.latency_cycles()), absl::StrFormat("%.1f", mode.peak_tops()), source});
  }
  table.Print(context.terminal());
  return kExitOk;
}

absl::StatusOr<ExitCode> ValidateConfig(Context& context, const ConfigOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::ValidateConfigRequest request;
  const bool is_file = IsConfigFile(options.name);
  if (is_file) {
    CLIENT_ASSIGN_OR_RETURN(*request.mutable_text(), ReadConfigFile(options.name));
  }
  const std::string base = is_file ? options.base : options.name;
  if (!base.empty()) {
    CLIENT_ASSIGN_OR_RETURN(*request.mutable_base(), FullName("configs", base));
  }
  CLIENT_RETURN_IF_ERROR(AddOverrides("--set", options.sets, request.mutable_overrides()));
  request.set_strict(options.strict);
  CLIENT_ASSIGN_OR_RETURN(v1::ValidateConfigResponse answer, client->ValidateConfig(request));
  if (is_file) {
    NameFaults(options.name, *answer.mutable_errors());
    NameWarnings(options.name, *answer.mutable_warnings());
  }
  const ExitCode code = answer.valid() ? kExitOk : kExitInvalid;
  if (context.flags.json) {
    context.PrintJson(ToJson(answer));
    return code;
  }
  Terminal& terminal = context.terminal();
  PrintWarnings(terminal, answer.warnings());
  for (const v1::Fault& fault : answer.errors()) {
    terminal.out() << terminal.OnOut(Style::kBad, "error: ") << Printable(FormatFault(fault)) << '\n';
  }
  if (answer.valid()) {
    terminal.out() << options.name << terminal.OnOut(Style::kGood, " is valid") << ", digest "
                   << answer.digest() << '\n';
  } else {
    terminal.out() << options.name << " is not valid: " << answer.errors_size()
                   << (answer.errors_size() == 1 ? " error\n" : " errors\n");
  }
  return code;
}

absl::StatusOr<ExitCode> CreateConfig(Context& context, const ConfigOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::CreateConfigRequest request;
  request.set_config_id(ShortName(options.name));
  request.set_description(options.description);
  request.set_validate_only(options.validate_only);
  request.set_request_id(NewUuid());
  if (!options.base.empty()) {
    CLIENT_ASSIGN_OR_RETURN(*request.mutable_base(), FullName("configs", options.base));
  }
  if (!options.file.empty()) {
    CLIENT_ASSIGN_OR_RETURN(*request.mutable_text(), ReadConfigFile(options.file));
  }
  CLIENT_RETURN_IF_ERROR(AddOverrides("--set", options.sets, request.mutable_overrides()));
  absl::StatusOr<v1::Config> config = client->CreateConfig(request);
  if (!config.ok()) return NameFaults(options.file, config.status());
  NameWarnings(options.file, *config->mutable_warnings());
  if (context.flags.json) {
    context.PrintJson(ToJson(*config));
    return kExitOk;
  }
  PrintWarnings(context.terminal(), config->warnings());
  context.terminal().out() << (options.validate_only ? "would create " : "created ") << config->name()
                           << ", digest " << config->digest() << '\n';
  return kExitOk;
}

absl::StatusOr<ExitCode> DiffConfigs(Context& context, const ConfigOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::DiffConfigsRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_left(), ConfigNameFor(*client, options.name));
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_right(), ConfigNameFor(*client, options.other));
  CLIENT_RETURN_IF_ERROR(AddOverrides("--left-set", options.sets, request.mutable_left_overrides()));
  CLIENT_RETURN_IF_ERROR(AddOverrides("--right-set", options.other_sets, request.mutable_right_overrides()));
  CLIENT_ASSIGN_OR_RETURN(const v1::DiffConfigsResponse answer, client->DiffConfigs(request));
  if (context.flags.json) {
    context.PrintJson(ToJson(answer));
    return kExitOk;
  }
  if (answer.differences().empty()) {
    context.terminal().out() << "no differences\n";
    return kExitOk;
  }
  Table table({{"SETTING"}, {ShortName(request.left())}, {ShortName(request.right())}});
  for (const v1::ConfigDifference& one : answer.differences())
    table.AddRow({one.name(), one.left(), one.right()});
  table.Print(context.terminal());
  return kExitOk;
}

absl::StatusOr<ExitCode> DeleteConfig(Context& context, const ConfigOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::DeleteConfigRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_name(), FullName("configs", options.name));
  request.set_allow_missing(options.allow_missing);
  CLIENT_RETURN_IF_ERROR(client->DeleteConfig(request));
  if (context.flags.json) context.PrintJson({{"deleted", {request.name()}}});
  if (context.talks()) context.terminal().out() << "deleted " << request.name() << '\n';
  return kExitOk;
}

using Run = absl::StatusOr<ExitCode> (*)(Context&, const ConfigOptions&);

CLI::App* AddAction(CLI::App& parent, Context& context, std::shared_ptr<ConfigOptions> options,
                    const std::string& name, const std::string& help, Run run) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->callback([&context, options, run] {
    context.action = [&context, options, run] { return run(context, *options); };
  });
  return command;
}

void AddSet(CLI::App* command, ConfigOptions& options) {
  command->add_option("--set", options.sets, "A setting on top, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
}

}  // namespace

void AddConfigsCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command =
      app.add_subcommand("configs", "List, show, check, create, compare or delete configurations");
  command->require_subcommand(0, 1);
  command->callback([&context, command] {
    if (!command->get_subcommands().empty()) return;
    context.action = [&context] { return ListConfigs(context); };
  });
  AddAction(*command, context, options, "list", "List presets and created configurations (the default)",
            [](Context& c, const ConfigOptions&) { return ListConfigs(c); });

  CLI::App* show = AddAction(*command, context, options, "show",
                             "Every setting with its value and where the value comes from", ShowConfig);
  show->add_option("CONFIG", options->name, "Name")->required();
  show->add_flag("--text", options->text, "The text as it was written instead");
  AddSet(show, *options);

  CLI::App* schema = AddAction(*command, context, options, "schema",
                               "Every setting there is: type, unit, range, default, source", ShowSchema);
  schema->add_option("SETTING", options->setting, "Only this one");
  schema->add_option("--group", options->group, "Only one group, e.g. l2");

  CLI::App* tensor =
      AddAction(*command, context, options, "tensor",
                "Every tensor-core mode with its interval, latency (cycles) and peak rate", ShowTensorModes);
  tensor->add_option("CONFIG", options->name, "Name")->required();
  AddSet(tensor, *options);

  CLI::App* validate = AddAction(*command, context, options, "validate",
                                 "Check a configuration; shows all errors with their lines", ValidateConfig);
  validate->add_option("CONFIG", options->name, "A file, or a name")->required();
  validate->add_option("--base", options->base, "Configuration that the file's settings go on top of");
  validate->add_flag("--strict", options->strict, "Settings without an effect are errors");
  AddSet(validate, *options);

  CLI::App* create =
      AddAction(*command, context, options, "create", "Keep a configuration on the server", CreateConfig);
  create->add_option("ID", options->name, "Its name: letters, digits, '.', '_', '-'")->required();
  create->add_option("FILE", options->file, "Its text");
  create->add_option("--base", options->base, "Configuration to start from");
  create->add_option("--description", options->description, "One line for the list");
  create->add_flag("--validate-only", options->validate_only, "Check, but keep nothing");
  AddSet(create, *options);

  CLI::App* diff = AddAction(*command, context, options, "diff",
                             "Settings in which two configurations differ", DiffConfigs);
  diff->add_option("LEFT", options->name, "A name or a file")->required();
  diff->add_option("RIGHT", options->other, "A name or a file")->required();
  diff->add_option("--left-set", options->sets, "NAME=VALUE on top of LEFT")->allow_extra_args(false);
  diff->add_option("--right-set", options->other_sets, "NAME=VALUE on top of RIGHT")->allow_extra_args(false);

  CLI::App* remove =
      AddAction(*command, context, options, "delete", "Delete a created configuration", DeleteConfig);
  remove->add_option("CONFIG", options->name, "Name")->required();
  remove->add_flag("--allow-missing", options->allow_missing, "An absent one is no error");
}

}  // namespace sm89::client
