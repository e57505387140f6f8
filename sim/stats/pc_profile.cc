#include "sim/stats/pc_profile.h"

namespace sm89 {
namespace {

struct StateName {
  std::string_view name, brief;
};
constexpr std::array<StateName, kNumWarpStates> kNames{{
    {"selected", "selected"},
    {"not_selected", "not_selected"},
    {"long_scoreboard", "long_sb"},
    {"short_scoreboard", "short_sb"},
    {"wait", "wait"},
    {"math_pipe_throttle", "math_pipe"},
    {"mio_throttle", "mio"},
    {"lg_throttle", "lg"},
    {"tex_throttle", "tex"},
    {"imc_miss", "imc_miss"},
    {"barrier", "barrier"},
    {"membar", "membar"},
    {"no_instruction", "no_inst"},
    {"dispatch", "dispatch"},
    {"branch_resolving", "branch"},
    {"sleeping", "sleeping"},
    {"drain", "drain"},
    {"misc", "misc"},
}};

}  // namespace

std::string_view Name(WarpState state) { return kNames[static_cast<size_t>(state)].name; }
std::string_view ShortName(WarpState state) { return kNames[static_cast<size_t>(state)].brief; }

void AddProfile(const PcProfile& src, PcProfile* dst) {
  if (dst->size() < src.size()) dst->resize(src.size());
  for (size_t i = 0; i < src.size(); ++i) {
    (*dst)[i].issued += src[i].issued;
    (*dst)[i].threads += src[i].threads;
    for (size_t s = 0; s < src[i].cycles.size(); ++s) (*dst)[i].cycles[s] += src[i].cycles[s];
  }
}

}  // namespace sm89
