// sm89-debug called in the test's own process.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "sim/tools/debug_command.h"
#include "tests/support/example_kernels.h"
#include "tests/support/trace_builder.h"

namespace sm89::testing {

struct DebugOutcome {
  int code = -1;
  std::string out, err;
};

inline DebugOutcome Debug(std::vector<std::string> args, const std::string& script, bool terminal = false,
                          const std::atomic<bool>* interrupted = nullptr,
                          const std::atomic<bool>* insisted = nullptr) {
  std::ostringstream out, err;
  std::istringstream in(script);
  DebugOutcome outcome;
  outcome.code = DebugMain(args, {.out = out,
                                  .err = err,
                                  .err_is_terminal = false,
                                  .interrupted = interrupted,
                                  .insisted = insisted,
                                  .in = &in,
                                  .in_is_terminal = terminal});
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

// On a trace, all CTAs launched at once and all code in the caches: the first issue is in cycle 2.
inline std::vector<std::string> TraceArgs(const std::string& path) {
  return {"--trace", path,
          "--set",   "gpgpu_kernel_launch_latency=0",
          "--set",   "gpgpu_sm89_perfect_icache=1",
          "--set",   "gpgpu_sm89_cta_launch_interval=0"};
}

inline std::vector<std::string> KernelArgs(const std::string& kernel) {
  return {"--cubin", ExampleKernelPath(kernel + ".sm_89.cubin"), "--launch",
          ExampleKernelPath(kernel + ".json")};
}

// The output of a script that has to succeed.
inline std::string Transcript(const std::vector<std::string>& args, const std::string& script) {
  const DebugOutcome outcome = Debug(args, script);
  EXPECT_EQ(outcome.code, 0) << script << outcome.out << outcome.err;
  return outcome.out;
}

// What the last command of a script said.
inline std::string LastAnswer(const std::string& transcript) {
  const size_t prompt = transcript.rfind("(sm89) ");
  const size_t end = transcript.find('\n', prompt);
  return end == std::string::npos ? "" : transcript.substr(end + 1);
}

inline std::string Answer(const std::vector<std::string>& args, const std::string& script) {
  return LastAnswer(Transcript(args, script));
}

// All example kernels, one after the other.
inline std::vector<std::string> SuiteArgs() {
  return {"--suite", ExampleKernelPath("suite.json"), "--cubin-dir", ExampleKernelPath("")};
}

// What each command of a script said, in order.
inline std::vector<std::string> Answers(const std::string& transcript) {
  std::vector<std::string> answers;
  const std::string prompt = "(sm89) ";
  for (size_t at = transcript.find(prompt); at != std::string::npos;) {
    const size_t begin = std::min(transcript.find('\n', at), transcript.size() - 1) + 1;
    at = transcript.find(prompt, begin);
    answers.push_back(transcript.substr(begin, at == std::string::npos ? at : at - begin));
  }
  return answers;
}

inline std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

inline size_t Times(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

// The first group of the first match; fails without one.
inline std::string Find(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (std::regex_search(text, match, std::regex(pattern))) return match[1];
  ADD_FAILURE() << "no '" << pattern << "' in\n" << text;
  return "";
}

}  // namespace sm89::testing
