// Launches as a trace source: what is recorded, kept, and reported of them.
#include "sim/replay/emulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/base/digest.h"
#include "sim/base/strings.h"
#include "sim/launch/buffers.h"
#include "sim/trace/compact_reader.h"
#include "tests/unit/sim_replay/kernel_programs.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Message(const absl::Status& status) { return std::string(Sv(status.message())); }

std::unique_ptr<Emulation> Start(const Program& program, const EmulationOptions& options = {}) {
  auto emulation = Emulation::Create(program, options);
  EXPECT_TRUE(emulation.ok()) << emulation.status();
  return emulation.ok() ? *std::move(emulation) : nullptr;
}

// All that a CTA's warps executed, as text.
std::string TextOf(const CtaTrace& cta, std::span<const StaticInst> statics) {
  std::string text = absl::StrCat("CTA ", cta.id().x, ",", cta.id().y, ",", cta.id().z, "\n");
  for (uint32_t w = 0; w < cta.num_warps(); ++w) {
    const std::unique_ptr<WarpCursor> cursor = cta.OpenWarp(w);
    if (cursor == nullptr) continue;
    absl::StrAppend(&text, "warp ", w, "\n");
    DynInst inst;
    while (cursor->Next(&inst)) {
      const StaticInst& code = statics[inst.static_id];
      absl::StrAppend(&text, absl::Hex(code.pc), " ", code.opcode, " ", absl::Hex(inst.mask));
      if (inst.shape != nullptr) {
        for (const uint64_t offset : inst.shape->offsets) {
          absl::StrAppend(&text, " ", absl::Hex(inst.base + offset));
        }
      }
      text += "\n";
    }
    EXPECT_TRUE(cursor->status().ok()) << cursor->status();
  }
  return text;
}

// Every CTA of every kernel; with `hold`, all CTAs are kept until the last one was opened.
std::vector<std::string> TextsOf(TraceSource& source, bool hold = false) {
  std::vector<std::string> texts;
  std::vector<std::unique_ptr<CtaTrace>> held;
  for (uint32_t k = 0; k < source.info().kernels.size(); ++k) {
    for (uint64_t i = 0; i < source.NumCtas(k); ++i) {
      auto cta = source.OpenCta(k, i);
      if (!cta.ok()) {
        ADD_FAILURE() << cta.status();
        return texts;
      }
      if (!hold) texts.push_back(TextOf(**cta, source.StaticTable(k)));
      held.push_back(*std::move(cta));
      if (!hold) held.clear();
    }
    for (const auto& cta : held) texts.push_back(TextOf(*cta, source.StaticTable(k)));
    held.clear();
  }
  return texts;
}

TEST(Emulation, RecordsWhatALaunchExecutes) {
  const auto emulation = Start(VectorAddProgram(100));
  ASSERT_NE(emulation, nullptr);
  const TraceSetInfo& info = emulation->source()->info();
  ASSERT_EQ(info.kernels.size(), 1u);
  EXPECT_EQ(info.kernels[0].name, "vector_add");
  EXPECT_EQ(info.kernels[0].origin, KernelOrigin::kCubin);
  EXPECT_EQ(info.kernels[0].binary_version, 89u);
  EXPECT_TRUE(info.kernels[0].has_lineinfo);
  ASSERT_EQ(info.marks.size(), 1u);
  EXPECT_EQ(info.marks[0].kind, kEmulatedMark);
  const std::vector<std::string> ctas = TextsOf(*emulation->source());
  ASSERT_EQ(ctas.size(), 2u);
  // Lane l of warp w of CTA k reads element 64 k + 32 w + l; the last warp has four of them: 96 to 99.
  const auto loaded = LoadProgram(VectorAddProgram(100));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const uint64_t a = PlanAddresses(loaded->launches[0]).buffers[0].address;
  const auto load = [&](const char* mask, uint32_t element, uint32_t lanes) {
    std::string text = absl::StrCat("LDG.E ", mask);
    for (uint32_t i = 0; i < lanes; ++i) absl::StrAppend(&text, " ", absl::Hex(a + 4 * (element + i)));
    return text + "\n";
  };
  EXPECT_THAT(ctas[0], HasSubstr(load("ffffffff", 0, 32)));
  EXPECT_THAT(ctas[0], HasSubstr(load("ffffffff", 32, 32)));
  EXPECT_THAT(ctas[1], HasSubstr(load("ffffffff", 64, 32)));
  EXPECT_THAT(ctas[1], HasSubstr(load("f", 96, 4)));
}

TEST(Emulation, OutcomeHoldsTheOutputsOnceTheLaunchHasEnded) {
  const auto emulation = Start(VectorAddProgram(100));
  ASSERT_NE(emulation, nullptr);
  EXPECT_FALSE(emulation->outcomes()[0].finished);
  ASSERT_TRUE(emulation->source()->OpenCta(0, 0).ok());
  EXPECT_FALSE(emulation->outcomes()[0].finished);
  EXPECT_THAT(emulation->outcomes()[0].result.outputs, IsEmpty());
  const uint64_t of_the_first = emulation->outcomes()[0].warp_instructions;
  EXPECT_GT(of_the_first, 0u);
  ASSERT_TRUE(emulation->source()->ExecuteRest().ok());
  const LaunchOutcome& outcome = emulation->outcomes()[0];
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.warp_instructions, emulation->source()->warp_instructions());
  EXPECT_GT(outcome.warp_instructions, of_the_first);
  EXPECT_EQ(outcome.result.id, "add");
  ASSERT_EQ(outcome.result.outputs.size(), 1u);
  std::vector<float> sums(100);
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = 2.0F * static_cast<float>(i);
  EXPECT_EQ(outcome.result.outputs[0].sha256,
            Sha256Hex({reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(float)}));
}

TEST(Emulation, RecordsDoNotDependOnHowLongCtasAreHeld) {
  for (const char* kernel : {"divergent", "histogram"}) {
    const auto one = Start(ExampleProgram(kernel));
    const auto two = Start(ExampleProgram(kernel));
    ASSERT_TRUE(one != nullptr && two != nullptr);
    EXPECT_EQ(TextsOf(*one->source()), TextsOf(*two->source(), /*hold=*/true));
    EXPECT_EQ(one->source()->digest(), two->source()->digest());
  }
}

TEST(Emulation, ACooperativeLaunchOfIndependentCtasGivesTheSameRecords) {
  const auto apart = Start(VectorAddProgram(1000));
  const auto together = Start(VectorAddProgram(1000, "\"cooperative\": true, "));
  ASSERT_TRUE(apart != nullptr && together != nullptr);
  EXPECT_EQ(TextsOf(*together->source()), TextsOf(*apart->source()));
  EXPECT_EQ(together->outcomes()[0].result.outputs[0].sha256, apart->outcomes()[0].result.outputs[0].sha256);
  EXPECT_EQ(together->outcomes()[0].warp_instructions, apart->outcomes()[0].warp_instructions);
}

TEST(Emulation, RecordsOfACooperativeLaunchAreBounded) {
  EmulationOptions options;
  options.recorder.live_bytes = 10'000;
  const auto emulation = Start(VectorAddProgram(1000, "\"cooperative\": true, "), options);
  ASSERT_NE(emulation, nullptr);
  const absl::Status status = emulation->source()->ExecuteRest();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), HasSubstr("10000 bytes"));
}

TEST(Emulation, TheKeptTraceHoldsTheSameRecords) {
  const TestFolder folder;
  EmulationOptions options;
  options.keep_trace = folder("kept");
  const auto emulation = Start(ExampleProgram("divergent"), options);
  ASSERT_NE(emulation, nullptr);
  const std::vector<std::string> live = TextsOf(*emulation->source());
  ASSERT_TRUE(emulation->source()->FinishKept().ok());
  const auto kept = CompactReader::Open(options.keep_trace);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(TextsOf(**kept), live);
  const KernelInfo& info = (*kept)->info().kernels[0];
  EXPECT_EQ(info.warp_instructions, emulation->outcomes()[0].warp_instructions);
  EXPECT_EQ(info.name, "divergent");
  for (const StaticInst& inst : (*kept)->StaticTable(0)) EXPECT_TRUE(inst.has_encoding) << inst.pc;
}

TEST(Emulation, AnAbandonedKeptTraceLeavesNothingBehind) {
  const TestFolder folder;
  {
    EmulationOptions options;
    options.keep_trace = folder("kept");
    const auto emulation = Start(VectorAddProgram(1000), options);
    ASSERT_NE(emulation, nullptr);
    ASSERT_TRUE(emulation->source()->OpenCta(0, 0).ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Emulation, LaunchesRunOneAfterTheOther) {
  const auto emulation =
      Start(KernelProgram("vector_add", absl::StrCat("{\"launches\": [", VectorAddLaunch("one", 64, 64), ",",
                                                     VectorAddLaunch("two", 200, 200), "]}")));
  ASSERT_NE(emulation, nullptr);
  ASSERT_EQ(emulation->source()->info().kernels.size(), 2u);
  EXPECT_EQ(emulation->source()->NumCtas(1), 4u);
  ASSERT_TRUE(emulation->source()->OpenCta(1, 0).ok()) << "executes the first launch before";
  EXPECT_TRUE(emulation->outcomes()[0].finished);
  EXPECT_FALSE(emulation->outcomes()[1].finished);
}

TEST(Emulation, WhatCannotRunIsSaidBeforeAnythingRuns) {
  Program unknown = VectorAddProgram(64);
  unknown.launch_text.replace(unknown.launch_text.find("\"vector_add\""), 12, "\"vector_sub\"");
  const absl::Status no_kernel = Emulation::Create(unknown, {}).status();
  EXPECT_EQ(no_kernel.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(no_kernel), HasSubstr("vector_sub"));
  EXPECT_THAT(Message(no_kernel), HasSubstr("expected vector_add"));
  Program short_args = VectorAddProgram(64);
  short_args.launch_text.erase(short_args.launch_text.find(", {\"i32\""), 13);
  EXPECT_EQ(Emulation::Create(short_args, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Emulation, AFaultEndsTheRunAndStandsInTheOutcome) {
  const auto emulation =
      Start(KernelProgram("vector_add", VectorAddLaunch("over", /*count=*/4096, /*elements=*/100)));
  ASSERT_NE(emulation, nullptr);
  const absl::Status status = emulation->source()->ExecuteRest();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(status), HasSubstr("out-of-bounds store of 4 bytes"));
  EXPECT_THAT(Message(status), HasSubstr("vector_add.cu:"));
  EXPECT_THAT(Message(status), HasSubstr("'c'"));
  const LaunchOutcome& outcome = emulation->outcomes()[0];
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.num_findings, 1u);
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0], Message(status));
  EXPECT_EQ(emulation->source()->ExecuteRest(), status) << "and it stays ended";
}

TEST(Emulation, TheInstructionLimitIsNamed) {
  EmulationOptions options;
  options.emu.max_warp_instructions = 50;
  const auto emulation = Start(VectorAddProgram(1000), options);
  ASSERT_NE(emulation, nullptr);
  const absl::Status status = emulation->source()->ExecuteRest();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(status), HasSubstr("50 warp instructions"));
}

TEST(Emulation, StopsBetweenCtasWhenCancelled) {
  std::atomic<bool> cancel{false};
  EmulationOptions options;
  options.cancel = &cancel;
  const auto emulation = Start(VectorAddProgram(1000), options);
  ASSERT_NE(emulation, nullptr);
  ASSERT_TRUE(emulation->source()->OpenCta(0, 0).ok());
  cancel = true;
  EXPECT_EQ(emulation->source()->ExecuteRest().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(emulation->source()->ctas_executed(), 1u);
}

// Other architectures' code runs, and the trace says so.
TEST(Emulation, ForeignCodeIsMarked) {
  const std::string folder = absl::StrCat(SM89_SOURCE_DIR, "/../shared/silicon");
  if (!std::filesystem::exists(folder + "/suite.json")) GTEST_SKIP() << folder << " is not here";
  ProgramPaths paths;
  paths.cubin_folder = folder + "/cubin";
  paths.launches = folder + "/suite.json";
  paths.arch = 90;
  paths.cases = {"vector_add_ragged"};
  const auto program = CollectProgram(paths);
  ASSERT_TRUE(program.ok()) << program.status();
  const auto emulation = Start(*program);
  ASSERT_NE(emulation, nullptr);
  ASSERT_EQ(emulation->source()->info().marks.size(), 2u);
  EXPECT_EQ(emulation->source()->info().marks[1].kind, "foreign_arch");
  ASSERT_TRUE(emulation->source()->ExecuteRest().ok());
  const auto measured = nlohmann::json::parse(FileBytes(folder + "/measured/h200_runs.json"), nullptr, false);
  ASSERT_TRUE(measured.is_object()) << "recorded results";
  EXPECT_EQ(emulation->outcomes()[0].result.outputs[0].sha256,
            measured["vector_add_ragged"]["outputs"]["c"]["sha256"]);
}

}  // namespace
}  // namespace sm89
