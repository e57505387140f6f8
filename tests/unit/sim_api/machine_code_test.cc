// A text trace gets its encodings back: from the cubin, and from listings of it.
#include "sim/api/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/cubin/reader.h"
#include "sim/ingest/ingest.h"
#include "sim/isa/decoded_inst.h"
#include "sim/report/run_report.h"
#include "sim/sass/decode.h"
#include "sim/tools/accel_sim_writer.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_command.h"
#include "sim/trace/compact_reader.h"
#include "tests/support/example_kernels.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;

// A source as a text trace leaves it: no machine code.
class TextOf final : public TraceSource {
 public:
  explicit TextOf(std::shared_ptr<TraceSource> source) : source_(std::move(source)) {
    for (uint32_t k = 0; k < source_->info().kernels.size(); ++k) {
      const auto table = source_->StaticTable(k);
      tables_.emplace_back(table.begin(), table.end());
      for (StaticInst& inst : tables_.back()) inst.has_encoding = false;
    }
  }
  const TraceSetInfo& info() const override { return source_->info(); }
  const std::string& digest() const override { return source_->digest(); }
  std::span<const StaticInst> StaticTable(uint32_t kernel) const override { return tables_[kernel]; }
  uint64_t NumCtas(uint32_t kernel) const override { return source_->NumCtas(kernel); }
  Dim3 CtaId(uint32_t kernel, uint64_t index) const override { return source_->CtaId(kernel, index); }
  absl::StatusOr<std::unique_ptr<CtaTrace>> OpenCta(uint32_t kernel, uint64_t index) override {
    return source_->OpenCta(kernel, index);
  }

 private:
  std::shared_ptr<TraceSource> source_;
  std::vector<std::vector<StaticInst>> tables_;
};

// vector_add, executed, written as Accel-Sim text and read again: what a tracer would have left of it.
class MachineCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto program = CollectProgram({.cubin = Cubin(),
                                         .cubin_folder = "",
                                         .launches = testing::ExampleKernelPath("vector_add.json"),
                                         .cases = {}});
    ASSERT_TRUE(program.ok()) << program.status();
    const auto emulation = Emulation::Create(*program, {});
    ASSERT_TRUE(emulation.ok()) << emulation.status();
    live_ = (*emulation)->source();
    ASSERT_TRUE(WriteAccelSimFolder(*live_, Path("text")).ok());
    trace_ = Ingested();
    ASSERT_FALSE(trace_->StaticTable(0).empty());
    ASSERT_FALSE(trace_->StaticTable(0)[0].has_encoding);
  }

  std::shared_ptr<TraceSource> Ingested() const {
    const auto ingested = IngestTrace(Path("text"), Path("trace.sm89"), {});
    EXPECT_TRUE(ingested.ok()) << ingested.status();
    auto reader = CompactReader::Open(Path("trace.sm89"));
    EXPECT_TRUE(reader.ok()) << reader.status();
    return std::move(*reader);
  }

  static std::string Cubin() { return testing::ExampleKernelPath("vector_add.sm_89.cubin"); }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }

  // The trace's kernel as cuobjdump or nvdisasm prints it; `kernel` is its name in the listing.
  std::string Listing(const std::string& kernel, bool nvdisasm) const {
    const auto module = cubin::OpenCubin(Cubin());
    EXPECT_TRUE(module.ok());
    const cubin::Function& function = module->functions.at(0);
    std::string text = nvdisasm ? "\t.target\tsm_89\n.text." + kernel + ":\n"
                                : "\tcode for sm_89\n\t\tFunction : " + kernel + "\n";
    for (size_t at = 0; at + 16 <= function.code.size(); at += 16) {
      sass::Word128 word;
      for (size_t b = 8; b-- > 0;) {
        word.lo = word.lo << 8 | function.code[at + b];
        word.hi = word.hi << 8 | function.code[at + 8 + b];
      }
      const auto inst = sass::Decode(word, 89);
      absl::StrAppendFormat(&text, "        /*%04x*/  %s ;   /* 0x%016x */\n%60s/* 0x%016x */\n", at,
                            inst.ok() ? sass::Print(*inst, {}) : "?", word.lo, "", word.hi);
    }
    return text;
  }

  void ExpectTheCubinsBits(const TraceSource& source) const {
    const DecodedKernel traced = DecodeKernel(source.StaticTable(0), {});
    const DecodedKernel real = DecodeKernel(live_->StaticTable(0), {});
    EXPECT_EQ(traced.control_source, ControlSource::kMachineCode);
    for (const DecodedInst& inst : traced.insts) {
      const auto it = std::find_if(real.insts.begin(), real.insts.end(),
                                   [&](const DecodedInst& other) { return other.pc == inst.pc; });
      ASSERT_NE(it, real.insts.end());
      EXPECT_EQ(inst.bits.stall_cycles, it->bits.stall_cycles) << inst.pc;
      EXPECT_EQ(inst.bits.write_counter, it->bits.write_counter) << inst.pc;
      EXPECT_EQ(inst.bits.read_counter, it->bits.read_counter) << inst.pc;
      EXPECT_EQ(inst.bits.wait_mask, it->bits.wait_mask) << inst.pc;
      EXPECT_EQ(inst.bits.reuse_mask, it->bits.reuse_mask) << inst.pc;
      EXPECT_EQ(inst.num_sources, it->num_sources) << inst.pc;
      EXPECT_EQ(inst.guarded, it->guarded) << inst.pc;
    }
  }

  absl::StatusOr<MachineCode> Add(const std::vector<std::string>& paths) const {
    std::vector<MachineCodeFile> files;
    for (const std::string& path : paths) files.push_back({path, path});
    return AddMachineCode(trace_, files, {true});
  }

  std::string Kernel() const { return trace_->info().kernels[0].name; }

  testing::TempDir dir_;
  std::shared_ptr<TraceSource> live_;
  std::shared_ptr<TraceSource> trace_;
};

TEST_F(MachineCodeTest, OfTheCubin) {
  const auto code = Add({Cubin()});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(code->files, std::vector<std::string>{"vector_add.sm_89.cubin"}) << "without its folder";
  EXPECT_TRUE(code->source->info().warnings.empty());
  EXPECT_EQ(code->source->digest(), trace_->digest());
  ExpectTheCubinsBits(*code->source);
}

TEST_F(MachineCodeTest, OfListings) {
  for (const bool nvdisasm : {false, true}) {
    const std::string path = Write("code.sass", Listing(Kernel(), nvdisasm));
    const auto code = Add({path});
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_EQ(code->files, std::vector<std::string>{"code.sass"});
    ExpectTheCubinsBits(*code->source);
  }
}

// The whole way: what the tracer's text lost is what the listing brings back.
TEST_F(MachineCodeTest, ARunIsTheExecutedOnesCycleForCycle) {
  const auto executed = testing::RunExampleKernel("vector_add", 1, 1'000'000);
  ASSERT_TRUE(executed.ok()) << executed.status();
  SimulatorOptions options;
  options.config = LoadConfig("RTX4090", {}, {}).value();
  options.source = trace_;
  options.sass_files = {{Cubin(), Cubin()}};
  auto simulator = Simulator::Create(std::move(options));
  ASSERT_TRUE(simulator.ok()) << simulator.status();
  while (!(*simulator)->Advance(1'000'000).value().done) {
  }
  const RunReport report = (*simulator)->Report();
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].control_bits, "machine code of vector_add.sm_89.cubin");
  ASSERT_EQ(report.machine_code.size(), 1u);
  EXPECT_EQ(report.machine_code[0].file, "vector_add.sm_89.cubin");
  std::ostringstream bytes;
  bytes << std::ifstream(Cubin(), std::ios::binary).rdbuf();
  EXPECT_EQ(report.machine_code[0].digest, Sha256Hex(bytes.str()));
  EXPECT_THAT(ReportToJson(report), HasSubstr(report.machine_code[0].digest));
  EXPECT_THAT(ReportToJson(executed->report), ::testing::Not(HasSubstr("\"machine_code\":")));
  EXPECT_EQ(executed->report.kernels[0].control_bits, "machine code");
  EXPECT_EQ(report.kernels[0].cycles, executed->report.kernels[0].cycles);
  EXPECT_EQ(report.kernels[0].stats.sm.warp_instructions,
            executed->report.kernels[0].stats.sm.warp_instructions);
}

TEST_F(MachineCodeTest, OnTheCommandLine) {
  std::ostringstream out, err;
  const SimCommandIo io{.out = out, .err = err, .err_is_terminal = false, .interrupted = nullptr};
  EXPECT_EQ(SimMain({"--trace", Path("text"), "--sass", Cubin(), "--json", "-"}, io), kExitOk) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("machine code of vector_add.sm_89.cubin"));
  const std::string other = Write("code.sass", Listing("another_kernel", true));
  std::ostringstream warned;
  const SimCommandIo second{.out = warned, .err = err, .err_is_terminal = false, .interrupted = nullptr};
  EXPECT_EQ(SimMain({"--trace", Path("text"), "--sass", other}, second), kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("no function of the machine code is one of the trace's kernels"));
  EXPECT_EQ(SimMain({"--trace", Path("text"), "--sass", other, "--sass", Cubin()}, second), kExitOk)
      << err.str();
  EXPECT_THAT(warned.str(), HasSubstr("--sass code.sass: no function there is a kernel of the trace"));
  EXPECT_EQ(SimMain({"--cubin", Cubin(), "--launch", testing::ExampleKernelPath("vector_add.json"), "--sass",
                     Cubin()},
                    io),
            kExitBadInput);
  EXPECT_THAT(err.str(), HasSubstr("what is executed has its machine code"));
}

TEST_F(MachineCodeTest, NamesMatchMangledOrNot) {
  // "vector_add" is extern "C"; a mangled listing of the same name matches by its demangled name.
  const std::string mangled = absl::StrFormat("_Z%d%sPKfS0_Pfi", Kernel().size(), Kernel());
  const auto code = Add({Write("code.sass", Listing(mangled, false))});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_NE(code->files[0], "");
  const std::string two = Listing(mangled, false) + Listing(mangled + "i", false);
  const auto ambiguous = Add({Write("two.sass", two)});
  EXPECT_TRUE(absl::IsInvalidArgument(ambiguous.status())) << "two overloads: neither";
}

TEST_F(MachineCodeTest, FilesThatGiveNoKernelItsCodeDoNotPassQuietly) {
  const std::string other = Write("code.sass", Listing("another_kernel", false));
  const auto none = Add({other});
  ASSERT_TRUE(absl::IsInvalidArgument(none.status())) << none.status();
  for (const std::string& part : {std::string("code.sass (1 function: another_kernel"), Kernel()}) {
    EXPECT_THAT(std::string(none.status().message()), HasSubstr(part));
  }
  // A second file may have it; the first is said to be superfluous.
  const auto both = Add({other, Cubin()});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->files[0], "vector_add.sm_89.cubin");
  ASSERT_EQ(both->source->info().warnings.size(), 1u);
  EXPECT_EQ(both->source->info().warnings[0].kind, "machine_code_unused");
  EXPECT_THAT(both->source->info().warnings[0].message, HasSubstr("code.sass"));
}

TEST_F(MachineCodeTest, KernelsThatNoFileHasAreListed) {
  // A second kernel, under another name, that the file knows nothing of.
  std::ifstream in(Path("text/kernel-1.traceg"));
  std::string text(std::istreambuf_iterator<char>(in), {});
  text.replace(text.find(Kernel()), Kernel().size(), "another_kernel");
  Write("text/kernel-2.traceg", text);
  std::ofstream(Path("text/kernelslist.g"), std::ios::app) << "kernel-2.traceg\n";
  const auto trace = Ingested();
  const auto code = AddMachineCode(trace, {{Cubin(), Cubin()}}, {true, true});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(code->files, (std::vector<std::string>{"vector_add.sm_89.cubin", ""}));
  ASSERT_EQ(code->source->info().warnings.size(), 1u);
  EXPECT_EQ(code->source->info().warnings[0].kind, "no_machine_code");
  EXPECT_THAT(code->source->info().warnings[0].message, HasSubstr("another_kernel"));
  EXPECT_EQ(DecodeKernel(code->source->StaticTable(1), {}).control_source, ControlSource::kSynthesised);
}

TEST_F(MachineCodeTest, AnotherBuildIsAnError) {
  std::string text = Listing(Kernel(), false);
  const size_t at = text.find("/* 0x");  // the first instruction becomes a NOP
  text.replace(at, 24, "/* 0x0000000000007918 */");
  const size_t high = text.find("/* 0x", at + 24);
  text.replace(high, 24, "/* 0x000fc00000000000 */");
  const auto code = Add({Write("other.sass", text)});
  ASSERT_FALSE(code.ok());
  const std::string message(code.status().message());
  EXPECT_THAT(message, HasSubstr(Kernel()));
  EXPECT_THAT(message, HasSubstr("0x0"));
  EXPECT_THAT(message, HasSubstr("NOP"));
  EXPECT_THAT(message, HasSubstr(trace_->StaticTable(0)[0].opcode));

  text = Listing(Kernel(), false);
  text.resize(text.find("/*0020*/") - 8);  // ends after two instructions
  const auto cut = Add({Write("cut.sass", text)});
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(std::string(cut.status().message()), HasSubstr("nothing there"));
}

// The same mnemonic with other modifiers is another build, too.
TEST_F(MachineCodeTest, AnotherModifierIsAnError) {
  std::string text = Listing(Kernel(), false);
  const auto& table = trace_->StaticTable(0);
  const auto load = std::find_if(table.begin(), table.end(),
                                 [](const StaticInst& inst) { return inst.opcode.starts_with("LDG.E"); });
  ASSERT_NE(load, table.end());
  // The width of LDG: bits 73 to 75, where 4 is 32 bits; 5 is 64.
  const size_t low = text.find("/* 0x", text.find(absl::StrFormat("/*%04x*/", load->pc)));
  const size_t high = text.find("/* 0x", low + 1) + 5;
  const uint64_t word = std::stoull(text.substr(high, 16), nullptr, 16);
  ASSERT_EQ(word >> 9 & 7, 4u);
  text.replace(high, 16, absl::StrFormat("%016x", word ^ 0x200));
  const auto code = Add({Write("wide.sass", text)});
  ASSERT_FALSE(code.ok());
  const std::string message(code.status().message());
  EXPECT_THAT(message, HasSubstr(Kernel()));
  EXPECT_THAT(message, HasSubstr(absl::StrFormat("0x%x", load->pc)));
  EXPECT_THAT(message, HasSubstr("LDG.E.64"));
  EXPECT_THAT(message, HasSubstr(load->opcode));
}

// Every kernel of ours: its executed trace as text belongs to its cubin.
TEST_F(MachineCodeTest, TruePairsAreTaken) {
  const auto suite = CollectProgram({.cubin = "",
                                     .cubin_folder = testing::ExampleKernelPath(""),
                                     .launches = testing::ExampleKernelPath("suite.json"),
                                     .cases = {}});
  ASSERT_TRUE(suite.ok()) << suite.status();
  const auto emulation = Emulation::Create(*suite, {});
  ASSERT_TRUE(emulation.ok()) << emulation.status();
  const std::shared_ptr<TraceSource> live = (*emulation)->source();
  std::vector<MachineCodeFile> files;
  for (const auto& [module, bytes] : suite->modules) files.push_back({Write(module, bytes), module});
  const auto text = std::make_shared<TextOf>(live);
  const size_t kernels = live->info().kernels.size();
  const auto code = AddMachineCode(text, files, std::vector<bool>(kernels, true));
  ASSERT_TRUE(code.ok()) << code.status();
  for (uint32_t k = 0; k < kernels; ++k) EXPECT_NE(code->files[k], "") << live->info().kernels[k].name;
}

// What --kernels leaves out needs no code that fits.
TEST_F(MachineCodeTest, KernelsThatAreNotSelectedAreLeftAlone) {
  std::string text = Listing(Kernel(), false);
  text.resize(text.find("/*0020*/") - 8);  // another build
  const std::vector<MachineCodeFile> files = {{Write("cut.sass", text), "cut.sass"}};
  EXPECT_FALSE(AddMachineCode(trace_, files, {true}).ok());
  const auto code = AddMachineCode(trace_, files, {false});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(code->files[0], "");
  EXPECT_TRUE(code->source->info().warnings.empty()) << "nor is it missed";
}

TEST_F(MachineCodeTest, FilesThatAreNeither) {
  for (const std::string& path :
       {Write("a.txt", "hello\n"), Write("b.bin", std::string("\x7f") + "ELF\x02"), Path("absent.cubin")}) {
    const auto code = Add({path});
    ASSERT_FALSE(code.ok()) << path;
    EXPECT_THAT(std::string(code.status().message()), HasSubstr(path));
  }
}

TEST_F(MachineCodeTest, AFolderIsSaidToBeOne) {
  const auto code = Add({dir_.path()});
  ASSERT_FALSE(code.ok());
  EXPECT_THAT(std::string(code.status().message()), HasSubstr("it is a folder"));
}

TEST_F(MachineCodeTest, ATraceWithEncodingsKeepsThem) {
  const auto code =
      AddMachineCode(live_, {{Write("code.sass", Listing("another_kernel", false)), "code.sass"}}, {true});
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_EQ(code->source->info().warnings.size(), 1u);
  EXPECT_EQ(code->source->info().warnings[0].kind, "machine_code_unused");
  EXPECT_EQ(code->source->StaticTable(0).data(), live_->StaticTable(0).data());
  EXPECT_TRUE(code->source->live());
}

}  // namespace
}  // namespace sm89
