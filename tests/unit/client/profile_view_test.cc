// The table of a profile: what is shown, in which order, and what is left out.
#include "client/cli/profile_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "client/cli/live_profile.h"

namespace sm89::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

const char* const kCounters[] = {
    "issued",           "threads",          "selected",       "not_selected",
    "long_scoreboard",  "short_scoreboard", "wait",           "math_pipe_throttle",
    "mio_throttle",     "lg_throttle",      "tex_throttle",   "imc_miss",
    "barrier",          "membar",           "no_instruction", "dispatch",
    "branch_resolving", "sleeping",         "drain",          "misc",
    "requests",         "load_sectors",     "load_hits",      "store_sectors",
    "other_sectors",    "shared_accesses",  "shared_passes",  "shared_bank_conflicts",
    "l2_read_sectors",  "l2_read_hits"};

// Counters by name, the others 0, behind `leading`.
Json Row(Json leading, const std::map<std::string, uint64_t>& counters) {
  for (const char* name : kCounters) {
    const auto it = counters.find(name);
    leading.push_back(it == counters.end() ? 0 : it->second);
  }
  return leading;
}

// A load that is waited for and an addition; with or without what machine code says.
Json Sample(bool code) {
  const std::map<std::string, uint64_t> load = {
      {"issued", 100},    {"threads", 1600},        {"selected", 100},
      {"wait", 100},      {"requests", 100},        {"load_sectors", 400},
      {"load_hits", 100}, {"l2_read_sectors", 300}, {"l2_read_hits", 150}};
  const std::map<std::string, uint64_t> add = {
      {"issued", 100}, {"threads", 3200}, {"selected", 100}, {"long_scoreboard", 900}};
  const Json none = nullptr;
  Json kernel;
  kernel["index"] = 0;
  kernel["name"] = "axpy\x1b[31m";
  kernel["case"] = nullptr;
  kernel["cycles"] = 1234;
  kernel["finished"] = true;
  kernel["control_bits"] = "machine code";
  kernel["files"] = Json::array({"/src/axpy.cu"});
  kernel["total"] =
      Row(Json::array(), {{"issued", 200}, {"selected", 200}, {"wait", 100}, {"long_scoreboard", 900}});
  kernel["lines"] = Json::array({Row(code ? Json::array({1, 7}) : Json::array({nullptr, nullptr}), load),
                                 Row(code ? Json::array({1, 8}) : Json::array({nullptr, 8}), add)});
  kernel["rows"] = Json::array(
      {Row(code ? Json::array({16, "LDG.E", "LDG.E R2, [R4]", 1, 7, "ld.global.f32 %f1, [%rd1];", 6})
                : Json::array({16, "LDG.E", none, none, none, none, none}),
           load),
       Row(code ? Json::array({32, "FADD", "FADD R2, R2, R3", 1, 8, "add.f32 %f2, %f1, %f1;", 3})
                : Json::array({32, "FADD", none, none, none, none, none}),
           add)});
  Json root;
  root["format"] = "sm89-profile/1";
  root["counter_columns"] = kCounters;
  root["kernels"] = Json::array({kernel});
  return root;
}

std::string Shown(const Json& json, const ProfileViewOptions& options) {
  const auto profile = ParseProfile(json.dump());
  EXPECT_TRUE(profile.ok()) << profile.status();
  std::ostringstream out, err;
  Terminal terminal(out, err);
  const absl::Status status = PrintProfile(*profile, options, terminal);
  return status.ok() ? out.str() : std::string(status.message());
}

TEST(ProfileView, TheMostWaitedForComesFirst) {
  const std::string text = Shown(Sample(true), {});
  EXPECT_LT(text.find("FADD R2"), text.find("LDG.E R2")) << text;
  for (const char* part : {"1234 cycles", "200 warp instructions", "1200 warp-cycles", "1000 of them waiting",
                           "long_scoreboard 90, wait 10", "90.0", "axpy.cu:7", "ld.global.f32", "live"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "names steer no terminal";
  EXPECT_THAT(text, Not(HasSubstr("conflicts"))) << "no shared memory: no column";
  const std::string order = Shown(Sample(true), {.program_order = true});
  EXPECT_GT(order.find("FADD R2"), order.find("LDG.E R2")) << order;
}

TEST(ProfileView, NamesSteerNoTerminal) {
  Json json = Sample(true);
  json["counter_columns"][4] = "long\x1b]0;x\x07";
  json["kernels"][0]["files"] = Json::array({"/src/a\x1b[2Jb.cu"});
  json["kernels"][0]["control_bits"] = "\x1b[1m";
  json["kernels"][0]["rows"][0][2] = "LDG\x1b[0m";
  json["kernels"][0]["rows"][0][5] = "ld\x1b[0m";
  for (const bool lines : {false, true}) {
    const std::string text = Shown(json, {.lines = lines});
    EXPECT_THAT(text, HasSubstr("a?[2Jb.cu:7"));
    EXPECT_THAT(text, HasSubstr("long?]0;x? 90"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\x07")));
  }
}

TEST(ProfileView, StatesAreFoundByName) {
  Json json = Sample(true);
  const std::string before = Shown(json, {});
  // A column more in front and a state more behind.
  const auto insert = [](Json& row, size_t at, const Json& value) {
    row.insert(row.begin() + static_cast<std::ptrdiff_t>(at), value);
  };
  insert(json["counter_columns"], 20, "newly_named");
  insert(json["counter_columns"], 0, "replays");
  Json& kernel = json["kernels"][0];
  for (const auto& [rows, leading] : {std::pair("rows", 7), std::pair("lines", 2)}) {
    for (Json& row : kernel[rows]) {
      insert(row, static_cast<size_t>(leading) + 20, 0);
      insert(row, static_cast<size_t>(leading), 12345);
    }
  }
  insert(kernel["total"], 20, 0);
  insert(kernel["total"], 0, 12345);
  EXPECT_EQ(Shown(json, {}), before);
  json["counter_columns"][3] = "chosen";
  EXPECT_EQ(ParseProfile(json.dump()).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ProfileView, MemoryFiguresAreOfTheInstruction) {
  const std::string text = Shown(Sample(true), {.program_order = true});
  const std::string row = text.substr(text.find("0010"), text.find("0020") - text.find("0010"));
  for (const char* part : {"16.0", "10.0", "25.0", "50.0", "4.0"}) EXPECT_THAT(row, HasSubstr(part)) << row;
}

TEST(ProfileView, ATraceHasOpcodesOnly) {
  const std::string text = Shown(Sample(false), {});
  EXPECT_THAT(text, HasSubstr("LDG.E"));
  EXPECT_THAT(text, Not(HasSubstr("PTX")));
  EXPECT_THAT(text, Not(HasSubstr("live")));
}

TEST(ProfileView, RowsAreCutAndKernelsChosen) {
  const std::string text = Shown(Sample(true), {.top = 1});
  EXPECT_THAT(text, Not(HasSubstr("LDG.E")));
  EXPECT_THAT(text, HasSubstr("and 1 more: --top 0"));
  EXPECT_THAT(Shown(Sample(true), {.kernels = {2}}), HasSubstr("--kernel 2"));
  EXPECT_THAT(Shown(Sample(true), {.kernels = {1}}), HasSubstr("FADD"));
}

TEST(ProfileView, LinesAreTotals) {
  const std::string text = Shown(Sample(true), {.lines = true});
  EXPECT_LT(text.find("axpy.cu:8"), text.find("axpy.cu:7")) << text;
  Json none = Sample(false);
  none["kernels"][0]["lines"].erase(1);
  EXPECT_THAT(Shown(none, {.lines = true}), HasSubstr("-lineinfo"));
}

TEST(ProfileView, WhatIsNoProfileIsRefused) {
  for (const char* text :
       {"", "{}", "[]", "{\"format\": \"sm89-profile/1\"}", "{\"format\": \"sm89-profile/2\"}"}) {
    EXPECT_FALSE(ParseProfile(text).ok()) << text;
  }
  Json cut = Sample(true);
  cut["kernels"][0]["rows"][0].erase(9);
  EXPECT_EQ(ParseProfile(cut.dump()).status().code(), absl::StatusCode::kDataLoss);
}

v1::LiveProfile Live() {
  v1::LiveProfile profile;
  profile.set_kernel_index(2);
  profile.set_kernel_name("axpy\x1b[31m");
  profile.set_instructions(40);
  profile.set_issued(1200);
  profile.set_warp_cycles(5000);
  profile.set_waited(4000);
  v1::LiveProfileRow& row = *profile.add_rows();
  row.set_pc(0x1c0);
  row.set_opcode("FFMA");
  row.set_issued(100);
  row.set_threads(1600);
  row.set_waited(1000);
  row.add_reasons()->set_name("long_scoreboard");
  row.mutable_reasons(0)->set_cycles(750);
  return profile;
}

TEST(LiveProfile, SaysKernelSharesAndReasons) {
  const std::vector<std::string> lines = LiveProfileLines(Live());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], HasSubstr("kernel 3 axpy"));
  EXPECT_THAT(lines[0], Not(HasSubstr("\x1b")));
  EXPECT_THAT(lines[0], HasSubstr("1 of 40 instructions"));
  EXPECT_THAT(lines[1], HasSubstr("waits for, % of them"));
  for (const char* part : {"01c0", "16.0", "25.0", "long_scoreboard 75", "FFMA"}) {
    EXPECT_THAT(lines[2], HasSubstr(part));
  }
}

TEST(LiveProfile, IsDrawnInPlaceOnATerminalOnly) {
  for (const bool in_place : {false, true}) {
    std::ostringstream out, err;
    Terminal terminal(out, err);
    terminal.err_is_terminal = in_place;
    terminal.columns = [] { return 30; };
    ProgressLine line(terminal, false);
    LiveProfileView view(terminal);
    view.Show(Live(), line);
    EXPECT_THAT(err.str(), Not(HasSubstr("\x1b[3A")));
    view.Show(Live(), line);
    EXPECT_EQ(err.str().find("\x1b[3A\r\x1b[J") != std::string::npos, in_place);
    EXPECT_EQ(err.str().find("long_scoreboard 75") != std::string::npos, !in_place) << "cut to the window";
    const size_t before = err.str().size();
    view.Keep();
    view.Show(Live(), line);
    EXPECT_THAT(err.str().substr(before), Not(HasSubstr("\x1b[3A")));
    EXPECT_EQ(out.str(), "");
  }
}

TEST(LiveProfile, IsNoHigherThanTheWindow) {
  v1::LiveProfile profile = Live();
  for (int i = 0; i < 9; ++i) *profile.add_rows() = profile.rows(0);
  ASSERT_EQ(LiveProfileLines(profile).size(), 12u);
  for (const auto& [rows, drawn] : {std::pair(24, 12), std::pair(13, 11), std::pair(8, 6), std::pair(1, 1)}) {
    std::ostringstream out, err;
    Terminal terminal(out, err);
    terminal.err_is_terminal = true;
    terminal.rows = [rows = rows] { return rows; };
    ProgressLine line(terminal, false);
    LiveProfileView view(terminal);
    view.Show(profile, line);
    const std::string first = err.str();
    EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), drawn) << rows;
    view.Show(profile, line);
    EXPECT_THAT(err.str().substr(first.size()), ::testing::StartsWith(absl::StrCat("\x1b[", drawn, "A\r")));
  }
  std::ostringstream out, err;
  Terminal terminal(out, err);
  terminal.rows = [] { return 8; };
  ProgressLine line(terminal, false);
  LiveProfileView(terminal).Show(profile, line);
  const std::string plain = err.str();
  EXPECT_EQ(std::count(plain.begin(), plain.end(), '\n'), 12) << "no window";
}

}  // namespace
}  // namespace sm89::client
