#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "client/cli/commands.h"
#include "client/cli/completion.h"
#include "client/cli/context.h"
#include "client/cli/format.h"

namespace sm89::client {
namespace {

constexpr double kAnswerSeconds = 1.0;  // a key was pressed; nobody waits longer
constexpr int kNamesMax = 200;

// Names from the server with a short deadline and without retries.
std::vector<std::string> NamesOf(Context& context, NameKind kind) {
  const absl::StatusOr<const Settings*> settings = context.GetSettings();
  if (!settings.ok()) return {};
  ClientOptions options;
  options.address = (*settings)->address;
  options.call_timeout_seconds = kAnswerSeconds;
  options.retry_seconds = 0;
  const absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
  if (!client.ok()) return {};
  std::vector<std::string> names;
  const auto collect = [&](const auto& response, const auto& items) {
    if (!response.ok()) return;
    for (const auto& item : items(*response)) names.push_back(ShortName(item.name()));
  };
  switch (kind) {
    case NameKind::kConfig: {
      v1::ListConfigsRequest request;
      request.set_page_size(kNamesMax);
      collect((*client)->ListConfigs(request), [](const auto& r) { return r.configs(); });
      break;
    }
    case NameKind::kTrace: {
      v1::ListTracesRequest request;
      request.set_page_size(kNamesMax);
      collect((*client)->ListTraces(request), [](const auto& r) { return r.traces(); });
      break;
    }
    case NameKind::kJob: {
      v1::ListJobsRequest request;
      request.set_page_size(kNamesMax);
      collect((*client)->ListJobs(request), [](const auto& r) { return r.jobs(); });
      break;
    }
    case NameKind::kWorker:
      collect((*client)->ListWorkers(), [](const auto& r) { return r.workers(); });
      break;
  }
  return names;
}

absl::StatusOr<ExitCode> RunComplete(const CLI::App& app, Context& context,
                                     const std::vector<std::string>& words) {
  const Completions found = Complete(app, words, [&](NameKind kind) { return NamesOf(context, kind); });
  for (const std::string& word : found.words) context.terminal().out() << word << '\n';
  if (found.files) context.terminal().out() << ":files\n";
  return kExitOk;
}

}  // namespace

void AddCompletionCommands(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Completion script for a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("For example in ~/.bashrc:  source <(sm89 completion bash)");
  command->callback([&context, shell] {
    context.action = [&context, shell]() -> absl::StatusOr<ExitCode> {
      context.terminal().out() << CompletionScript(*shell);
      return kExitOk;
    };
  });

  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* hidden = app.add_subcommand("__complete", "");
  hidden->group("");  // not in the help
  hidden->add_option("WORDS", *words);
  hidden->prefix_command(false);
  hidden->callback([&app, &context, words] {
    context.action = [&app, &context, words] { return RunComplete(app, context, *words); };
  });
}

}  // namespace sm89::client
