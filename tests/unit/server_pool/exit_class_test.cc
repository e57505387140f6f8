#include "server/pool/exit_class.h"

#include <gtest/gtest.h>

#include <csignal>

namespace sm89 {
namespace {

AttemptEnd OfSignal(int signal) { return ClassifyExit(ProcessExit{0, signal, 0}, "").end; }
AttemptEnd OfCode(int code) { return ClassifyExit(ProcessExit{code, 0, 0}, "").end; }

TEST(ExitClass, CrashesAreTheJobsFault) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    EXPECT_EQ(OfSignal(signal), AttemptEnd::kCrashed) << signal;
  }
  EXPECT_EQ(OfCode(1), AttemptEnd::kCrashed);
  EXPECT_EQ(OfCode(64), AttemptEnd::kCrashed);
}

TEST(ExitClass, KillsFromOutsideAreNot) {
  for (const int signal : {SIGKILL, SIGTERM, SIGHUP})
    EXPECT_EQ(OfSignal(signal), AttemptEnd::kWorkerDied) << signal;
  for (const int code : {0, 75, 76}) EXPECT_EQ(OfCode(code), AttemptEnd::kWorkerDied) << code;
}

TEST(ExitClass, MemoryLimitHasItsCode) { EXPECT_EQ(OfCode(77), AttemptEnd::kMemoryLimit); }

TEST(ExitClass, AProcessThatIsNoChildIsJudgedByWhatItWrote) {
  EXPECT_EQ(ClassifyExit(std::nullopt, "sm89 assertion failed: x at y:1: z\n").end, AttemptEnd::kCrashed);
  EXPECT_EQ(ClassifyExit(std::nullopt, "sm89-worker: memory limit reached\n").end, AttemptEnd::kMemoryLimit);
  EXPECT_EQ(ClassifyExit(std::nullopt, "").end, AttemptEnd::kWorkerDied);
}

TEST(ExitClass, TheDetailSaysHow) {
  EXPECT_NE(ClassifyExit(ProcessExit{0, SIGKILL, 0}, "").detail.find("signal 9"), std::string::npos);
  EXPECT_NE(ClassifyExit(ProcessExit{3, 0, 0}, "").detail.find("exit code 3"), std::string::npos);
}

}  // namespace
}  // namespace sm89
