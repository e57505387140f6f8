#include "sim/trace/shape_pool.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/hash/hash.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

// What a shape takes beside its offsets: the object, its place in the set, the heap's own share.
constexpr uint64_t kShapeOverheadBytes = sizeof(AccessShape) + 2 * sizeof(void*) + 16;

// Offsets from 0 that grow by one and the same step.
bool IsStrided(std::span<const uint64_t> offsets) {
  uint64_t differs = 0;
  for (size_t i = 2; i < offsets.size(); ++i) differs |= offsets[i] - offsets[i - 1] - offsets[1];
  return differs == 0;
}

}  // namespace

const AccessShape* ShapeArena::Add(LaneMask mask, std::span<const uint64_t> offsets, bool strided) {
  AccessShape& shape = shapes_.emplace_back();
  shape.mask = mask;
  shape.offsets.assign(offsets.begin(), offsets.end());
  shape.strided = strided;
  shape.stride = strided && offsets.size() > 1 ? static_cast<int64_t>(offsets[1]) : 0;
  shape.id = next_id() - 1;
  const uint64_t bytes = kShapeOverheadBytes + offsets.size() * sizeof(uint64_t);
  bytes_ += bytes;
  live_->fetch_add(bytes, std::memory_order_relaxed);
  return &shape;
}

size_t ShapePool::Hash::operator()(const Key& key) const {
  const auto* bytes = reinterpret_cast<const char*>(key.offsets.data());
  return absl::HashOf(key.mask, Av(std::string_view(bytes, key.offsets.size_bytes())));
}

bool ShapePool::Equal::operator()(const Key& key, const AccessShape* shape) const {
  return key.mask == shape->mask &&
         std::equal(key.offsets.begin(), key.offsets.end(), shape->offsets.begin());
}

ShapePool::ShapePool(std::shared_ptr<LiveBytes> live)
    : live_(std::move(live)), arena_(std::make_shared<ShapeArena>(live_, 0)) {}

const AccessShape* ShapePool::Intern(LaneMask mask, std::span<const uint64_t> addresses) {
  SM89_ASSERT(!addresses.empty() && addresses.size() <= kWarpSize, "one to 32 lanes");
  std::array<uint64_t, kWarpSize> room;
  for (size_t i = 0; i < addresses.size(); ++i) room[i] = addresses[i] - addresses[0];
  const std::span<const uint64_t> offsets(room.data(), addresses.size());
  const Key key{mask, offsets};
  if (const auto it = shapes_.find(key); it != shapes_.end()) return *it;
  if (arena_->bytes() >= kArenaBytes) {
    earlier_bytes_ += arena_->bytes();
    arena_ = std::make_shared<ShapeArena>(live_, arena_->next_id());
    const size_t expected = shapes_.size();
    shapes_.clear();
    shapes_.reserve(expected);
  }
  const AccessShape* shape = arena_->Add(mask, offsets, IsStrided(offsets));
  shapes_.insert(shape);
  return shape;
}

bool HasShape(const AccessShape& shape, LaneMask mask, std::span<const uint64_t> addresses) {
  if (shape.mask != mask) return false;
  uint64_t differs = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    differs |= (addresses[i] - addresses[0]) ^ shape.offsets[i];
  }
  return differs == 0;
}

}  // namespace sm89
