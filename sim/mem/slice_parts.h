// A request for a line that lies in two slices, as the requests of each.
#pragma once

#include <array>
#include <cstdint>

#include "sim/link/mem_message.h"
#include "sim/mem/address_map.h"

namespace sm89 {

struct SliceParts {
  std::array<MemRequest, 2> parts;
  uint32_t count = 0;  // 1 where all its sectors lie in one slice
};

// Sectors, partly written ones and bytes go to where they lie. The lanes of an atomic are divided as if
// evenly (assumption: a request does not tell which of them are on which half).
SliceParts SplitBySlice(const MemRequest& request, const AddressMap& map);

}  // namespace sm89
