// Access shapes as bytes: mask (4 bytes), then a zigzag stride (strided) or zigzag differences between
// consecutive active lanes. The bytes are canonical, so equal bytes mean equal shapes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/base/types.h"
#include "sim/trace/byte_io.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// Appends the code of the shape that `addresses` (one a lane of `mask`, at least one) have.
void AppendShape(std::string* out, LaneMask mask, std::span<const uint64_t> addresses);

// Reads one shape; false when the bytes are not the code of one. `shape->id` is left alone.
bool ReadShape(ByteReader* in, AccessShape* shape);

}  // namespace sm89
