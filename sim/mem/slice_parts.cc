#include "sim/mem/slice_parts.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {

SliceParts SplitBySlice(const MemRequest& request, const AddressMap& map) {
  SliceParts split;
  for (uint32_t i = 0; i < map.NumParts(); ++i) {
    const LinePart place = map.Part(request.line, i);
    const uint32_t mask = ((1u << place.sectors) - 1) << place.first_sector;
    if ((request.sector_mask & mask) == 0) continue;
    const auto moved = [&](uint8_t sectors) {
      return static_cast<uint8_t>((sectors & mask) >> place.first_sector << place.sector_shift);
    };
    MemRequest& part = split.parts[split.count++];
    part = request;
    part.line = place.line;
    part.sector_mask = moved(request.sector_mask);
    part.partial_mask = moved(request.partial_mask);
    part.byte_mask = {};
    part.byte_mask[place.sector_shift / 2] = request.byte_mask[place.first_sector / 2];
  }
  SM89_ASSERT(split.count != 0, "a request names sectors");
  if (split.count == 1) return split;
  for (MemRequest& part : split.parts) {
    part.lanes = static_cast<uint8_t>((part.lanes + 1) / 2);
    part.same_address_lanes = std::min(part.same_address_lanes, part.lanes);
    part.atomic_flits = static_cast<uint8_t>((part.atomic_flits + 1) / 2);
  }
  return split;
}

}  // namespace sm89
