// One simulation process (`run`), one upload being read (`ingest`) or one analysis of machine code
// (`analyze`); started by the daemon.
#include <pthread.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstring>
#include <iostream>
#include <string>

#include "server/pool/worker_exit.h"
#include "server/worker/analyze_command.h"
#include "server/worker/ingest_command.h"
#include "server/worker/run_command.h"
#include "sim/base/version.h"

namespace sm89 {
namespace {

constexpr uint32_t kGiveUpSecondsMax = 7 * 24 * 3600;

int Run(int argc, char** argv) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  RunCommandOptions options;
  CLI::App app("Runs simulations for a daemon.", "sm89-worker run");
  app.add_option("--connect", options.connect, "The daemon: unix:PATH or HOST:PORT.")->required();
  app.add_option("--ticket", options.ticket,
                 "What the daemon gave this worker; better by the environment, which "
                 "other users cannot read.")
      ->envname("SM89_WORKER_TICKET")
      ->required();
  app.add_option("--give-up-seconds", options.give_up_seconds, "Ends after so long without a daemon.")
      ->check(CLI::Range(1U, kGiveUpSecondsMax));
  app.add_option("--fault", options.fault, "For failure tests only.")->envname("SM89_WORKER_FAULT");
  try {  // CLI11 reports by exceptions; they end here
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(WorkerExitCode::kBadUsage);
  }
  return RunWorkerCommand(options);
}

int Main(int argc, char** argv) {
  if (argc >= 2 && std::strcmp(argv[1], "run") == 0) return Run(argc, argv);
  if (argc >= 2 && std::strcmp(argv[1], "ingest") == 0) return RunIngestCommand(argc, argv);
  if (argc >= 2 && std::strcmp(argv[1], "analyze") == 0) return RunAnalyzeCommand(argc, argv);
  if (argc >= 2 && std::strcmp(argv[1], "--version") == 0) {
    std::cout << "sm89-worker " << kProductVersion << " (model " << kModelVersion << ")\n";
    return 0;
  }
  std::cerr << "usage: sm89-worker run|ingest|analyze [--help] | --version\n";
  return static_cast<int>(WorkerExitCode::kBadUsage);
}

}  // namespace
}  // namespace sm89

int main(int argc, char** argv) { return sm89::Main(argc, argv); }
