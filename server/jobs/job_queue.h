// Order of dispatch: higher priority first, then first come first served. A job that is queued again keeps
// its place by its submission number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

#include "server/jobs/job_types.h"
#include "sim/base/assert.h"

namespace sm89 {

class JobQueue {
 public:
  void Add(const Job& job) {
    const bool added = entries_.insert(EntryOf(job)).second;
    SM89_ASSERT(added, "a job is queued once");
  }
  void Remove(const Job& job) {
    const size_t removed = entries_.erase(EntryOf(job));
    SM89_ASSERT(removed == 1, "only a queued job leaves the queue");
  }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const std::string& front() const { return std::get<2>(*entries_.begin()); }
  // Jobs in front of this one.
  size_t Ahead(const Job& job) const {
    return static_cast<size_t>(std::distance(entries_.begin(), entries_.find(EntryOf(job))));
  }

 private:
  using Entry = std::tuple<int32_t, uint64_t, std::string>;  // -priority, number, id
  static Entry EntryOf(const Job& job) { return {-job.spec.priority, job.number, job.id}; }
  std::set<Entry> entries_;
};

}  // namespace sm89
