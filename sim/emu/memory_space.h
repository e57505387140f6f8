// Global memory of a launch: allocations with unmapped gaps between them. Memory use is the allocations'.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sm89::emu {

struct Allocation {
  std::string name;
  uint64_t base = 0;
  std::vector<uint8_t> bytes;

  uint64_t size() const { return bytes.size(); }
  uint64_t end() const { return base + bytes.size(); }
};

class GlobalMemory {
 public:
  // Allocations must not overlap; any order.
  void Add(Allocation allocation);

  // The allocation that holds [address, address + size_bytes), or null.
  Allocation* Find(uint64_t address, uint64_t size_bytes);
  // The one whose range is nearest; null when there is none.
  const Allocation* Nearest(uint64_t address) const;

  const std::vector<Allocation>& allocations() const { return list_; }

 private:
  std::vector<Allocation> list_;  // by base
};

// "16 bytes past the end of buffer 'c' (0x7f0000010000, 4096 bytes)".
std::string DescribeNearest(const GlobalMemory& memory, uint64_t address);

}  // namespace sm89::emu
