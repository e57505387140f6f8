#include "sim/ingest/cta_set.h"

#include <iterator>

#include "sim/base/assert.h"

namespace sm89 {

bool CtaSet::Insert(uint64_t id) {
  SM89_ASSERT(id != ~uint64_t{0}, "a linear CTA id is below the grid's volume");
  // In order, the next id extends the run that grew last and the map is not searched.
  Runs::iterator next;
  Runs::iterator before;
  if (last_ != runs_.end() && last_->second == id) {
    before = last_;
    next = std::next(last_);
  } else {
    next = runs_.upper_bound(id);
    before = next == runs_.begin() ? runs_.end() : std::prev(next);
  }
  if (before != runs_.end() && id < before->second) return false;
  const bool joins_before = before != runs_.end() && before->second == id;
  const bool joins_next = next != runs_.end() && next->first == id + 1;
  if (joins_before) {
    before->second = joins_next ? next->second : id + 1;
    last_ = before;
  } else {
    last_ = runs_.emplace_hint(next, id, joins_next ? next->second : id + 1);
  }
  if (joins_next) runs_.erase(next);
  ++size_;
  return true;
}

std::vector<uint64_t> CtaSet::FirstMissing(uint64_t total, size_t max_count) const {
  std::vector<uint64_t> missing;
  uint64_t id = 0;
  auto run = runs_.begin();
  while (id < total && missing.size() < max_count) {
    if (run != runs_.end() && run->first == id) {
      id = run->second;
      ++run;
    } else {
      missing.push_back(id++);
    }
  }
  return missing;
}

}  // namespace sm89
