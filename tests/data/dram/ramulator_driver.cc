// Runs the access patterns of tests/unit/sim_mem/dram_patterns.h on Ramulator 2 and prints the reference
// table. Built by hand against Ramulator's library: README.md beside this file. Usage: driver REFRESH
// CONFIG.yaml ...
#include <ramulator/base/config.h>
#include <ramulator/base/factory.h>
#include <ramulator/base/request.h>
#include <ramulator/frontend/i_frontend.h>
#include <ramulator/memory_system/i_memory_system.h>

#include <cstdio>
#include <string>

#include "dram_patterns.h"

namespace {

namespace dp = sm89::dram_patterns;

struct Result {
  double bytes_per_ns = 0;
  double read_latency_ns = 0;
};

Result Run(const char* config_path, const dp::Pattern& pattern) {
  auto config = Ramulator::Config::parse_config_file(config_path);
  auto* frontend = Ramulator::Factory::create_frontend(config);
  auto* memory = Ramulator::Factory::create_memory_system(config);
  frontend->connect_memory_system(memory);
  memory->connect_frontend(frontend);

  uint64_t ticks = 0;
  uint64_t reads = 0;
  uint64_t latency_ticks = 0;
  uint32_t reads_under_way = 0;
  size_t finished = 0;
  size_t next = 0;
  while (finished < pattern.accesses.size()) {
    for (; next < pattern.accesses.size(); ++next) {
      const dp::Access& access = pattern.accesses[next];
      if (!access.write && reads_under_way >= pattern.outstanding_reads) break;
      const int bank = static_cast<int>(access.bank);
      Ramulator::Request request(
          {0, bank / 4, bank % 4, static_cast<int>(access.row), 0},
          access.write ? Ramulator::Request::Type::Write : Ramulator::Request::Type::Read);
      request.addr = static_cast<Ramulator::Addr_t>(next) * 32;  // distinct: nothing is forwarded or merged
      request.size_bytes = memory->get_tx_bytes();
      request.callback = [&](Ramulator::Request& done) {
        ++finished;
        if (done.type_id != Ramulator::Request::Type::Read) return;
        ++reads;
        --reads_under_way;
        latency_ticks += static_cast<uint64_t>(done.depart - done.arrive);
      };
      if (!memory->send(request)) break;
      if (!access.write) ++reads_under_way;
    }
    memory->tick();
    ++ticks;
  }
  const double ns = memory->get_tCK();
  Result result;
  result.bytes_per_ns = static_cast<double>(finished) * 32 / (static_cast<double>(ticks) * ns);
  if (reads != 0)
    result.read_latency_ns = static_cast<double>(latency_ticks) * ns / static_cast<double>(reads);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("pattern,refresh,bytes_per_ns,read_latency_ns\n");
  for (int i = 1; i + 1 < argc; i += 2) {
    for (const dp::Pattern& pattern : dp::All()) {
      const Result result = Run(argv[i + 1], pattern);
      std::printf("%s,%s,%.3f,%.1f\n", pattern.name.c_str(), argv[i], result.bytes_per_ns,
                  result.read_latency_ns);
    }
  }
  return 0;
}
