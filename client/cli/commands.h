// The commands. Each function adds its subcommand, options and action to the parser.
#pragma once

namespace CLI {
class App;
}

namespace sm89::client {

class Context;

void AddUploadCommand(CLI::App& app, Context& context);
void AddTracesCommand(CLI::App& app, Context& context);
void AddConfigsCommand(CLI::App& app, Context& context);
void AddSubmitCommand(CLI::App& app, Context& context);
void AddWatchCommand(CLI::App& app, Context& context);
void AddJobsCommands(CLI::App& app, Context& context);  // jobs, show, cancel
void AddResultCommand(CLI::App& app, Context& context);
void AddKinetoCommand(CLI::App& app, Context& context);
void AddProfileCommand(CLI::App& app, Context& context);
void AddAnalyzeCommand(CLI::App& app, Context& context);
void AddCalibrateCommand(CLI::App& app, Context& context);
void AddBaselineCommand(CLI::App& app, Context& context);
void AddPoolCommand(CLI::App& app, Context& context);
void AddVersionCommand(CLI::App& app, Context& context);
void AddCompletionCommands(CLI::App& app, Context& context);  // completion, and what its scripts call
void AddHelpCommand(CLI::App& app, Context& context);

}  // namespace sm89::client
