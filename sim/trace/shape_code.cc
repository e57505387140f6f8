#include "sim/trace/shape_code.h"

#include <array>
#include <bit>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

constexpr uint8_t kStrided = 0;
constexpr uint8_t kListed = 1;

bool IsStrided(std::span<const uint64_t> addresses) {
  if (addresses.size() < 3) return true;
  const uint64_t stride = addresses[1] - addresses[0];
  uint64_t differs = 0;
  for (size_t i = 2; i < addresses.size(); ++i) differs |= addresses[i] - addresses[i - 1] - stride;
  return differs == 0;
}

}  // namespace

void AppendShape(std::string* out, LaneMask mask, std::span<const uint64_t> addresses) {
  SM89_ASSERT(!addresses.empty(), "a shape has at least one lane");
  SM89_ASSERT(addresses.size() == static_cast<size_t>(std::popcount(mask)), "one address an active lane");
  AppendLittleEndian(out, mask, 4);
  if (IsStrided(addresses)) {
    out->push_back(static_cast<char>(kStrided));
    AppendZigzag(out, addresses.size() > 1 ? addresses[1] - addresses[0] : 0);
    return;
  }
  out->push_back(static_cast<char>(kListed));
  std::array<char, kWarpSize * kMaxVarintBytes> listed;
  char* end = listed.data();
  for (size_t i = 1; i < addresses.size(); ++i) {
    end = WriteVarint(end, ToZigzag(addresses[i] - addresses[i - 1]));
  }
  out->append(listed.data(), static_cast<size_t>(end - listed.data()));
}

bool ReadShape(ByteReader* in, AccessShape* shape) {
  shape->mask = static_cast<LaneMask>(in->LittleEndian(4));
  const uint8_t kind = in->U8();
  const size_t lanes = static_cast<size_t>(std::popcount(shape->mask));
  if (lanes == 0 || kind > kListed) return false;
  shape->offsets.resize(lanes);
  shape->strided = kind == kStrided;
  if (shape->strided) {
    const uint64_t stride = in->Zigzag();
    shape->stride = static_cast<int64_t>(stride);
    for (size_t i = 1; i < lanes; ++i) shape->offsets[i] = shape->offsets[i - 1] + stride;
    return in->ok();
  }
  shape->stride = 0;
  for (size_t i = 1; i < lanes; ++i) shape->offsets[i] = shape->offsets[i - 1] + in->Zigzag();
  return in->ok();
}

}  // namespace sm89
