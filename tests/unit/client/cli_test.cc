#include "client/cli/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "client/checksum.h"
#include "client/cli/exit_code.h"
#include "client/cli/upload_job.h"
#include "client/error.h"
#include "nlohmann/json.hpp"
#include "tests/unit/client/fake_server.h"

namespace sm89::client {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class CliTest : public ::testing::Test {
 protected:
  CliTest() : home_(fs::path(::testing::TempDir()) / ("cli-" + NewUuid())) { fs::create_directories(home_); }
  ~CliTest() override { fs::remove_all(home_); }

  // Runs with the fake server's address in the environment.
  int Run(std::vector<std::string> args, std::map<std::string, std::string> extra = {}) {
    std::map<std::string, std::string> variables = {{"HOME", home_.string()},
                                                    {"SM89_ADDRESS", server_.address()}};
    for (const auto& [name, value] : extra) variables[name] = value;
    out_.str("");
    err_.str("");
    Terminal terminal(out_, err_);
    terminal.err_is_terminal = err_is_terminal_;
    return RunCli(args, terminal, Environment(variables), std::stop_token());
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }
  Json json() const {
    Json parsed = Json::parse(out_.str(), nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << out_.str();
    return parsed;
  }
  std::string Write(const std::string& name, const std::string& text) {
    const fs::path path = home_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  v1::Job& AddJob(const std::string& id, v1::Job::State state) {
    v1::Job& job = server_.state().jobs["jobs/" + id];
    job.set_name("jobs/" + id);
    job.set_state(state);
    return job;
  }
  // One watch stream that goes straight to `state`.
  void WatchEndsIn(const std::string& id, v1::Job::State state, bool incomplete = false) {
    v1::JobUpdate update;
    update.set_sequence(1);
    update.set_kind(v1::JobUpdate::SNAPSHOT);
    update.mutable_job()->set_name("jobs/" + id);
    update.mutable_job()->set_state(state);
    update.mutable_job()->set_incomplete(incomplete);
    server_.state().watches = {{{update}, absl::OkStatus()}};
  }

  FakeServer server_;
  fs::path home_;
  std::ostringstream out_, err_;
  bool err_is_terminal_ = false;
};

TEST_F(CliTest, HelpDocumentsExitCodesAndEnvironment) {
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("Exit codes:"));
  EXPECT_THAT(out(), HasSubstr("SM89_ADDRESS"));
  EXPECT_THAT(out(), Not(HasSubstr("__complete")));
  EXPECT_EQ(Run({"submit", "--help"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("--max-cycles"));
  EXPECT_THAT(out(), Not(HasSubstr("Exit codes:")));
  EXPECT_EQ(Run({"help", "configs", "show"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("sm89 configs show"));
  EXPECT_EQ(Run({"help", "nonsense"}), kExitInvalid);
}

TEST_F(CliTest, UsageErrorsAreTwoAndSuggest) {
  EXPECT_EQ(Run({}), kExitInvalid);
  EXPECT_EQ(Run({"jbos"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("did you mean 'sm89 jobs'"));
  EXPECT_EQ(Run({"submit"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("nothing to simulate: give --trace, or --cubin with --launch"));
  EXPECT_EQ(Run({"submit", "--trace", "t", "--bogus"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("sm89 submit --help"));
  EXPECT_EQ(Run({"submit", "--suite", "s", "--case", "a", "b"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("--case takes one value each time: --case a --case b"));
  EXPECT_EQ(Run({"jobs", "--limit", "0"}), kExitInvalid);
  EXPECT_EQ(Run({"submit", "--trace", "t", "--set", "novalue", "--set", "=x"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("novalue"));
  EXPECT_THAT(err(), HasSubstr("'=x'"));
}

TEST_F(CliTest, JsonModeGivesOneDocumentForErrorsToo) {
  EXPECT_EQ(Run({"show", "none", "--json"}), kExitNotFound);
  EXPECT_EQ(json()["error"]["code"], "NOT_FOUND");
  EXPECT_EQ(Run({"jobs", "--nonsense", "--json"}), kExitInvalid);
  EXPECT_EQ(json()["error"]["code"], "INVALID_ARGUMENT");
  // Behind a command that has an option of this name it is that option.
  for (const char* command : {"result", "profile"}) {
    EXPECT_EQ(Run({command, "j", "--json", "f", "--bogus"}), kExitInvalid);
    EXPECT_EQ(out(), "") << command;
    EXPECT_THAT(err(), HasSubstr("--bogus"));
    EXPECT_EQ(Run({"--json", command, "j", "--bogus"}), kExitInvalid);
    EXPECT_EQ(json()["error"]["code"], "INVALID_ARGUMENT") << command;
  }
  EXPECT_EQ(Run({"jobs", "--filter", "result", "--nonsense", "--json"}), kExitInvalid);
}

TEST_F(CliTest, UnreachableServerSaysWhereAndWhatToDo) {
  server_.Stop();
  EXPECT_EQ(Run({"pool"}), kExitUnavailable);
  EXPECT_THAT(err(), HasSubstr(server_.address()));
  EXPECT_THAT(err(), HasSubstr("SM89_ADDRESS"));
  EXPECT_THAT(err(), HasSubstr("sm89d"));
  // None of these waits as long as for a server that went away.
  EXPECT_EQ(Run({"watch", "a"}), kExitUnavailable);
  EXPECT_EQ(Run({"result", "a"}), kExitUnavailable);
  EXPECT_EQ(Run({"version"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("not reachable"));
}

TEST_F(CliTest, AddressComesFromFlagThenEnvironmentThenFile) {
  Write(".config/sm89/config", "address = 127.0.0.1:1\ntimeout = 5\n");
  EXPECT_EQ(Run({"pool"}), kExitOk);  // SM89_ADDRESS before the file
  EXPECT_EQ(Run({"pool", "--address", "127.0.0.1:1"}), kExitUnavailable);
  EXPECT_THAT(err(), HasSubstr("comes from: --address"));
  EXPECT_EQ(Run({"pool"}, {{"SM89_ADDRESS", ""}}), kExitUnavailable);
  EXPECT_THAT(err(), HasSubstr(".config/sm89/config"));
  const std::string other = Write("other.ini", "address = " + server_.address() + "\n");
  EXPECT_EQ(Run({"pool", "--settings", other}, {{"SM89_ADDRESS", ""}}), kExitOk);
  EXPECT_EQ(Run({"pool"}, {{"SM89_ADDRESS", ""}, {"SM89_CONFIG_FILE", other}}), kExitOk);
}

TEST_F(CliTest, BadSettingsFilesAreNamed) {
  Write(".config/sm89/config", "adress = 127.0.0.1:1\n");
  EXPECT_EQ(Run({"pool"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("adress"));
  EXPECT_THAT(err(), HasSubstr("address, config, timeout"));
  Write(".config/sm89/config", "timeout = soon\n");
  EXPECT_EQ(Run({"pool"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("'soon'"));
  EXPECT_EQ(Run({"pool", "--settings", (home_ / "absent").string()}), kExitInvalid);
}

TEST_F(CliTest, UploadsAFileAndShowsTheTrace) {
  const std::string path = Write("bfs.tar.xz", std::string(2500, 'b'));
  EXPECT_EQ(Run({"upload", path, "--name", "big", "--foreign-arch"}), kExitOk) << err();
  EXPECT_THAT(out(), HasSubstr("traces/t1"));
  EXPECT_THAT(out(), HasSubstr("2 kernels"));
  EXPECT_EQ(server_.state().begins.front().display_name(), "big.tar.xz");
  EXPECT_TRUE(server_.state().begins.front().options().foreign_arch());
  EXPECT_FALSE(server_.state().begins.front().options().allow_partial());
  EXPECT_EQ(Run({"upload", path, "--json"}), kExitOk);
  EXPECT_EQ(json()["known_already"], true);
  EXPECT_EQ(json()["trace"]["name"], "traces/t1");
}

TEST_F(CliTest, UploadsAFolder) {
  Write("mytrace/kernelslist.g", "kernel-1.traceg\n");
  Write("mytrace/kernel-1.traceg", "-kernel name = k\n");
  EXPECT_EQ(Run({"upload", (home_ / "mytrace/").string()}), kExitOk) << err();
  EXPECT_EQ(server_.state().begins.front().display_name(), "mytrace.tar.zst");
  EXPECT_EQ(Run({"upload", (home_ / "mytrace").string()}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("nothing sent"));
}

TEST_F(CliTest, ARefusedTraceShowsEveryFaultAndIsTwo) {
  v1::ErrorDetail detail;
  for (int line : {27, 31}) {
    v1::Fault& fault = *detail.add_faults();
    fault.set_file("kernel-1.traceg");
    fault.set_line(static_cast<uint64_t>(line));
    fault.set_message("unknown opcode");
  }
  server_.state().finalize_error = WithDetail(
      absl::NotFoundError("kernel-1.traceg:27: unknown opcode\nkernel-1.traceg:31: unknown opcode"), detail);
  EXPECT_EQ(Run({"upload", Write("a.traceg", "x")}), kExitInvalid);  // NOT_FOUND about files is bad input
  EXPECT_EQ(err(), "error: kernel-1.traceg:27: unknown opcode\n  kernel-1.traceg:31: unknown opcode\n");
}

TEST_F(CliTest, ListsAllPagesUpToTheLimit) {
  for (int i = 0; i < 5; ++i) {
    v1::Trace& trace = server_.state().traces["traces/" + std::to_string(i)];
    trace.set_name("traces/" + std::to_string(i));
    trace.set_state(v1::Trace::READY);
  }
  EXPECT_EQ(Run({"traces", "--json"}), kExitOk);
  EXPECT_EQ(json()["traces"].size(), 5u);
  EXPECT_EQ(Run({"traces", "list", "--limit", "3", "--json"}), kExitOk);
  EXPECT_EQ(json()["traces"].size(), 3u);
  EXPECT_EQ(json()["next_page_token"], "3");
}

TEST_F(CliTest, SubmitSendsTheWholeSpecification) {
  EXPECT_EQ(Run({"submit",   "--trace", "t9",        "--config",   "RTX4090",      "--set",  "l2_slices=24",
                 "--set",    "-x=a=b",  "--kernels", "1,3-5",      "--max-cycles", "1000",   "--threads",
                 "2",        "--label", "k=v",       "--priority", "-3",           "--name", "n",
                 "--memory", "4G",      "--wall",    "15m",        "--no-cache"}),
            kExitOk)
      << err();
  EXPECT_THAT(out(), HasSubstr("jobs/j1  QUEUED"));
  ASSERT_EQ(server_.state().submits.size(), 1u);
  const v1::SubmitJobRequest& request = server_.state().submits.front();
  EXPECT_EQ(request.request_id().size(), 36u);
  const v1::JobSpec& spec = request.job();
  EXPECT_EQ(spec.trace(), "traces/t9");
  EXPECT_EQ(spec.config(), "configs/RTX4090");
  ASSERT_EQ(spec.overrides_size(), 2);
  EXPECT_EQ(spec.overrides(1).name(), "-x");
  EXPECT_EQ(spec.overrides(1).value(), "a=b");
  EXPECT_EQ(spec.kernels(), "1,3-5");
  EXPECT_EQ(spec.max_cycles(), 1000u);
  EXPECT_EQ(spec.threads(), 2u);
  EXPECT_EQ(spec.labels().at("k"), "v");
  EXPECT_EQ(spec.priority(), -3);
  EXPECT_EQ(spec.limits().memory_bytes(), uint64_t{4} << 30);
  EXPECT_EQ(spec.limits().wall_seconds(), 900u);
  EXPECT_TRUE(spec.no_result_cache());
}

TEST_F(CliTest, SubmitBoundsTheInstructionsOfALaunch) {
  EXPECT_EQ(Run({"submit", "--trace", "p", "--max-instructions", "5000"}), kExitOk) << err();
  EXPECT_EQ(server_.state().submits.back().job().limits().max_instructions(), 5000u);
  for (const char* bad : {"0", "-1", "1.5", "x"}) {
    EXPECT_EQ(Run({"submit", "--trace", "p", "--max-instructions", bad}), kExitInvalid) << bad;
  }
  EXPECT_EQ(server_.state().submits.size(), 1u);
}

TEST_F(CliTest, SubmitUploadsPathsAndStoresConfigFiles) {
  const std::string trace = Write("a.tar.xz", "trace");
  const std::string config = Write("mine.config", "-l2_slices 24\n");
  EXPECT_EQ(Run({"submit", "--trace", trace, "--config", config}), kExitOk) << err();
  EXPECT_EQ(Run({"submit", "--trace", trace, "--config", config}), kExitOk) << err();
  const v1::JobSpec& spec = server_.state().submits.back().job();
  EXPECT_EQ(spec.trace(), "traces/t1");
  EXPECT_THAT(spec.config(), HasSubstr("configs/mine-"));
  ASSERT_EQ(server_.state().configs.size(), 1u);  // the same text is the same configuration
  EXPECT_EQ(server_.state().configs.begin()->second.text(), "-l2_slices 24\n");
}

TEST_F(CliTest, NamesWithTheirCollectionAreNeverPaths) {
  const fs::path before = fs::current_path();
  fs::create_directories(home_ / "configs" / "X");
  fs::create_directories(home_ / "traces" / "t9");
  fs::create_directories(home_ / "Y");
  fs::current_path(home_);
  const int code = Run({"submit", "--trace", "traces/t9", "--config", "configs/X", "--config", "Y"});
  fs::current_path(before);
  EXPECT_EQ(code, kExitOk) << err();
  EXPECT_EQ(server_.state().submits.back().job().config(), "configs/Y");
}

TEST_F(CliTest, SweepsSubmitEveryCombinationAfterCheckingAll) {
  server_.state().result_parts.emplace_back().set_total_cycles(50);
  server_.state().result_parts.front().set_status("complete");
  server_.state().result_parts.front().add_kernels()->set_warp_instructions(100);
  EXPECT_EQ(Run({"submit", "--trace", "a", "--trace", "b", "--config", "X", "--config", "Y", "--vary", "l=1",
                 "--vary", "l=2", "--wait", "--json"}),
            kExitOk)
      << err();
  EXPECT_EQ(json()["jobs"].size(), 8u);
  EXPECT_EQ(json()["results"].size(), 8u);
  EXPECT_EQ(json()["results"][0]["total_cycles"], "50");
  ASSERT_EQ(server_.state().submits.size(), 16u);
  EXPECT_TRUE(server_.state().submits[7].validate_only());
  EXPECT_FALSE(server_.state().submits[8].validate_only());
  EXPECT_EQ(server_.state().submits[9].job().overrides(0).value(), "2");
  const std::string sweep = server_.state().submits[8].job().labels().at("sweep");
  EXPECT_EQ(server_.state().list_requests.front().filter(), "label.sweep=" + sweep);
}

TEST_F(CliTest, SweepTableShowsOneRowAJob) {
  server_.state().result_parts.emplace_back().set_total_cycles(50);
  server_.state().result_parts.front().add_kernels()->set_warp_instructions(100);
  EXPECT_EQ(Run({"submit", "--trace", "a", "--config", "X", "--config", "Y", "--wait"}), kExitOk) << err();
  EXPECT_THAT(out(), HasSubstr("CYCLES"));
  EXPECT_THAT(out(), HasSubstr("2.000"));  // IPC
  const std::string table = out();
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
}

TEST_F(CliTest, ARefusedSubmissionShowsTheFaults) {
  v1::ErrorDetail detail;
  detail.add_faults()->set_message("no such setting");
  server_.state().submit_error = WithDetail(absl::InvalidArgumentError("bad override"), detail);
  EXPECT_EQ(Run({"submit", "--trace", "a", "--set", "zz=1"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("no such setting"));
}

TEST_F(CliTest, WatchExitCodesTellHowItEnded) {
  WatchEndsIn("a", v1::Job::SUCCEEDED);
  EXPECT_EQ(Run({"watch", "a"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("SUCCEEDED"));
  WatchEndsIn("a", v1::Job::FAILED);
  EXPECT_EQ(Run({"watch", "jobs/a", "--json"}), kExitJobFailed);
  EXPECT_EQ(json()["state"], "FAILED");
  WatchEndsIn("a", v1::Job::CANCELLED);
  EXPECT_EQ(Run({"watch", "a", "-q"}), kExitJobFailed);
  EXPECT_EQ(out() + err(), "");
  WatchEndsIn("a", v1::Job::SUCCEEDED, /*incomplete=*/true);
  EXPECT_EQ(Run({"watch", "a"}), kExitIncomplete);
  EXPECT_EQ(Run({"watch", "traces/a"}), kExitInvalid);
}

TEST_F(CliTest, WatchEventsAreLinesOfJson) {
  WatchEndsIn("a", v1::Job::SUCCEEDED);
  EXPECT_EQ(Run({"watch", "a", "--events"}), kExitOk);
  EXPECT_EQ(json()["kind"], "SNAPSHOT");
}

TEST_F(CliTest, InterruptLeavesTheJobAndSaysHowToGoOn) {
  v1::JobUpdate update;
  update.set_sequence(1);
  update.set_kind(v1::JobUpdate::SNAPSHOT);
  update.mutable_job()->set_name("jobs/a");
  update.mutable_job()->set_state(v1::Job::RUNNING);
  server_.state().watches = {{{update}, absl::UnavailableError("gone")}};
  std::stop_source stop;
  Terminal terminal(out_, err_);
  std::jthread interrupt([&] {
    const auto watched_twice = [&] {  // the job is known to be running
      const std::lock_guard<std::mutex> lock(server_.state().mutex);
      return server_.state().watch_requests.size() >= 2;
    };
    while (!watched_twice()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop.request_stop();
  });
  const Environment environment({{"SM89_ADDRESS", server_.address()}});
  EXPECT_EQ(RunCli({"watch", "a"}, terminal, environment, stop.get_token()), kExitInterrupted);
  EXPECT_THAT(err(), HasSubstr("sm89 watch a"));
  EXPECT_THAT(err(), HasSubstr("sm89 cancel a"));
}

TEST_F(CliTest, CancelGoesThroughAllNames) {
  AddJob("a", v1::Job::RUNNING);
  AddJob("b", v1::Job::QUEUED);
  EXPECT_EQ(Run({"cancel", "a", "none", "b", "--reason", "why not"}), kExitNotFound);
  EXPECT_THAT(out(), HasSubstr("a  CANCELLED"));
  EXPECT_THAT(out(), HasSubstr("b  CANCELLED"));
  EXPECT_THAT(err(), HasSubstr("none"));
  ASSERT_EQ(server_.state().cancels.size(), 3u);
  EXPECT_EQ(server_.state().cancels[0].reason(), "why not");
}

TEST_F(CliTest, JobsCombineFilterAndState) {
  AddJob("a", v1::Job::RUNNING).mutable_spec()->set_display_name("evil\x1b[31mname");
  EXPECT_EQ(Run({"jobs", "--filter", "label.k=v", "--state", "running"}), kExitOk);
  EXPECT_EQ(server_.state().list_requests.front().filter(), "label.k=v AND state=RUNNING");
  EXPECT_THAT(out(), HasSubstr("evil?[31mname"));
  EXPECT_THAT(out(), Not(HasSubstr("\x1b")));
}

TEST_F(CliTest, ResultWritesFilesAndPrintsTheTable) {
  server_.state().result_parts.emplace_back().set_status("complete");
  server_.state().artifacts = {
      {"report.json", "{\"a\": 1}\n"}, {"report.csv", "k,c\n"}, {"report.table", "TABLE\n"}};
  const std::string json_path = (home_ / "r.json").string();
  const std::string csv_path = (home_ / "r.csv").string();
  EXPECT_EQ(Run({"result", "a", "--json", json_path, "--csv", csv_path}), kExitOk) << err();
  std::ostringstream text;
  text << std::ifstream(json_path).rdbuf();
  EXPECT_EQ(text.str(), "{\"a\": 1}\n");
  EXPECT_TRUE(fs::exists(csv_path));
  EXPECT_EQ(out(), "");
  EXPECT_EQ(Run({"result", "a"}), kExitOk);
  EXPECT_EQ(out(), "TABLE\n");
  EXPECT_EQ(Run({"result", "a", "--json"}), kExitOk);
  EXPECT_EQ(out(), "{\"a\": 1}\n");
  EXPECT_EQ(Run({"--json", "result", "a"}), kExitOk);
  EXPECT_EQ(json()["status"], "complete");
  EXPECT_EQ(Run({"result", "a", "--json", "-", "--table"}), kExitInvalid);
  server_.state().result_parts.front().set_status("cycle_limit");
  EXPECT_EQ(Run({"result", "a"}), kExitIncomplete);
}

TEST_F(CliTest, ResultUnpacksTheTimelineUnlessItsFileIsCompressed) {
  server_.state().result_parts.emplace_back().set_status("complete");
  // printf '{"traceEvents": []}\n' | gzip -n
  const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
                                  0xab, 0x56, 0x2a, 0x29, 0x4a, 0x4c, 0x4e, 0x75, 0x2d, 0x4b,
                                  0xcd, 0x2b, 0x29, 0x56, 0xb2, 0x52, 0x88, 0x8e, 0xad, 0xe5,
                                  0x02, 0x00, 0x3a, 0x10, 0xcf, 0x2a, 0x14, 0x00, 0x00, 0x00};
  const std::string bytes(reinterpret_cast<const char*>(packed), sizeof packed);
  server_.state().artifacts = {{"timeline.json.gz", bytes}};
  EXPECT_EQ(Run({"result", "a", "--kineto"}), kExitOk) << err();
  EXPECT_EQ(out(), "{\"traceEvents\": []}\n");
  const std::string plain = (home_ / "t.json").string();
  const std::string compressed = (home_ / "t.json.gz").string();
  EXPECT_EQ(Run({"result", "a", "--kineto", plain}), kExitOk) << err();
  EXPECT_EQ(Run({"result", "a", "--kineto", compressed}), kExitOk) << err();
  std::ostringstream text, kept;
  text << std::ifstream(plain).rdbuf();
  kept << std::ifstream(compressed).rdbuf();
  EXPECT_EQ(text.str(), "{\"traceEvents\": []}\n");
  EXPECT_EQ(kept.str(), bytes);
  // Cut short or no gzip at all: nothing is left behind.
  fs::remove(plain);
  for (const std::string& bad : {bytes.substr(0, 20), std::string("{}")}) {
    server_.state().artifacts = {{"timeline.json.gz", bad}};
    EXPECT_NE(Run({"result", "a", "--kineto", plain}), kExitOk);
    EXPECT_THAT(err(), HasSubstr("gzip"));
    EXPECT_FALSE(fs::exists(plain));
  }
}

TEST_F(CliTest, ResultOfAnUnfinishedJobSaysHowItStands) {
  AddJob("a", v1::Job::RUNNING);
  EXPECT_EQ(Run({"result", "a"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("is RUNNING"));
  AddJob("b", v1::Job::FAILED).set_error_message("deadlock in kernel 3");
  EXPECT_EQ(Run({"result", "b"}), kExitJobFailed);
  EXPECT_THAT(out(), HasSubstr("deadlock in kernel 3"));
}

TEST_F(CliTest, SubmitPacksMachineCodeAndUploadsIt) {
  const std::string cubin = Write("k.cubin", "code");
  const std::string launch = Write("k.json", R"({"kernel": "k", "grid": [1], "block": [1], "args": []})");
  EXPECT_EQ(Run({"submit", "--cubin", cubin, "--launch", launch, "--keep-trace"}), kExitOk) << err();
  ASSERT_EQ(server_.state().begins.size(), 1u);
  EXPECT_EQ(server_.state().begins[0].display_name(), "k.cubin");
  ASSERT_EQ(server_.state().uploads.size(), 1u);
  EXPECT_THAT(server_.state().uploads.begin()->second.data, HasSubstr("SM89PRG\n"));
  ASSERT_EQ(server_.state().submits.size(), 1u);
  EXPECT_TRUE(server_.state().submits[0].job().keep_trace());
  EXPECT_FALSE(server_.state().submits[0].job().profile());
  EXPECT_EQ(Run({"submit", "--cubin", cubin, "--launch", launch, "--sass", cubin}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("--sass is for traces"));
  EXPECT_EQ(Run({"submit", "--cubin", cubin}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("--launch"));
  EXPECT_EQ(Run({"upload", "--cubin", cubin, "--suite", launch}), kExitInvalid);
  EXPECT_EQ(Run({"upload", "--cubin", cubin, "--launch", launch, "--arch", "hopper"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("hopper"));
  EXPECT_EQ(Run({"upload"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("PATH"));
}

TEST_F(CliTest, UploadsOfProgramsShowNoNumberOfInstructions) {
  v1::Trace& trace = server_.state().traces["traces/p"];
  trace.set_name("traces/p");
  trace.set_state(v1::Trace::READY);
  trace.add_marks("emulated: 1 launch of sm_89 machine code");
  EXPECT_EQ(Run({"traces", "show", "p"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("known after a run"));
}

TEST_F(CliTest, AnalyzeSendsTheFileAndPrintsTheAnswer) {
  server_.state().analysis = {"first ", "second"};
  const std::string cubin = Write("k.cubin", "code");
  EXPECT_EQ(
      Run({"analyze", "info", "--cubin", cubin, "--threads", "256", "--shared", "1024", "--function", "f"}),
      kExitOk)
      << err();
  EXPECT_EQ(out(), "first second\n");
  v1::AnalyzeRequest request = server_.state().analyses.back();
  EXPECT_EQ(request.kind(), v1::AnalyzeRequest::INFO);
  EXPECT_EQ(request.format(), v1::AnalyzeRequest::TEXT);
  EXPECT_EQ(request.image(), "code");
  EXPECT_EQ(request.function(), "f");
  EXPECT_EQ(request.arch(), 0u);
  EXPECT_EQ(request.launch().threads(), 256u);
  EXPECT_EQ(request.launch().dynamic_shared_bytes(), 1024u);
  EXPECT_EQ(Run({"analyze", "live", "p", "--arch", "sm_90", "--json"}), kExitOk);
  request = server_.state().analyses.back();
  EXPECT_EQ(request.trace(), "traces/p");
  EXPECT_EQ(request.arch(), 90u);
  EXPECT_EQ(request.format(), v1::AnalyzeRequest::JSON);
  EXPECT_EQ(Run({"analyze", "mma-layout", "--shape", "m16n8k16", "--svg"}), kExitOk);
  EXPECT_EQ(server_.state().analyses.back().format(), v1::AnalyzeRequest::SVG);
  EXPECT_EQ(Run({"analyze", "live"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("--cubin"));
  EXPECT_EQ(Run({"analyze", "everything", "--cubin", cubin}), kExitInvalid);
}

TEST_F(CliTest, AnalyzeErrorsNameTheUsersFile) {
  v1::Fault fault;
  fault.set_file("image");  // the server's name of what was sent
  fault.set_message("a section outside the file");
  server_.state().analysis_error = InputError("ANALYSIS_INVALID_ARGUMENT", "bad code", {fault});
  EXPECT_EQ(Run({"analyze", "dis", "--cubin", Write("k.cubin", "code")}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("k.cubin: a section outside the file"));
}

TEST_F(CliTest, ConfigsValidateShowsAllErrorsAndIsTwo) {
  for (uint64_t line : {2, 4}) {
    v1::Fault& fault = *server_.state().validation.add_errors();
    fault.set_file("text");  // the server's label of a text
    fault.set_line(line);
    fault.set_message("unknown option");
  }
  server_.state().validation.add_warnings("text:3: given twice");
  const std::string path = Write("gpu.config", "-x 1\n");
  EXPECT_EQ(Run({"configs", "validate", path}), kExitInvalid);
  EXPECT_THAT(out(), HasSubstr("gpu.config:2: unknown option"));
  EXPECT_THAT(out(), HasSubstr("gpu.config:4: unknown option"));
  EXPECT_THAT(out(), HasSubstr("gpu.config:3: given twice"));
  EXPECT_THAT(out(), HasSubstr("2 errors"));
  server_.state().validation.Clear();
  server_.state().validation.set_valid(true);
  EXPECT_EQ(Run({"configs", "validate", path, "--json"}), kExitOk);
  EXPECT_EQ(json()["valid"], true);
}

TEST_F(CliTest, CompletesCommandsOptionsAndServerNames) {
  server_.state().configs["configs/RTX4090"].set_name("configs/RTX4090");
  server_.state().configs["configs/H100"].set_name("configs/H100");
  AddJob("abc", v1::Job::RUNNING);
  Run({"__complete", "--", "sub"});
  EXPECT_EQ(out(), "submit\n");
  Run({"__complete", "--", "submit", "--max"});
  EXPECT_EQ(out(), "--max-cycles\n--max-instructions\n");
  Run({"__complete", "--", "submit", "--trace", "x", "--config", "RTX"});
  EXPECT_EQ(out(), "RTX4090\n:files\n");
  Run({"__complete", "--", "submit", "--config", "=", "H"});
  EXPECT_EQ(out(), "H100\n:files\n");
  Run({"__complete", "--", "configs", "show", ""});
  EXPECT_THAT(out(), HasSubstr("H100\nRTX4090\n"));
  Run({"__complete", "--", "watch", "a"});
  EXPECT_EQ(out(), "abc\n");
  Run({"__complete", "--", "configs", "sc"});
  EXPECT_EQ(out(), "schema\n");
  Run({"__complete", "--", "completion", ""});
  EXPECT_EQ(out(), "bash\nfish\nzsh\n");
  Run({"__complete", "--", "upload", ""});
  EXPECT_EQ(out(), ":files\n");
  Run({"__complete", "--", "submit", "--cubin", ""});
  EXPECT_EQ(out(), ":files\n");
  Run({"__complete", "--", "analyze", "st"});
  EXPECT_EQ(out(), "stalls\n");
}

TEST_F(CliTest, CompletionIsSilentWithoutAServer) {
  server_.Stop();
  EXPECT_EQ(Run({"__complete", "--", "watch", ""}), kExitOk);
  EXPECT_EQ(out() + err(), "");
}

TEST_F(CliTest, CompletionScriptsNameTheProgram) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(Run({"completion", shell}), kExitOk);
    EXPECT_THAT(out(), HasSubstr("__complete"));
  }
  EXPECT_EQ(Run({"completion", "tcsh"}), kExitInvalid);
}

TEST_F(CliTest, NoColoursUnlessATerminalOrForced) {
  AddJob("a", v1::Job::SUCCEEDED);
  Run({"jobs"});
  EXPECT_THAT(out(), Not(HasSubstr("\x1b")));
  Run({"jobs", "--color", "always"});
  EXPECT_THAT(out(), HasSubstr("\x1b[32m"));
}

TEST_F(CliTest, SassIsUploadedAsMachineCodeAndNamed) {
  const std::string listing = Write("k.sass", "code");
  v1::Trace& stored = server_.state().traces["traces/c"];
  stored.set_name("traces/c");
  stored.set_state(v1::Trace::READY);
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--sass", listing, "--sass", "traces/c", "--profile"}),
            kExitOk)
      << err();
  ASSERT_EQ(server_.state().begins.size(), 1u);
  EXPECT_TRUE(server_.state().begins[0].options().machine_code());
  EXPECT_EQ(server_.state().begins[0].display_name(), "k.sass");
  ASSERT_EQ(server_.state().submits.size(), 1u);
  const v1::JobSpec& job = server_.state().submits[0].job();
  ASSERT_EQ(job.sass_size(), 2);
  EXPECT_THAT(job.sass(0), ::testing::StartsWith("traces/"));
  EXPECT_EQ(job.sass(1), "traces/c");
  // A file keeps the name that it has here; of an upload the server knows it.
  EXPECT_THAT(job.sass_names(), ::testing::ElementsAre("k.sass", ""));
  EXPECT_TRUE(job.profile());
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--sass", "c"}), kExitOk) << err();
  EXPECT_EQ(server_.state().submits.back().job().sass_names_size(), 0);
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--sass", home_.string()}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("it is a folder"));
}

TEST_F(CliTest, SassThatIsNoFileAndNoUploadIsSaidToBeNeither) {
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--sass", "nofile.cubin"}), kExitNotFound);
  EXPECT_THAT(err(), HasSubstr("--sass nofile.cubin: there is neither a file of that name here nor an upload "
                               "traces/nofile.cubin on the server"));
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--sass", "traces/n"}), kExitNotFound);
  EXPECT_THAT(err(), HasSubstr("--sass traces/n: there is no upload traces/n on the server"));
  EXPECT_TRUE(server_.state().submits.empty());
}

TEST_F(CliTest, TooMuchMachineCodeIsNotSent) {
  const std::string path = Write("huge.cubin", "code");
  fs::resize_file(path, kMachineCodeBytesMax + 1);
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--sass", path}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("huge.cubin: the file is too large for machine code"));
  EXPECT_THAT(err(), HasSubstr("'1073741825 bytes', expected at most 1073741824 bytes"));
  EXPECT_EQ(Run({"upload", "--sass", path}), kExitInvalid);
  EXPECT_TRUE(server_.state().begins.empty());
}

TEST_F(CliTest, AFolderWithASlashBehindHasTheNameOfOneWithout) {
  server_.state().result_parts.emplace_back().set_total_cycles(50);
  Write("tr/kernelslist.g", "k.traceg\n");
  Write("tr/k.traceg", "x");
  for (const char* end : {"", "/", "//", "/."}) {
    const std::string folder = (home_ / "tr").string() + end;
    EXPECT_EQ(Run({"submit", "--trace", folder, "--config", "X", "--config", "Y", "--wait"}), kExitOk)
        << err();
    EXPECT_THAT(out(), ::testing::ContainsRegex("\n *tr ")) << end << out();
  }
}

TEST_F(CliTest, MachineCodeIsShownWithoutWhatNobodyCounted) {
  v1::Trace& code = server_.state().traces["traces/c"];
  code.set_name("traces/c");
  code.set_state(v1::Trace::READY);
  code.set_kernels(3);
  code.mutable_options()->set_machine_code(true);
  EXPECT_EQ(Run({"traces", "show", "c"}), kExitOk) << err();
  EXPECT_THAT(out(), HasSubstr("functions             3"));
  for (const char* absent : {"kernels", "instructions", "host-to-device"}) {
    EXPECT_THAT(out(), Not(HasSubstr(absent)));
  }
  code.mutable_options()->set_machine_code(false);
  EXPECT_EQ(Run({"traces", "show", "c"}), kExitOk) << err();
  for (const char* part : {"kernels", "warp instructions", "host-to-device"}) {
    EXPECT_THAT(out(), HasSubstr(part));
  }
}

TEST_F(CliTest, NothingIsConcededToMachineCode) {
  const std::string path = Write("k.cubin", "code");
  for (const char* option : {"--foreign-arch", "--allow-partial", "--unknown-as-nop"}) {
    EXPECT_EQ(Run({"upload", "--sass", path, option}), kExitInvalid);
    EXPECT_THAT(err(), HasSubstr(option + std::string(" is for traces, not for --sass")));
  }
  EXPECT_TRUE(server_.state().begins.empty());
}

TEST_F(CliTest, DecisionsOfTheReorderingStageAreAskedForInAForm) {
  const auto format = [this] { return server_.state().submits.back().job().ser_trace(); };
  EXPECT_EQ(Run({"submit", "--trace", "traces/t"}), kExitOk) << err();
  EXPECT_EQ(format(), v1::SER_TRACE_UNSPECIFIED);
  EXPECT_EQ(Run({"submit", "--ser-trace", "--trace", "traces/t"}), kExitOk) << err();
  EXPECT_EQ(format(), v1::SER_TRACE_COMPACT);
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--ser-trace=jsonl"}), kExitOk) << err();
  EXPECT_EQ(format(), v1::SER_TRACE_JSONL);
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--ser-trace", "csv"}), kExitOk) << err();
  EXPECT_EQ(format(), v1::SER_TRACE_CSV);
  EXPECT_EQ(Run({"submit", "--trace", "traces/t", "--ser-trace=xml"}), kExitInvalid);
  AddJob("a", v1::Job::SUCCEEDED);
  EXPECT_EQ(Run({"result", "a", "--ser-trace", (home_ / "d").string()}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("submitted without --ser-trace"));
  AddJob("b", v1::Job::SUCCEEDED).mutable_spec()->set_ser_trace(v1::SER_TRACE_COMPACT);
  EXPECT_EQ(Run({"result", "b", "--ser-trace", (home_ / "d.csv").string()}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("ser_trace.ser, which is no .csv file"));
  EXPECT_EQ(Run({"show", "b"}), kExitOk);
  EXPECT_THAT(out(), HasSubstr("reordering decisions"));
}

TEST_F(CliTest, WatchAsksForSoMuchOfTheProfile) {
  AddJob("a", v1::Job::RUNNING);
  EXPECT_EQ(Run({"watch", "a", "--profile"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("submitted without --profile"));
  AddJob("b", v1::Job::RUNNING).mutable_spec()->set_profile(true);
  v1::JobUpdate running;
  running.set_sequence(1);
  running.mutable_job()->set_name("jobs/b");
  running.mutable_job()->set_state(v1::Job::RUNNING);
  v1::LiveProfile& profile = *running.mutable_job()->mutable_progress()->mutable_profile();
  profile.set_kernel_name("axpy");
  profile.set_waited(10);
  profile.add_rows()->set_opcode("LDG.E");
  v1::JobUpdate done;
  done.set_sequence(2);
  done.mutable_job()->set_name("jobs/b");
  done.mutable_job()->set_state(v1::Job::SUCCEEDED);
  server_.state().watches = {{{running, done}, absl::OkStatus()}};
  EXPECT_EQ(Run({"watch", "b", "--profile"}), kExitOk) << err();
  EXPECT_THAT(err(), HasSubstr("LDG.E"));
  EXPECT_EQ(server_.state().watch_requests.back().profile_rows(), 10u);
  EXPECT_EQ(Run({"watch", "b", "--profile=3"}), kExitOk);
  EXPECT_EQ(server_.state().watch_requests.back().profile_rows(), 3u);
  EXPECT_EQ(Run({"watch", "b", "--profile=65"}), kExitInvalid);
  EXPECT_EQ(Run({"watch", "b", "-q", "--profile"}), kExitOk);
  EXPECT_THAT(err(), ::testing::Not(HasSubstr("LDG.E")));
}

TEST_F(CliTest, SubmitDrawsTheProfileOnATerminalOnly) {
  v1::JobUpdate running;
  running.set_sequence(1);
  running.mutable_job()->set_name("jobs/j1");
  running.mutable_job()->set_state(v1::Job::RUNNING);
  running.mutable_job()->mutable_progress()->mutable_profile()->add_rows()->set_opcode("LDG.E");
  v1::JobUpdate done;
  done.set_sequence(2);
  done.mutable_job()->set_name("jobs/j1");
  done.mutable_job()->set_state(v1::Job::SUCCEEDED);
  server_.state().watches = {{{running, done}, absl::OkStatus()}};
  const auto rows = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"submit", "--trace", "traces/t"});
    Run(more);
    return server_.state().watch_requests.back().profile_rows();
  };
  EXPECT_EQ(rows({"--watch", "--profile"}), 0u);
  err_is_terminal_ = true;
  EXPECT_EQ(rows({"--watch", "--profile"}), 10u);
  EXPECT_THAT(err(), HasSubstr("LDG.E"));
  EXPECT_EQ(rows({"--wait", "--profile"}), 0u);
  EXPECT_EQ(rows({"--watch"}), 0u);
}

TEST_F(CliTest, ProfileShowsAFile) {
  EXPECT_EQ(Run({"profile", "--from", home_.string()}), kExitInvalid);
  const std::string other = Write("other.json", "{}");
  EXPECT_NE(Run({"profile", "--from", other}), kExitOk);
  EXPECT_THAT(err(), HasSubstr("its format is not sm89-profile/1"));
}

TEST_F(CliTest, AFileThatIsNoProfileIsBadInputAndNamed) {
  const std::string whole =
      R"({"format":"sm89-profile/1","counter_columns":["selected","requests"],"kernels":)";
  for (const auto& [name, text, what] :
       {std::tuple("cut.json", whole, absl::StrCat("cut off, at byte ", whole.size() + 1)),
        std::tuple("ps.csv", std::string("kernel,pc\n1,2\n"), std::string("at byte 1")),
        std::tuple("list.json", whole + "[{}]}", std::string("entry 1 of 'kernels' is missing")),
        std::tuple("number.json", std::string(R"({"format":7})"), std::string("its format is not")),
        std::tuple("bare.json",
                   std::string(R"({"format":"sm89-profile/1","counter_columns":[],"kernels":[]})"),
                   std::string("it has no columns selected to requests"))}) {
    EXPECT_EQ(Run({"profile", "--from", Write(name, text)}), kExitInvalid) << name;
    EXPECT_THAT(err(),
                HasSubstr(absl::StrCat(
                    "/", name, ": not a profile that sm89-sim --pc-json or 'sm89 profile --json' wrote: ")));
    EXPECT_THAT(err(), HasSubstr(what));
    EXPECT_THAT(err(), Not(HasSubstr("json.exception"))) << name;
    EXPECT_THAT(err(), Not(HasSubstr("this is a bug"))) << name;
  }
}

TEST_F(CliTest, ProfileNeedsAJobThatCountedOne) {
  AddJob("j", v1::Job::SUCCEEDED);
  EXPECT_EQ(Run({"profile", "j"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("submitted without --profile"));
  AddJob("r", v1::Job::RUNNING).mutable_spec()->set_profile(true);
  EXPECT_EQ(Run({"profile", "r"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("sm89 watch r --profile"));
  EXPECT_EQ(Run({"profile"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("JOB or --from"));
  EXPECT_EQ(Run({"profile", "j", "--json", "--csv"}), kExitInvalid);
  EXPECT_EQ(Run({"profile", "--json", "j"}), kExitInvalid);
  EXPECT_THAT(err(), HasSubstr("--json took 'j' as its FILE"));
  EXPECT_THAT(err(), HasSubstr("--json=FILE"));
  EXPECT_EQ(Run({"profile", "--from", (home_ / "absent").string()}), kExitNotFound);
}

}  // namespace
}  // namespace sm89::client
