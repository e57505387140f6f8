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

constinit const std::array<PcMemoryDef, kNumPcMemory> kPcMemoryDefs{{
    {"requests", "requests", "Warp accesses to global or local memory.", &PcMemory::requests},
    {"load_sectors", "sectors", "32-byte sectors that loads looked up in the L1.", &PcMemory::load_sectors},
    {"load_hits", "sectors", "Of them, present.", &PcMemory::load_hits},
    {"store_sectors", "sectors", "Sectors that stores wrote.", &PcMemory::store_sectors},
    {"other_sectors", "sectors", "Sectors of atomics, and of loads past the L1.", &PcMemory::other_sectors},
    {"shared_accesses", "accesses", "Warp accesses to shared memory.", &PcMemory::shared_accesses},
    {"shared_passes", "passes", "Passes over the banks that they took.", &PcMemory::shared_passes},
    {"shared_bank_conflicts", "passes", "Of them, those that bank conflicts added.",
     &PcMemory::shared_bank_conflicts},
    {"l2_read_sectors", "sectors", "Sectors read from the L2.", &PcMemory::l2_read_sectors},
    {"l2_read_hits", "sectors", "Of them, present.", &PcMemory::l2_read_hits},
}};

void AddAccess(const L1Stats& before, const L1Stats& after, PcMemory* memory) {
  const auto grew = [&](uint64_t L1Stats::*counter) { return after.*counter - before.*counter; };
  memory->requests += grew(&L1Stats::requests);
  memory->load_sectors += grew(&L1Stats::global_load_sectors) + grew(&L1Stats::local_load_sectors);
  memory->load_hits += grew(&L1Stats::global_load_hits) + grew(&L1Stats::local_load_hits);
  memory->store_sectors += grew(&L1Stats::global_store_sectors) + grew(&L1Stats::local_store_sectors);
  memory->other_sectors += grew(&L1Stats::atomic_sectors) + grew(&L1Stats::bypass_sectors);
  memory->shared_accesses += grew(&L1Stats::shared_accesses);
  memory->shared_passes += grew(&L1Stats::shared_passes);
  memory->shared_bank_conflicts += grew(&L1Stats::shared_bank_conflicts);
}

std::string_view Name(WarpState state) { return kNames[static_cast<size_t>(state)].name; }
std::string_view ShortName(WarpState state) { return kNames[static_cast<size_t>(state)].brief; }

void AddProfile(const PcProfile& src, PcProfile* dst) {
  if (dst->size() < src.size()) dst->resize(src.size());
  for (size_t i = 0; i < src.size(); ++i) {
    (*dst)[i].issued += src[i].issued;
    (*dst)[i].threads += src[i].threads;
    for (size_t s = 0; s < src[i].cycles.size(); ++s) (*dst)[i].cycles[s] += src[i].cycles[s];
    for (const PcMemoryDef& def : kPcMemoryDefs) (*dst)[i].memory.*def.counter += src[i].memory.*def.counter;
  }
}

}  // namespace sm89
