// The CTAs met in a kernel file, as runs of consecutive linear ids: memory follows the number of gaps and
// jumps in the file, never the size of the grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sm89 {

// Not thread-safe.
class CtaSet {
 public:
  // False when the id is already in.
  bool Insert(uint64_t id);
  uint64_t size() const { return size_; }
  size_t num_runs() const { return runs_.size(); }
  // The `max_count` smallest ids of 0 .. `total`-1 that are not in.
  std::vector<uint64_t> FirstMissing(uint64_t total, size_t max_count) const;

 private:
  using Runs = std::map<uint64_t, uint64_t>;  // first id -> id behind the last one; runs never touch
  Runs runs_;
  Runs::iterator last_ = runs_.end();  // the run that grew last: files are in order
  uint64_t size_ = 0;
};

}  // namespace sm89
