#include "client/kineto/kernel_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sm89::client {
namespace {

using ::testing::ElementsAre;

TEST(KernelName, IsTheSameMangledOrNot) {
  EXPECT_EQ(CanonicalName("_Z3addPKfPfi"), "add(floatconst*,float*,int)");
  EXPECT_EQ(CanonicalName("add(float const*, float*, int)"), "add(floatconst*,float*,int)");
  EXPECT_EQ(CanonicalName("_ZN2ns3addIfLi4EEEvPT_"), CanonicalName("void ns::add<float, 4>(float*)"));
  EXPECT_EQ(CanonicalName("vector_add"), "vector_add");
  EXPECT_EQ(CanonicalName("_Znonsense "), "_Znonsense");
  EXPECT_EQ(CanonicalName(""), "");
}

TEST(KernelName, BaseEndsBeforeArguments) {
  EXPECT_EQ(BaseName(CanonicalName("void at::native::(anonymous namespace)::fill<float, 2>(int)")),
            "at::native::(anonymousnamespace)::fill");
  EXPECT_EQ(BaseName("add(float*)"), "add");
  EXPECT_EQ(BaseName("add"), "add");
  EXPECT_EQ(BaseName("(x)"), "(x)");
}

class Matching : public ::testing::Test {
 protected:
  KernelIdentity K(const std::string& name, uint32_t grid = 1) {
    return {true, names_.Add(name), {grid, 1, 1, 32, 1, 1}};
  }
  std::vector<size_t> Hosts(const std::vector<KernelIdentity>& simulated,
                            const std::vector<KernelIdentity>& host) {
    matches_ = MatchKernels(names_, simulated, host);
    std::vector<size_t> hosts;
    for (const Match& match : matches_) hosts.push_back(match.host);
    return hosts;
  }
  NameTable names_;
  std::vector<Match> matches_;
};

TEST_F(Matching, TakesLaunchesOfANameInTheirOrder) {
  EXPECT_THAT(Hosts({K("a"), K("b"), K("a")}, {K("x"), K("a"), K("b"), K("x"), K("a"), K("a")}),
              ElementsAre(1, 2, 4));
  EXPECT_EQ(matches_[0].kind, MatchKind::kFull);
  EXPECT_EQ(OutOfOrder(matches_), 0u);
}

TEST_F(Matching, PrefersTheSameGridAndBlock) {
  EXPECT_THAT(Hosts({K("a", 8), K("a", 4)}, {K("a", 4), K("a", 5), K("a", 8)}), ElementsAre(2, 0));
  EXPECT_EQ(OutOfOrder(matches_), 1u);
  EXPECT_THAT(Hosts({K("a", 7)}, {K("a", 4), K("a", 5)}), ElementsAre(0));
  EXPECT_EQ(matches_[0].kind, MatchKind::kName);
}

TEST_F(Matching, ABareNameStandsForOneWithArguments) {
  EXPECT_THAT(Hosts({K("add")}, {K("sub(int)"), K("add(float*)")}), ElementsAre(1));
  EXPECT_EQ(matches_[0].kind, MatchKind::kBase);
  EXPECT_THAT(Hosts({K("_Z3addPf", 9)}, {K("add")}), ElementsAre(0));
  EXPECT_EQ(matches_[0].kind, MatchKind::kBaseOnly);
  // Two instances of one template are two kernels.
  EXPECT_THAT(Hosts({K("void gemm<float>(float*)")}, {K("void gemm<int>(int*)")}), ElementsAre(kNoMatch));
}

TEST_F(Matching, NothingIsUsedTwiceAndTheRestIsLeft) {
  EXPECT_THAT(Hosts({K("a"), K("a"), K("c")}, {K("a"), K("b")}), ElementsAre(0, kNoMatch, kNoMatch));
  EXPECT_EQ(matches_[1].kind, MatchKind::kNone);
  EXPECT_THAT(Hosts({}, {K("a")}), ElementsAre());
  EXPECT_THAT(Hosts({K("a")}, {}), ElementsAre(kNoMatch));
}

TEST_F(Matching, WithoutAnyNameTheOrderDecides) {
  const KernelIdentity unnamed{.named = false};
  EXPECT_THAT(Hosts({K("a"), K("b"), K("c")}, {unnamed, unnamed}), ElementsAre(0, 1, kNoMatch));
  EXPECT_EQ(matches_[0].kind, MatchKind::kOrder);
  // One name is there: unnamed launches could be anything.
  EXPECT_THAT(Hosts({K("a"), K("b")}, {unnamed, K("b")}), ElementsAre(kNoMatch, 1));
}

}  // namespace
}  // namespace sm89::client
