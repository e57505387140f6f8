// Which simulated kernel is which launch of a host profile: by name, grid and block, in the order of launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sm89::client {

// Demangled, without blanks and without "void " before it: "add(floatconst*,int)" for "_Z3addPKfi" and for
// "void add(float const*, int)".
std::string CanonicalName(const std::string& name);
// The part of a canonical name before its template arguments and parameters: "ns::add".
std::string_view BaseName(std::string_view canonical);

// Canonical names by number, each once however often it comes.
class NameTable {
 public:
  uint32_t Add(const std::string& name);
  const std::string& text(uint32_t id) const { return names_[id].text; }
  // Names with one base name have one base.
  uint32_t base(uint32_t id) const { return names_[id].base; }
  // Without template arguments and parameters.
  bool bare(uint32_t id) const { return names_[id].bare; }
  size_t size() const { return names_.size(); }

 private:
  struct Entry {
    std::string text;
    uint32_t base = 0;
    bool bare = false;
  };
  std::vector<Entry> names_;
  std::unordered_map<std::string, uint32_t> ids_;  // of canonical names
  std::unordered_map<std::string, uint32_t> bases_;
};

using Shape = std::array<uint32_t, 6>;  // grid, block

struct KernelIdentity {
  bool named = true;  // false: a launch whose kernel the profile does not tell
  uint32_t name = 0;  // in the table
  Shape shape{};
};

enum class MatchKind : uint8_t {
  kNone,
  kFull,      // name, grid and block
  kName,      // name; grid or block differ
  kBase,      // base name, grid and block: one of the names is bare
  kBaseOnly,  // base name; grid or block differ
  kOrder,     // only the place in the order: the profile names no kernel at all
};
// "name, grid and block".
std::string_view Name(MatchKind kind);

inline constexpr size_t kNoMatch = ~size_t{0};

struct Match {
  size_t host = kNoMatch;
  MatchKind kind = MatchKind::kNone;
};

// One entry a simulated kernel. Both lists are in the order of launch. In four rounds, from kFull to
// kBaseOnly, the k-th simulated kernel of a key that is still unmatched gets the k-th such launch. Only if no
// launch is named: the k-th kernel the k-th launch.
std::vector<Match> MatchKernels(const NameTable& names, const std::vector<KernelIdentity>& simulated,
                                const std::vector<KernelIdentity>& host);

// Matches whose launch comes before that of an earlier kernel: the orders differ there.
size_t OutOfOrder(const std::vector<Match>& matches);

}  // namespace sm89::client
