#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/report/text.h"
#include "sim/stats/pc_profile.h"
#include "tests/unit/sim_report/sample_report.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNastyName[] = "k = a \"quoted\" name, with = signs \\ \x01 and \xff bytes";

RunReport NastyReport() {
  RunReport run = SampleReport();
  run.kernels[0].info.name = kNastyName;
  return run;
}

nlohmann::json Parse(const RunReport& run) { return nlohmann::json::parse(ReportToJson(run)); }

TEST(Json, HasTheFieldsThatProgramsRead) {
  const auto json = Parse(SampleReport());
  EXPECT_EQ(json["format"], "sm89-report/1");
  EXPECT_EQ(json["model_version"], "0.1.0-test");
  EXPECT_EQ(json["status"], "complete");
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["trace"]["digest"], std::string(64, 'a'));
  EXPECT_EQ(json["config"]["digest"], std::string(64, 'b'));
  ASSERT_EQ(json["kernels"].size(), 2u);
  const auto& k = json["kernels"][0];
  EXPECT_EQ(k["name"], "_Z3addPf");
  EXPECT_EQ(k["cycles"], 900);
  EXPECT_EQ(k["warp_instructions"], 1800);
  EXPECT_EQ(k["thread_instructions"], 57'600);
  EXPECT_EQ(k["stream"], 18'446'744'073'709'551'615u);
  EXPECT_EQ(k["grid"], nlohmann::json::array({4, 2, 1}));
  EXPECT_EQ(k["statistics"]["sm"]["warp_instructions"], 1800);
  EXPECT_EQ(k["statistics"]["dram"]["read_sectors"], 150);
  EXPECT_EQ(k["derived"]["ipc"], 2.0);
  EXPECT_TRUE(k["derived"]["shared_bank_conflict_rate"].is_null());
  const auto& totals = json["totals"];
  EXPECT_EQ(totals["name"], "total");
  EXPECT_EQ(totals["cycles"], 1900);
  EXPECT_EQ(totals["warp_instructions"], 3600);
  EXPECT_EQ(totals["thread_instructions"], 115'200);
}

TEST(Json, DefinesEveryFigureThatItShows) {
  const auto json = Parse(SampleReport());
  const auto& k = json["kernels"][0];
  for (const auto& [group, counters] : k["statistics"].items()) {
    for (const auto& [name, value] : counters.items()) {
      EXPECT_TRUE(json["definitions"].contains(group + "_" + name)) << group << ' ' << name;
    }
  }
  for (const auto& [name, value] : k["derived"].items())
    EXPECT_TRUE(json["definitions"].contains(name)) << name;
  EXPECT_EQ(json["definitions"]["dram_read_sectors"]["ncu_metric"], "dram__sectors_read.sum");
  EXPECT_EQ(json["definitions"]["dram_read_sectors"]["unit"], "sectors");
}

TEST(Json, UnitTables) {
  const auto slices = Parse(SampleReport())["units"]["l2_slices"];
  ASSERT_EQ(slices["rows"].size(), 2u);
  EXPECT_EQ(slices["columns"][0], "read_sectors");
  EXPECT_EQ(slices["rows"][1][0], 600);
  EXPECT_EQ(slices["rows"][0].size(), slices["columns"].size());
}

TEST(Json, NamesSurviveAStrictParser) {
  const auto json = Parse(NastyReport());
  EXPECT_EQ(json["kernels"][0]["name"], "k = a \"quoted\" name, with = signs \\ \x01 and \xef\xbf\xbd bytes");
}

TEST(Json, SameBytesEveryTime) { EXPECT_EQ(ReportToJson(MarkedReport()), ReportToJson(MarkedReport())); }

TEST(Json, NeverHoldsNanOrInfinity) {
  EXPECT_THAT(ReportToJson(RunReport{}), Not(HasSubstr("nan")));
  EXPECT_THAT(ReportToJson(RunReport{}), Not(HasSubstr("inf")));
}

// A reader for RFC 4180, written against its grammar: the test must not share the writer's view of quoting.
std::vector<std::vector<std::string>> ReadCsv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1, std::vector<std::string>(1));
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = records.back().back();
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      records.back().emplace_back();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      records.emplace_back(1);
    } else {
      field += c;
    }
  }
  records.pop_back();  // after the last line end
  return records;
}

std::string Cell(const std::vector<std::vector<std::string>>& csv, size_t row, const std::string& column) {
  for (size_t i = 0; i < csv[0].size(); ++i) {
    if (csv[0][i] == column) return csv[row].at(i);
  }
  ADD_FAILURE() << "no column " << column;
  return "";
}

TEST(Csv, OneRowAKernelAndATotal) {
  const auto csv = ReadCsv(ReportToCsv(NastyReport()));
  ASSERT_EQ(csv.size(), 4u);
  for (const auto& record : csv) EXPECT_EQ(record.size(), csv[0].size());
  EXPECT_EQ(Cell(csv, 1, "name"), "k = a \"quoted\" name, with = signs \\ \x01 and \xef\xbf\xbd bytes");
  EXPECT_EQ(Cell(csv, 2, "name"), "void app::axpy<float, 4>(float *, \"x\")");
  EXPECT_EQ(Cell(csv, 1, "cycles"), "900");
  EXPECT_EQ(Cell(csv, 1, "grid_y"), "2");
  EXPECT_EQ(Cell(csv, 1, "sm_warp_instructions"), "1800");
  EXPECT_EQ(Cell(csv, 1, "ipc"), "2.0");
  EXPECT_EQ(Cell(csv, 1, "shared_bank_conflict_rate"), "") << "undefined is empty, not 0";
  EXPECT_EQ(Cell(csv, 3, "name"), "total");
  EXPECT_EQ(Cell(csv, 3, "cycles"), "1900");
  EXPECT_EQ(Cell(csv, 3, "warp_instructions"), "3600");
}

TEST(Csv, WarpStatesHaveTheShortColumnsInTheirOrder) {
  RunReport run = SampleReport();
  for (int i = 0; i < kNumWarpStates; ++i) run.kernels[0].stats.sm.*kWarpStateCounters[i] = 1000u + i;
  const auto csv = ReadCsv(ReportToCsv(run));
  EXPECT_EQ(Cell(csv, 1, "stall_long_sb"), "1002");
  EXPECT_EQ(Cell(csv, 1, "stall_short_sb"), "1003");
  EXPECT_EQ(Cell(csv, 1, "stall_misc"), "1017");
  const auto first = std::find(csv[0].begin(), csv[0].end(), "stall_selected");
  ASSERT_GE(csv[0].end() - first, kNumWarpStates);
  for (int i = 0; i < kNumWarpStates; ++i) {
    const auto state = static_cast<WarpState>(i);
    EXPECT_EQ(first[i], absl::StrCat("stall_", std::string(ShortName(state))));
    EXPECT_EQ(csv[1].at(first - csv[0].begin() + i), std::to_string(1000 + i));
  }
  for (const std::string& column : csv[0]) {
    EXPECT_FALSE(column.starts_with("sm_stall_")) << column;
    EXPECT_EQ(std::count(csv[0].begin(), csv[0].end(), column), 1) << column;
  }
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

size_t CountLines(const std::string& text, const std::string& line) {
  const auto lines = Lines(text);
  return static_cast<size_t>(std::count(lines.begin(), lines.end(), line));
}

TEST(AccelSimText, NamesAndSpellings) {
  const std::string text = ReportToAccelSimText(SampleReport());
  for (const char* line : {"gpu_sim_cycle = 900", "gpu_sim_insn = 57600", "gpu_ipc =      64.0000",
                           "gpu_occupancy = 50.0000%"}) {
    EXPECT_EQ(CountLines(text, line), 2u) << line << ": each kernel has its own\n" << text;
  }
  for (const char* line :
       {"kernel_name = _Z3addPf ", "kernel_launch_uid = 1 ", "kernel_launch_uid = 2 ", "sm89_kernel_id = 1",
        "gpu_tot_sim_cycle = 900", "gpu_tot_sim_cycle = 1900", "gpu_tot_sim_insn = 115200",
        "gpu_tot_issued_cta = 16", "gpgpu_n_tot_w_icount = 1800", "gpgpu_n_tot_w_icount = 3600",
        "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 100",
        "\tTotal_core_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = 800",
        "\tL2_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS] = 300", "total dram reads = 150",
        "total dram reads = 300"}) {
    EXPECT_EQ(CountLines(text, line), 1u) << line << "\n" << text;
  }
  EXPECT_TRUE(text.ends_with("GPGPU-Sim: *** exit detected ***\n"));
}

TEST(AccelSimText, SuccessMarkOnlyForACompleteRun) {
  for (RunStatus status : {RunStatus::kCycleLimit, RunStatus::kCancelled, RunStatus::kDeadlock}) {
    RunReport run = SampleReport();
    run.status = status;
    EXPECT_THAT(ReportToAccelSimText(run), Not(HasSubstr("exit detected"))) << Name(status);
  }
  EXPECT_THAT(ReportToAccelSimText(MarkedReport()), Not(HasSubstr("exit detected"))) << "a partial trace";
}

TEST(AccelSimText, UndefinedFiguresAreAbsent) {
  RunReport run = SampleReport();
  run.kernels[0].stats.sm.active_cycles = 0;
  run.kernels.pop_back();
  const std::string text = ReportToAccelSimText(run);
  EXPECT_THAT(text, Not(HasSubstr("gpu_occupancy")));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(AccelSimText, BlocksStandInTheOrderOfTheirEnds) {
  RunReport run = SampleReport();
  run.kernels[0].end_cycle = 5000;
  const std::string text = ReportToAccelSimText(run);
  EXPECT_LT(text.find("axpy"), text.find("_Z3addPf"));
  EXPECT_EQ(CountLines(text, "gpu_tot_sim_cycle = 5000"), 1u);
}

TEST(Table, ShowsEveryKernelAndStaysNarrow) {
  RunReport run = NastyReport();
  run.kernels[0].stats.l1 = {};
  run.kernels[1].info.name = std::string(500, 'x');
  const std::string text = ReportToTable(run);
  for (const std::string& line : Lines(text)) {
    EXPECT_LE(line.size(), 110u) << line;
  }
  EXPECT_THAT(text, HasSubstr("total"));
  EXPECT_THAT(text, HasSubstr("xx.."));
  EXPECT_THAT(text, HasSubstr("long_scoreboard 50"));
  EXPECT_THAT(text, HasSubstr(" - ")) << "an undefined hit rate";
}

// Three figures that are easily taken for each other: instructions, operations, busy time.
TEST(TensorCores, HaveThreeLabelledFigures) {
  RunReport run = SampleReport();
  EXPECT_THAT(ReportToTable(run), Not(HasSubstr("tensor cores"))) << "no kernel uses them";
  run.units.slices.resize(48);
  run.units.channels.resize(24);
  SmStats& sm = run.kernels[1].stats.sm;
  sm.inst_tensor = 450;
  sm.tensor_ops = 450 * 4096;
  sm.tensor_busy_cycles = 12'800;
  const std::string table = ReportToTable(run);
  EXPECT_THAT(table, HasSubstr("\ngpu     128 SMs at 2500 MHz, 48 L2 slices, 24 DRAM channels\n"));
  EXPECT_THAT(table, HasSubstr("\n   # tensor cores           instructions operations  busy %\n"
                               "   2 void app::axpy<float..          450      1.84M    50.0\n"));
  const auto json = Parse(run);
  EXPECT_EQ(json["kernels"][1]["statistics"]["sm"]["inst_tensor"], 450);
  EXPECT_EQ(json["kernels"][1]["statistics"]["sm"]["tensor_ops"], 450 * 4096);
  EXPECT_EQ(json["kernels"][1]["derived"]["tensor_utilization"], 50);
  EXPECT_EQ(json["kernels"][1]["derived"]["tensor_instruction_share"], 25);
  EXPECT_EQ(json["definitions"]["sm_inst_tensor"]["unit"], "warp instructions");
  EXPECT_EQ(json["definitions"]["sm_tensor_ops"]["unit"], "operations");
  EXPECT_EQ(json["definitions"]["tensor_utilization"]["unit"], "%");
}

TEST(EveryRendering, ShowsMarksAndStatus) {
  const RunReport run = MarkedReport();
  for (const std::string& text :
       {ReportToJson(run), ReportToCsv(run), ReportToAccelSimText(run), ReportToTable(run)}) {
    EXPECT_THAT(text, HasSubstr("foreign_arch"));
    EXPECT_THAT(text, HasSubstr("allow_partial"));
  }
  EXPECT_EQ(Parse(run)["complete"], false);
  EXPECT_EQ(Parse(run)["status"], "complete");
  RunReport limited = SampleReport();
  limited.status = RunStatus::kCycleLimit;
  limited.status_detail = "--max-cycles 1900";
  limited.kernels[1].finished = false;
  for (const std::string& text :
       {ReportToJson(limited), ReportToCsv(limited), ReportToAccelSimText(limited), ReportToTable(limited)}) {
    EXPECT_THAT(text, HasSubstr("cycle_limit"));
  }
}

TEST(EveryRendering, CopesWithAnEmptyRun) {
  const RunReport run;
  EXPECT_EQ(Parse(run)["kernels"].size(), 0u);
  EXPECT_EQ(ReadCsv(ReportToCsv(run)).size(), 2u);
  EXPECT_FALSE(ReportToTable(run).empty());
  EXPECT_FALSE(ReportToAccelSimText(run).empty());
}

TEST(ClockReads, StandInEveryRendering) {
  const RunReport run = ClockedReport();
  const auto json = Parse(run);
  const auto& reads = json["kernels"][0]["clock_reads"];
  EXPECT_EQ(reads["warp_instructions"], 6);
  ASSERT_EQ(reads["pairs"].size(), 2u);
  EXPECT_EQ(reads["pairs"][0]["pc_first"], 0x20);
  EXPECT_EQ(reads["pairs"][0]["pc_second"], 0x460);
  EXPECT_EQ(reads["pairs"][0]["warps"], 2);
  EXPECT_EQ(reads["pairs"][0]["threads"], 64);
  EXPECT_EQ(reads["pairs"][0]["min_cycles"], 10);
  EXPECT_EQ(reads["pairs"][0]["median_cycles"], 12);
  EXPECT_EQ(reads["pairs"][0]["max_cycles"], 15);
  EXPECT_EQ(reads["pairs"][1]["resolution_cycles"], 4);
  EXPECT_EQ(reads["dropped_threads"], 32);
  const std::string exact = "0x0020>0x0460 threads 64 min 10 median 12 max 15";
  const std::string binned = "0x0460>0x0020 threads 32 min 7 median 8..11 max 9000";
  const auto csv = ReadCsv(ReportToCsv(run));
  for (const auto& record : csv) EXPECT_EQ(record.size(), csv[0].size());
  EXPECT_EQ(Cell(csv, 1, "clock_reads"), exact + "; " + binned + "; other pairs threads 32");
  EXPECT_EQ(Cell(csv, 2, "clock_reads"), "") << "kernel 2 reads none";
  EXPECT_EQ(Cell(csv, 3, "clock_reads"), "");
  EXPECT_EQ(Cell(csv, 1, "status"), "complete");
  EXPECT_THAT(ReportToTable(run), HasSubstr("\n   1 " + exact + "\n   1 " + binned + "\n"));
  EXPECT_THAT(ReportToAccelSimText(run), HasSubstr("sm89_clock_reads = " + exact + "\n"));
}

TEST(ClockReads, LeaveNoTraceWhereThereAreNone) {
  const RunReport run = SampleReport();
  for (const std::string& text :
       {ReportToJson(run), ReportToCsv(run), ReportToAccelSimText(run), ReportToTable(run)}) {
    EXPECT_THAT(text, Not(HasSubstr("clock_read")));
    EXPECT_THAT(text, Not(HasSubstr("clock reads")));
  }
}

std::vector<std::string> ProfilePieces(const RunReport& run, size_t wanted) {
  std::vector<std::string> pieces;
  WriteProfileCsv(run, [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return pieces.size() < wanted;
  });
  return pieces;
}

std::string ProfileCsv(const RunReport& run) { return absl::StrJoin(ProfilePieces(run, ~size_t{0}), ""); }

// Static ids are numbered as the instructions were met; rows stand in the order of the code.
TEST(Profile, RowsFollowTheCode) {
  std::vector<StaticInst> code(3);
  code[0].pc = 0x20;
  code[0].opcode = "EXIT";
  code[1].pc = 0x00;
  code[1].opcode = "MOV";
  code[1].source_line = 7;
  code[2].pc = 0x10;
  code[2].opcode = "BRA";
  PcProfile profile(2);
  profile[0].issued = 5;
  profile[1].issued = 6;
  profile[1].cycles[3] = 60;
  const std::vector<PcReport> rows = PcReports(code, profile);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].opcode, "MOV");
  EXPECT_EQ(rows[0].source_line, 7u);
  EXPECT_EQ(rows[0].counters.issued, 6u);
  EXPECT_EQ(rows[0].counters.cycles[3], 60u);
  EXPECT_EQ(rows[1].opcode, "BRA");
  EXPECT_EQ(rows[1].counters.issued, 0u) << "never issued";
  EXPECT_EQ(rows[2].pc, 0x20u);
  EXPECT_EQ(rows[2].counters.issued, 5u);
}

TEST(Profile, OneRowAnInstruction) {
  const auto csv = ReadCsv(ProfileCsv(ProfiledReport()));
  ASSERT_EQ(csv.size(), 3u) << "kernel 1 was not profiled";
  for (const auto& record : csv) EXPECT_EQ(record.size(), 7u + kNumWarpStates + kNumPcMemory);
  EXPECT_EQ(Cell(csv, 1, "kernel"), "1");
  EXPECT_EQ(Cell(csv, 1, "name"), "void app::axpy<float, 4>(float *, \"x\")");
  EXPECT_EQ(Cell(csv, 1, "pc"), "16");
  EXPECT_EQ(Cell(csv, 1, "opcode"), "LDG.E.128");
  EXPECT_EQ(Cell(csv, 1, "source_line"), "") << "not known";
  EXPECT_EQ(Cell(csv, 2, "source_line"), "42");
  EXPECT_EQ(Cell(csv, 2, "issued"), "1000");
  EXPECT_EQ(Cell(csv, 2, "threads"), "32000");
  EXPECT_EQ(Cell(csv, 2, "stall_long_sb"), "76800");
  EXPECT_EQ(Cell(csv, 2, "memory_load_sectors"), "0");
  // The state columns are those of the table of kernels.
  const auto kernels = ReadCsv(ReportToCsv(ProfiledReport()));
  const auto first = std::find(kernels[0].begin(), kernels[0].end(), "stall_selected");
  for (int i = 0; i < kNumWarpStates; ++i) EXPECT_EQ(csv[0].at(7 + i), first[i]);
}

// Column sums of the profile are the kernel's figures in the table of kernels.
TEST(Profile, SumsAreTheKernelsFigures) {
  const RunReport run = ProfiledReport();
  const auto csv = ReadCsv(ProfileCsv(run));
  const auto kernels = ReadCsv(ReportToCsv(run));
  std::map<std::string, uint64_t> sums;
  for (size_t row = 1; row < csv.size(); ++row) {
    for (size_t i = 5; i < csv[0].size(); ++i) sums[csv[0][i]] += std::stoull(csv[row][i]);
  }
  uint64_t warp_cycles = 0;
  for (const auto& [column, sum] : sums) {
    if (column.starts_with("memory_")) continue;  // sums of several counters: tests/unit/sim_api
    const std::string name = column == "issued"    ? "warp_instructions"
                             : column == "threads" ? "thread_instructions"
                                                   : column;
    EXPECT_EQ(Cell(kernels, 2, name), std::to_string(sum)) << column;
    if (column.starts_with("stall_")) warp_cycles += sum;
  }
  EXPECT_EQ(Cell(kernels, 2, "sm_resident_warp_cycles"), std::to_string(warp_cycles));
}

TEST(Profile, IsWrittenInPiecesAndStops) {
  RunReport run = ProfiledReport();
  run.kernels[1].per_pc.resize(10'000, run.kernels[1].per_pc[0]);
  const auto pieces = ProfilePieces(run, ~size_t{0});
  EXPECT_GT(pieces.size(), 5u);
  for (const std::string& piece : pieces) EXPECT_LT(piece.size(), 70'000u);
  EXPECT_EQ(ReadCsv(absl::StrJoin(pieces, "")).size(), 10'001u);
  EXPECT_EQ(ProfilePieces(run, 2).size(), 2u) << "the writer went on after a refusal";
}

TEST(Profile, StandsInJsonAndTable) {
  const auto kernels = Parse(ProfiledReport())["kernels"];
  EXPECT_FALSE(kernels[0].contains("per_pc"));
  const auto& insts = kernels[1]["per_pc"];
  ASSERT_EQ(insts.size(), 2u);
  EXPECT_EQ(insts[0]["pc"], 16);
  EXPECT_EQ(insts[0]["opcode"], "LDG.E.128");
  EXPECT_TRUE(insts[0]["source_line"].is_null());
  EXPECT_EQ(insts[1]["source_line"], 42);
  EXPECT_EQ(insts[1]["issued"], 1000);
  EXPECT_EQ(insts[1]["threads"], 32'000);
  ASSERT_EQ(insts[1]["warp_cycles"].size(), 18u);
  EXPECT_EQ(insts[1]["warp_cycles"]["long_scoreboard"], 76'800);
  EXPECT_EQ(insts[1]["warp_cycles"]["misc"], 0);

  const std::string table = ReportToTable(ProfiledReport());
  // 77,800 of 153,600 warp-cycles, 76,800 of these for memory.
  EXPECT_THAT(table, HasSubstr("   2 0x0020 FADD "));
  EXPECT_THAT(table, HasSubstr(" 50.7 % of warp-cycles, most in long_scoreboard 99 %\n"));
  EXPECT_LT(table.find("0x0020 FADD"), table.find("0x0010 LDG.E.128")) << "the hottest first";
  for (const std::string& line : Lines(table)) EXPECT_LE(line.size(), 110u) << line;
}

TEST(Profile, LeavesNoTraceWhereThereIsNone) {
  const RunReport run = SampleReport();
  EXPECT_THAT(ReportToJson(run), Not(HasSubstr("per_pc")));
  EXPECT_THAT(ReportToTable(run), Not(HasSubstr("instructions at which")));
  EXPECT_EQ(ReadCsv(ProfileCsv(run)).size(), 1u) << "column names only";
  EXPECT_EQ(ReportToAccelSimText(ProfiledReport()), ReportToAccelSimText([] {
              RunReport plain = ProfiledReport();
              plain.kernels[1].per_pc.clear();
              return plain;
            }()));
}

TEST(ControlBits, StandInTheRenderings) {
  RunReport run = SampleReport();
  EXPECT_THAT(ReportToTable(run), HasSubstr("\ncontrol synthesised\n"));
  run.kernels[0].control_bits = "machine code of a.cubin";
  EXPECT_THAT(ReportToTable(run),
              HasSubstr("\ncontrol machine code of a.cubin: 1 kernel, synthesised: 1 kernel\n"));
  EXPECT_EQ(Parse(run)["kernels"][0]["control_bits"], "machine code of a.cubin");
  const auto csv = ReadCsv(ReportToCsv(run));
  EXPECT_EQ(Cell(csv, 1, "control_bits"), "machine code of a.cubin");
  EXPECT_EQ(Cell(csv, 2, "control_bits"), "synthesised");
  run.kernels[0].control_bits = "machine code of " + std::string(300, 'f');
  for (const std::string& line : Lines(ReportToTable(run))) EXPECT_LE(line.size(), 110u) << line;
}

TEST(Json, SaysThatAKernelCameFromACubin) {
  const auto json = Parse(ClockedReport());
  EXPECT_EQ(json["kernels"][0]["source"], "cubin");
  EXPECT_EQ(json["kernels"][0]["control_bits_present"], true);
  EXPECT_FALSE(json["kernels"][1].contains("source")) << "a text trace";
}

}  // namespace
}  // namespace sm89
