// The access shapes of a live source, each once: equal shapes of different thread blocks are one object with
// one id. Memory is bounded: shapes lie in arenas of a few MiB; a full arena is left to the thread blocks
// that use it, and a new one starts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "absl/container/flat_hash_set.h"
#include "sim/base/types.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// Bytes that recorded thread blocks and their shapes hold; read and changed by any thread.
using LiveBytes = std::atomic<uint64_t>;

// Shapes with consecutive ids. Complete objects never change or move, so other threads may read them.
class ShapeArena {
 public:
  ShapeArena(std::shared_ptr<LiveBytes> live, uint32_t first_id)
      : live_(std::move(live)), first_id_(first_id) {}
  ~ShapeArena() { live_->fetch_sub(bytes_, std::memory_order_relaxed); }
  ShapeArena(const ShapeArena&) = delete;
  ShapeArena& operator=(const ShapeArena&) = delete;

  const AccessShape* Add(LaneMask mask, std::span<const uint64_t> offsets, bool strided);
  bool Holds(uint32_t id) const { return id - first_id_ < shapes_.size(); }
  const AccessShape* Get(uint32_t id) const { return &shapes_[id - first_id_]; }
  uint64_t bytes() const { return bytes_; }
  uint32_t next_id() const { return first_id_ + static_cast<uint32_t>(shapes_.size()); }

 private:
  std::shared_ptr<LiveBytes> live_;
  uint32_t first_id_;
  std::deque<AccessShape> shapes_;
  uint64_t bytes_ = 0;
};

class ShapePool {
 public:
  explicit ShapePool(std::shared_ptr<LiveBytes> live);

  // The shape of `addresses`, one a lane of `mask`, at least one. It lies in the present arena.
  const AccessShape* Intern(LaneMask mask, std::span<const uint64_t> addresses);
  // Changes when a new arena has started: Intern answers with shapes of this one only.
  const std::shared_ptr<ShapeArena>& arena() const { return arena_; }
  // Ids given so far; the pool may be asked for a new shape while it is below kMaxShapes.
  uint64_t num_ids() const { return arena_->next_id(); }
  // Bytes of all shapes made so far, dropped ones included.
  uint64_t made_bytes() const { return earlier_bytes_ + arena_->bytes(); }

  static constexpr uint64_t kArenaBytes = uint64_t{4} << 20;

 private:
  struct Key {
    LaneMask mask = 0;
    std::span<const uint64_t> offsets;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Key& key) const;
    size_t operator()(const AccessShape* shape) const { return (*this)(Key{shape->mask, shape->offsets}); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Key& key, const AccessShape* shape) const;
    bool operator()(const AccessShape* shape, const Key& key) const { return (*this)(key, shape); }
    bool operator()(const AccessShape* a, const AccessShape* b) const { return a == b; }
  };

  std::shared_ptr<LiveBytes> live_;
  std::shared_ptr<ShapeArena> arena_;
  uint64_t earlier_bytes_ = 0;                                   // of arenas before arena_
  absl::flat_hash_set<const AccessShape*, Hash, Equal> shapes_;  // of arena_
};

// True when `addresses` have this very shape.
bool HasShape(const AccessShape& shape, LaneMask mask, std::span<const uint64_t> addresses);

}  // namespace sm89
