// Access patterns of one DRAM channel: 32-byte accesses, each to a bank and a row. The unit test replays them
// on DramChannel, tests/data/dram/ramulator_driver.cc on Ramulator 2, so that both see the same accesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sm89::dram_patterns {

inline constexpr uint32_t kGroups = 4;
inline constexpr uint32_t kBanksPerGroup = 4;
inline constexpr uint32_t kBanks = kGroups * kBanksPerGroup;  // bank = group * 4 + bank of the group
inline constexpr uint32_t kRows = 16384;
inline constexpr uint32_t kBurstsPerRow = 64;  // 2 KiB
inline constexpr uint32_t kBurstsPerLine = 4;  // 128 bytes
inline constexpr uint32_t kQueuedReads = 32;   // requests that a controller takes before it has served them
inline constexpr uint32_t kQueuedWrites = 32;
inline constexpr uint32_t kAccesses = 40'000;

struct Access {
  bool write = false;
  uint32_t bank = 0;
  uint32_t row = 0;
};

struct Pattern {
  std::string name;
  uint32_t outstanding_reads = 0;
  std::vector<Access> accesses;
};

// Multiplicative congruential generator (Park and Miller): the same numbers everywhere.
class Numbers {
 public:
  uint32_t Below(uint32_t n) {
    state_ = state_ * 48271 % 2147483647;
    return static_cast<uint32_t>(state_ % n);
  }

 private:
  uint64_t state_ = 20231;
};

// The n-th 32-byte access of a stream: lines go round the bank groups, rows round the banks of a group.
inline Access Stream(uint32_t n, uint32_t first_row) {
  const uint32_t line = n / kBurstsPerLine;
  const uint32_t group = line % kGroups;
  const uint32_t row = line / kGroups / (kBurstsPerRow / kBurstsPerLine);
  return {false, group * kBanksPerGroup + row % kBanksPerGroup, (first_row + row / kBanksPerGroup) % kRows};
}

// `reads` lines of one stream, then `writes` lines of another.
inline std::vector<Access> Streams(uint32_t reads, uint32_t writes) {
  std::vector<Access> accesses;
  uint32_t read = 0;
  uint32_t written = 0;
  while (accesses.size() < kAccesses) {
    for (uint32_t i = 0; i < reads * kBurstsPerLine; ++i) accesses.push_back(Stream(read++, 0));
    for (uint32_t i = 0; i < writes * kBurstsPerLine; ++i) {
      accesses.push_back(Stream(written++, kRows / 2));
      accesses.back().write = true;
    }
  }
  return accesses;
}

// Random rows of random banks, `bursts` accesses to each; one in `write_one_in` is a write (0 = none).
inline std::vector<Access> Random(uint32_t bursts, uint32_t write_one_in) {
  Numbers numbers;
  std::vector<Access> accesses;
  while (accesses.size() < kAccesses) {
    Access access{false, numbers.Below(kBanks), numbers.Below(kRows)};
    access.write = write_one_in != 0 && numbers.Below(write_one_in) == 0;
    accesses.insert(accesses.end(), bursts, access);
  }
  return accesses;
}

template <class F>
std::vector<Access> Generate(F bank_and_row) {
  std::vector<Access> accesses;
  for (uint32_t n = 0; n < kAccesses; ++n) accesses.push_back(bank_and_row(n));
  return accesses;
}

inline std::vector<Pattern> All() {
  return {
      {"stream_read", 64, Streams(1, 0)},
      {"stream_write", 64, Streams(0, 1)},
      {"stream_5r1w", 64, Streams(5, 1)},
      {"stream_3r1w", 64, Streams(3, 1)},
      {"stream_1r1w", 64, Streams(1, 1)},
      {"one_row_of_one_bank", 64, Generate([](uint32_t) {
         return Access{false, 0, 7};
       })},
      {"banks_in_turn_open_rows", 64, Generate([](uint32_t n) {
         return Access{false, n * 5 % kBanks, 7};
       })},
      {"banks_in_turn_new_rows", 64, Generate([](uint32_t n) {
         return Access{false, n * 5 % kBanks, n / kBanks % kRows};
       })},
      {"row_conflicts_one_bank", 1, Generate([](uint32_t n) {
         return Access{false, 3, n % 2};
       })},
      {"random_read_1", 1, Random(1, 0)},
      {"random_read_4", 4, Random(1, 0)},
      {"random_read_16", 16, Random(1, 0)},
      {"random_read_64", 64, Random(1, 0)},
      {"random_lines_16", 16, Random(kBurstsPerLine, 0)},
      {"random_lines_64", 64, Random(kBurstsPerLine, 0)},
      {"random_lines_3r1w", 64, Random(kBurstsPerLine, 4)},
  };
}

}  // namespace sm89::dram_patterns
