// Fat binaries, host objects and archives (made by nvcc: tests/data/cubin/build.sh).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/fault.h"
#include "sim/cubin/reader.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/sim_cubin/corpus.h"

namespace sm89::cubin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Image> List(const std::string& bytes, const std::string& name) {
  auto images = ListImages(bytes, name);
  EXPECT_TRUE(images.ok()) << images.status();
  return images.ok() ? *std::move(images) : std::vector<Image>();
}

std::vector<Image> ListFixture(const std::string& name) { return List(ReadAll(Fixture(name)), name); }

std::vector<std::string> Names(const std::vector<Image>& images) {
  std::vector<std::string> names;
  for (const Image& image : images) names.push_back(image.name);
  return names;
}

TEST(ListImages, GivesEveryEntryOfAFatBinary) {
  const auto images = ListFixture("axpy_none.fatbin");
  EXPECT_THAT(Names(images), ElementsAre("axpy_none.fatbin[0] sm_80", "axpy_none.fatbin[1] sm_89",
                                         "axpy_none.fatbin[2] compute_89"));
  ASSERT_EQ(images.size(), 3u);
  EXPECT_FALSE(images[0].is_ptx);
  EXPECT_EQ(images[0].arch, 80u);
  EXPECT_TRUE(images[2].is_ptx);
  const std::string ptx(images[2].bytes.begin(), images[2].bytes.end());
  EXPECT_THAT(ptx, HasSubstr(".visible .entry axpy("));
  EXPECT_EQ(ptx.find('\0'), std::string::npos) << "padding is no text";
}

TEST(ListImages, UnpacksLz4AndZstdToTheSameBytes) {
  const auto plain = ListFixture("axpy_none.fatbin");
  for (const char* packed : {"axpy_lz4.fatbin", "axpy_zstd.fatbin"}) {
    ASSERT_LT(ReadAll(Fixture(packed)).size(), ReadAll(Fixture("axpy_none.fatbin")).size() / 2) << packed;
    const auto images = ListFixture(packed);
    ASSERT_EQ(images.size(), plain.size()) << packed;
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(images[i].arch, plain[i].arch) << packed;
      if (plain[i].is_ptx) {
        EXPECT_EQ(images[i].bytes, plain[i].bytes) << packed;
        continue;
      }
      // The builds differ in nothing but the packing, so the code is the same.
      const auto name = images[i].name;
      const auto a =
          ParseCubin({reinterpret_cast<const char*>(images[i].bytes.data()), images[i].bytes.size()}, name);
      const auto b =
          ParseCubin({reinterpret_cast<const char*>(plain[i].bytes.data()), plain[i].bytes.size()}, name);
      ASSERT_TRUE(a.ok()) << a.status();
      ASSERT_TRUE(b.ok()) << b.status();
      ASSERT_NE(a->Find("axpy"), nullptr);
      EXPECT_EQ(a->Find("axpy")->code, b->Find("axpy")->code) << packed;
    }
  }
}

TEST(ListImages, ReadsHostObjectsAndLibraries) {
  EXPECT_THAT(Names(ListFixture("axpy.o")), ElementsAre("axpy.o[0] sm_89"));
  // Two relocatable objects and what they were linked to.
  EXPECT_EQ(ListFixture("libobjects.so").size(), 3u);
  EXPECT_THAT(Names(ListFixture("kernels.cubin")), ElementsAre("kernels.cubin"));
}

std::string Member(const std::string& name, const std::string& bytes) {
  std::string header = name + std::string(48 - name.size(), ' ') + std::to_string(bytes.size());
  header.resize(58, ' ');
  return header + "`\n" + bytes + (bytes.size() % 2 != 0 ? "\n" : "");
}

TEST(ListImages, ReadsArchivesOfHostObjects) {
  const std::string archive = "!<arch>\n" + Member("/", std::string(5, '\0')) +
                              Member("axpy.o/", ReadAll(Fixture("axpy.o"))) +
                              Member("k.cubin/", ReadAll(Fixture("kernels.cubin")));
  EXPECT_THAT(Names(List(archive, "lib.a")), ElementsAre("lib.a[0] sm_89", "lib.a"));
  const auto cut = ListImages(std::string_view(archive).substr(0, archive.size() - 100), "lib.a");
  EXPECT_EQ(cut.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ListImages, KeepsItsLimits) {
  const std::string bytes = ReadAll(Fixture("axpy_zstd.fatbin"));
  EXPECT_EQ(ListImages(bytes, "f", {.images = 2}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ListImages(bytes, "f", {.image_bytes = 100}).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ListImages(bytes, "f", {.file_bytes = 100}).status().code(),
            absl::StatusCode::kResourceExhausted);
  // Each image fits, all of them together do not.
  EXPECT_EQ(ListImages(bytes, "f", {.file_bytes = bytes.size()}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ListImages, NamesTheDamagedEntry) {
  std::string bytes = ReadAll(Fixture("axpy_lz4.fatbin"));
  bytes[0x50] = '\xff';  // the block's first token: more literals than there are
  const auto damaged = ListImages(bytes, "axpy_lz4.fatbin");
  EXPECT_EQ(damaged.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(damaged.status().message(), HasSubstr("axpy_lz4.fatbin[0] sm_80"));
  ASSERT_EQ(FaultsOf(damaged.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(damaged.status())[0].field, "byte 0x50");

  const auto cut = ListImages(std::string_view(bytes).substr(0, 1000), "cut.fatbin");
  EXPECT_THAT(cut.status().message(), HasSubstr("cut off"));
}

TEST(OpenCubin, TakesTheExactArchitectureElseAnOlderOneOfTheSameFamily) {
  const std::string path = Fixture("axpy_zstd.fatbin");
  for (const auto& [asked, got] : std::map<uint32_t, uint32_t>{{80, 80}, {86, 80}, {89, 89}}) {
    const auto module = OpenCubin(path, asked);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(module->arch, got);
    EXPECT_NE(module->Find("axpy"), nullptr);
  }
}

TEST(OpenCubin, BringsThePtxOfTheContainer) {
  const auto module = OpenCubin(Fixture("axpy_zstd.fatbin"));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(module->ptx, HasSubstr(".target sm_89"));
}

TEST(OpenCubin, SaysWhatIsThereWhenNothingFits) {
  const auto hopper = OpenCubin(Fixture("axpy_none.fatbin"), 90);
  EXPECT_EQ(hopper.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(hopper.status().message(), HasSubstr("sm_80, sm_89"));

  const auto only_ptx = OpenCubin(Fixture("axpy_ptx75.fatbin"));
  EXPECT_EQ(only_ptx.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(only_ptx.status().message(), HasSubstr("it has PTX for compute_75"));

  const auto nothing = OpenCubin(Fixture("axpy.cu"));
  EXPECT_EQ(nothing.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(nothing.status().message(), HasSubstr("not a cubin, a fat binary"));
  EXPECT_EQ(OpenCubin(Fixture("absent")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenCubin(Fixture("")).status().code(), absl::StatusCode::kInvalidArgument) << "a folder";
}

TEST(OpenCubin, TakesTheLinkedImageOfALibrary) {
  const auto module = OpenCubin(Fixture("libobjects.so"));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_FALSE(module->relocatable);
  ASSERT_NE(module->Find("scaled"), nullptr);
  EXPECT_TRUE(module->Find("scaled")->is_kernel);
}

TEST(OpenCubin, ChoosesAmongSeveralByKernel) {
  sm89::testing::TempDir folder;
  const std::string path = folder.File("two.fatbin");
  const std::string one = ReadAll(Fixture("axpy_zstd.fatbin"));
  // Two containers one after the other, as a program of two sources has them.
  std::ofstream(path, std::ios::binary) << one << std::string((8 - one.size() % 8) % 8, '\0') << one;
  const auto ambiguous = OpenCubin(path);
  EXPECT_EQ(ambiguous.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(ambiguous.status().message(), HasSubstr("axpy, axpy"));
  const auto chosen = OpenCubinWith(path, "axpy");
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_NE(chosen->Find("axpy"), nullptr);
  EXPECT_EQ(OpenCubinWith(path, "gemm").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenModules(path)->size(), 2u);
}

}  // namespace
}  // namespace sm89::cubin
