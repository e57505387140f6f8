#include "client/kineto/placement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sm89::client {
namespace {

class Placer {
 public:
  Placer(const HostProfile& host, const SimTimeline& simulated, const std::vector<Match>& matches)
      : host_(host), simulated_(simulated), matches_(matches) {
    placement_.kernels.resize(simulated.kernels.size());
  }

  Placement Run() {
    PlaceMatched();
    PlaceOthers();
    FindAlone();
    return std::move(placement_);
  }

 private:
  // Rows of matched kernels keep their stream's number where two devices do not share it.
  int64_t NewTrack(int64_t wanted, const std::string& name) {
    int64_t tid = wanted;
    if (placement_.tracks.contains(tid)) tid = std::max<int64_t>(placement_.tracks.rbegin()->first + 1, 1);
    placement_.tracks[tid] = name;
    return tid;
  }

  int64_t TrackOf(size_t row, int64_t stream) {
    const auto [it, added] = matched_tracks_.emplace(std::pair(row, stream), 0);
    if (added) it->second = NewTrack(stream, absl::StrCat("stream ", stream, " (simulated) "));
    return it->second;
  }

  void PlaceMatched() {
    std::vector<size_t> order;
    for (size_t s = 0; s < matches_.size(); ++s) {
      if (matches_[s].host != kNoMatch) order.push_back(s);
    }
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return matches_[a].host < matches_[b].host; });
    std::map<int64_t, int64_t> free_ns;  // by track
    for (const size_t s : order) {
      const HostEntry& entry = host_.order[matches_[s].host];
      int64_t earliest_ns = 0;
      size_t row = kNoIndex;
      int64_t stream = simulated_.kernels[s].stream;
      if (entry.kernel != kNoIndex) {
        const HostKernel& measured = host_.kernels[entry.kernel];
        earliest_ns = measured.start_ns;
        row = measured.row;
        const TraceJson& tid = host_.rows[row].tid;
        if (tid.is_number_integer()) stream = tid.get<int64_t>();
      }
      if (entry.launch != kNoIndex) earliest_ns = host_.launches[entry.launch].end_ns;
      PlacedKernel& placed = placement_.kernels[s];
      placed.track = TrackOf(row, stream);
      const auto [free, first] = free_ns.emplace(placed.track, earliest_ns);
      placed.start_ns = first ? earliest_ns : std::max(earliest_ns, free->second);
      free->second = placed.start_ns + simulated_.kernels[s].duration_ns;
      end_ns_ = std::max(end_ns_, free->second);
    }
  }

  void PlaceOthers() {
    int64_t first_ns = std::numeric_limits<int64_t>::max();
    for (size_t s = 0; s < matches_.size(); ++s) {
      if (matches_[s].host == kNoMatch) first_ns = std::min(first_ns, simulated_.kernels[s].start_ns);
    }
    const int64_t behind_ns = std::max(host_.end_ns, end_ns_);
    std::map<int64_t, int64_t> tracks;  // by simulated stream
    for (size_t s = 0; s < matches_.size(); ++s) {
      if (matches_[s].host != kNoMatch) continue;
      const SimKernel& kernel = simulated_.kernels[s];
      const auto [track, added] = tracks.emplace(kernel.stream, 0);
      if (added) {
        track->second = NewTrack(
            kernel.stream, absl::StrCat("stream ", kernel.stream, " (simulated, no launch in the profile) "));
      }
      placement_.kernels[s].track = track->second;
      placement_.kernels[s].start_ns = behind_ns + kernel.start_ns - first_ns;
    }
  }

  // Clears `alone` of each kernel that overlaps with another, by its start as `start_of` tells it.
  template <class StartOf>
  void Overlaps(StartOf start_of) {
    std::vector<size_t> order(placement_.kernels.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return start_of(a) < start_of(b); });
    size_t longest = kNoIndex;  // the one that ends last so far
    int64_t end_ns = std::numeric_limits<int64_t>::min();
    for (const size_t s : order) {
      if (start_of(s) < end_ns) placement_.kernels[s].alone = placement_.kernels[longest].alone = false;
      const int64_t own_end_ns = start_of(s) + simulated_.kernels[s].duration_ns;
      if (longest != kNoIndex && own_end_ns <= end_ns) continue;
      longest = s;
      end_ns = own_end_ns;
    }
  }

  void FindAlone() {
    for (PlacedKernel& placed : placement_.kernels) placed.alone = true;
    Overlaps([&](size_t s) { return simulated_.kernels[s].start_ns; });
    Overlaps([&](size_t s) { return placement_.kernels[s].start_ns; });
  }

  const HostProfile& host_;
  const SimTimeline& simulated_;
  const std::vector<Match>& matches_;
  Placement placement_;
  std::map<std::pair<size_t, int64_t>, int64_t> matched_tracks_;
  int64_t end_ns_ = std::numeric_limits<int64_t>::min();
};

}  // namespace

Placement Place(const HostProfile& host, const SimTimeline& simulated, const std::vector<Match>& matches) {
  return Placer(host, simulated, matches).Run();
}

}  // namespace sm89::client
