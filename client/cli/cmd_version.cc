#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/json_out.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

absl::StatusOr<v1::PoolStatus> AskServer(Context& context) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  return client->GetStatus();
}

absl::StatusOr<ExitCode> RunVersion(Context& context, bool client_only) {
  absl::StatusOr<v1::PoolStatus> server = absl::CancelledError("not asked");
  if (!client_only) server = AskServer(context);
  if (context.flags.json) {
    nlohmann::ordered_json document;
    document["client_version"] = SM89_VERSION;
    document["server"] = server.ok() ? ToJson(*server) : nlohmann::ordered_json();
    if (!client_only && !server.ok()) document["server_error"] = ErrorToJson(server.status())["error"];
    context.PrintJson(document);
    return kExitOk;
  }
  std::ostream& out = context.terminal().out();
  out << "sm89 " << SM89_VERSION << '\n';
  if (client_only) return kExitOk;
  CLIENT_ASSIGN_OR_RETURN(const Settings* settings, context.GetSettings());
  out << "server at " << settings->address << ": ";
  if (server.ok()) {
    out << Printable(server->version()) << ", model " << Printable(server->model_version()) << ", "
        << Printable(server->build()) << '\n';
  } else {
    out << "not reachable\n";
  }
  return kExitOk;
}

}  // namespace

void AddVersionCommand(CLI::App& app, Context& context) {
  auto client_only = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("version", "Versions of this program and of the server");
  command->add_flag("--client", *client_only, "Do not ask the server");
  command->callback([&context, client_only] {
    context.action = [&context, client_only] { return RunVersion(context, *client_only); };
  });
}

namespace {

absl::StatusOr<ExitCode> RunHelp(CLI::App& app, Context& context, const std::vector<std::string>& words) {
  CLI::App* at = &app;
  std::string path;  // of the commands above the one asked for
  for (const std::string& word : words) {
    const auto named = at->get_subcommands([&](CLI::App* command) { return command->check_name(word); });
    if (named.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no command '", at->get_name(), " ", word, "'; 'sm89 --help' lists all"));
    }
    absl::StrAppend(&path, path.empty() ? "" : " ", at->get_name());
    at = named.front();
  }
  // App::help would show the command that was chosen, which is `help` itself.
  const std::string name = path.empty() ? at->get_name() : path + " " + at->get_name();
  context.terminal().out() << at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal);
  return kExitOk;
}

}  // namespace

void AddHelpCommand(CLI::App& app, Context& context) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Help on a command, e.g. 'sm89 help submit'");
  command->add_option("COMMAND", *words, "Command, and its subcommand if it has any");
  command->callback([&app, &context, words] {
    context.action = [&app, &context, words] { return RunHelp(app, context, *words); };
  });
}

}  // namespace sm89::client
