#include "client/kineto/kernel_match.h"

#include <cxxabi.h>

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <utility>

namespace sm89::client {
namespace {

constexpr std::string_view kAnonymous = "(anonymousnamespace)";

// Launches that are still free, by what a round looks at.
struct Key {
  uint32_t name = 0;
  bool bare = false;
  Shape shape{};

  auto operator<=>(const Key&) const = default;
};

class Round {
 public:
  Round(const NameTable& names, MatchKind kind)
      : names_(names),
        shapes_(kind == MatchKind::kFull || kind == MatchKind::kBase),
        base_(kind == MatchKind::kBase || kind == MatchKind::kBaseOnly),
        kind_(kind) {}

  void Run(const std::vector<KernelIdentity>& simulated, const std::vector<KernelIdentity>& host,
           std::vector<bool>* taken, std::vector<Match>* matches) {
    for (size_t h = 0; h < host.size(); ++h) {
      if (host[h].named && !(*taken)[h]) free_[KeyOf(host[h], names_.bare(host[h].name))].push_back(h);
    }
    for (size_t s = 0; s < simulated.size(); ++s) {
      if ((*matches)[s].kind != MatchKind::kNone) continue;
      const size_t launch = Take(simulated[s]);
      if (launch == kNoMatch) continue;
      (*matches)[s] = {launch, kind_};
      (*taken)[launch] = true;
    }
  }

 private:
  Key KeyOf(const KernelIdentity& kernel, bool bare) const {
    return {base_ ? names_.base(kernel.name) : kernel.name, base_ && bare, shapes_ ? kernel.shape : Shape{}};
  }
  // The first free launch for `kernel`.
  size_t Take(const KernelIdentity& kernel) {
    std::deque<size_t>* first = nullptr;
    for (const bool bare : {false, true}) {
      // Two instances of one template are not the same kernel: one of the names must be bare.
      if (base_ && !bare && !names_.bare(kernel.name)) continue;
      const auto found = free_.find(KeyOf(kernel, bare));
      if (found == free_.end() || found->second.empty()) continue;
      if (first == nullptr || found->second.front() < first->front()) first = &found->second;
    }
    if (first == nullptr) return kNoMatch;
    const size_t launch = first->front();
    first->pop_front();
    return launch;
  }

  const NameTable& names_;
  const bool shapes_;
  const bool base_;
  const MatchKind kind_;
  std::map<Key, std::deque<size_t>> free_;
};

}  // namespace

std::string CanonicalName(const std::string& name) {
  std::string text = name;
  if (name.starts_with("_Z")) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    if (status == 0 && demangled != nullptr) text = demangled.get();
  }
  if (text.starts_with("void ")) text.erase(0, 5);
  std::erase(text, ' ');
  return text;
}

std::string_view BaseName(std::string_view canonical) {
  size_t from = 0;
  while (true) {
    const size_t end = canonical.find_first_of("<(", from);
    if (end == std::string_view::npos || end == 0) return canonical;
    if (!canonical.substr(end).starts_with(kAnonymous)) return canonical.substr(0, end);
    from = end + kAnonymous.size();
  }
}

std::string_view Name(MatchKind kind) {
  switch (kind) {
    case MatchKind::kNone:
      return "nothing";
    case MatchKind::kFull:
      return "name, grid and block";
    case MatchKind::kName:
      return "name, other grid or block";
    case MatchKind::kBase:
      return "base name, grid and block";
    case MatchKind::kBaseOnly:
      return "base name, other grid or block";
    case MatchKind::kOrder:
      return "order only";
  }
  return "?";
}

uint32_t NameTable::Add(const std::string& name) {
  const std::string canonical = CanonicalName(name);
  const auto [it, added] = ids_.emplace(canonical, static_cast<uint32_t>(names_.size()));
  if (!added) return it->second;
  const std::string_view base = BaseName(canonical);
  const auto [base_it, new_base] = bases_.emplace(std::string(base), static_cast<uint32_t>(bases_.size()));
  names_.push_back({canonical, base_it->second, base.size() == canonical.size()});
  return it->second;
}

std::vector<Match> MatchKernels(const NameTable& names, const std::vector<KernelIdentity>& simulated,
                                const std::vector<KernelIdentity>& host) {
  std::vector<Match> matches(simulated.size());
  const bool named = std::any_of(host.begin(), host.end(), [](const KernelIdentity& h) { return h.named; });
  if (!named) {
    for (size_t i = 0; i < std::min(simulated.size(), host.size()); ++i) matches[i] = {i, MatchKind::kOrder};
    return matches;
  }
  std::vector<bool> taken(host.size(), false);
  for (const MatchKind kind : {MatchKind::kFull, MatchKind::kName, MatchKind::kBase, MatchKind::kBaseOnly}) {
    Round(names, kind).Run(simulated, host, &taken, &matches);
  }
  return matches;
}

size_t OutOfOrder(const std::vector<Match>& matches) {
  size_t count = 0;
  size_t latest = 0;
  for (const Match& match : matches) {
    if (match.kind == MatchKind::kNone) continue;
    if (match.host < latest) ++count;
    latest = std::max(latest, match.host);
  }
  return count;
}

}  // namespace sm89::client
