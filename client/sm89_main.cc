// The program `sm89`: the command line of client/cli on the real terminal, with Ctrl-C as its stop.
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "client/cli/cli.h"
#include "client/cli/exit_code.h"

namespace {

constexpr int kColumnsDefault = 80;
constexpr int kRowsDefault = 24;

int WindowColumns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsDefault;
  return size.ws_col;
}

int WindowRows() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return kRowsDefault;
  return size.ws_row;
}

// Ctrl-C and SIGTERM become a stop request, the second one ends the process at once. The signals are blocked
// in every thread and taken here, so no handler runs in the middle of other code.
class Interrupts {
 public:
  Interrupts() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::thread([this] { Wait(); });
  }
  ~Interrupts() {
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  void Wait() {
    int signal = 0;
    while (sigwait(&signals_, &signal) == 0 && signal != SIGUSR2) {
      if (source_.stop_requested()) _exit(sm89::client::kExitInterrupted);
      source_.request_stop();
    }
  }

  sigset_t signals_;
  std::stop_source source_;
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  const Interrupts interrupts;  // before any other thread exists
  const sm89::client::Environment environment = sm89::client::Environment::OfProcess();
  sm89::client::Terminal terminal(std::cout, std::cerr);
  terminal.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  terminal.err_is_terminal = isatty(STDERR_FILENO) != 0;
  terminal.dumb = environment.Get("TERM") == "dumb" || environment.Get("TERM").empty();
  terminal.columns = WindowColumns;
  terminal.rows = WindowRows;
  const std::vector<std::string> args(argv + 1, argv + argc);
  const int code = sm89::client::RunCli(args, terminal, environment, interrupts.token());
  std::cout.flush();
  if (!std::cout && code == sm89::client::kExitOk) {
    std::cerr << "error: the output could not be written\n";
    return sm89::client::kExitInternal;
  }
  return code;
}
