// Configurations by name: the presets built into the simulator, and texts that users created.
//
// A created configuration is stored as one self-contained text (its base folded in), so that deleting or
// changing another one never changes it, and a job that was accepted carries its text along.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/os/clock.h"
#include "server/store/database.h"
#include "sim/config/config.h"

namespace sm89 {

inline constexpr std::string_view kDefaultConfig = "RTX4090";

// A configuration as it resolves now.
struct NamedConfig {
  std::string id;  // "configs/{id}"
  std::string description;
  bool preset = false;
  std::string text;  // of its own; a preset's entry text
  Config config;     // with the overrides that were asked for
  int64_t create_unix_nanos = 0;
  int64_t version = 0;

  // What a worker needs beside the overrides: empty for a preset (it has the same one built in).
  std::string worker_text() const { return preset ? std::string() : text; }
  std::string etag() const;
};

struct NewConfig {
  std::string id;
  std::string description;
  std::string base;  // id; empty = the text stands alone
  std::string text;
  std::vector<NamedOverride> overrides;
  std::string request_id;  // empty = no protection against repeats
};

struct ConfigPage {
  struct Entry {
    std::string id;
    std::string description;
    bool preset = false;
    std::string digest;                 // empty: it does not resolve with this version any more
    std::vector<std::string> problems;  // why
    int64_t create_unix_nanos = 0;
    int64_t version = 0;
  };
  std::vector<Entry> configs;  // presets first, then oldest first
  int64_t next_after = 0;      // for the next call; 0 = that was all
};

struct ConfigLimits {
  uint64_t max_configs = 0;
  uint64_t max_bytes = 0;  // text and overrides of one
};

// Thread-safe. Calls block on the database and resolve whole configurations (about a millisecond).
class ConfigStore {
 public:
  static absl::StatusOr<std::unique_ptr<ConfigStore>> Open(Database& db, const Clock& clock,
                                                           const ConfigLimits& limits);

  // `id` empty = kDefaultConfig. NOT_FOUND; INVALID_ARGUMENT with all faults of text and overrides.
  absl::StatusOr<NamedConfig> Resolve(const std::string& id, std::span<const NamedOverride> overrides);
  // `text` on top of `base` (id, or empty). INVALID_ARGUMENT with all faults, whose lines are those of
  // `text`.
  absl::StatusOr<Config> Validate(const std::string& base, const std::string& text,
                                  std::span<const NamedOverride> overrides, bool strict);
  // ALREADY_EXISTS for a taken id, or a request id that came with another body.
  absl::StatusOr<NamedConfig> Create(const NewConfig& request, bool validate_only);
  absl::StatusOr<ConfigPage> List(int64_t after, uint32_t page_size);
  // Presets are FAILED_PRECONDITION. `etag` empty = any; a mismatch is ABORTED.
  absl::Status Delete(const std::string& id, const std::string& etag);

 private:
  struct Stored;
  ConfigStore(Database& db, const Clock& clock, const ConfigLimits& limits)
      : db_(db), clock_(clock), limits_(limits) {}
  absl::StatusOr<Stored> Find(Transaction& tx, const std::string& id);
  absl::StatusOr<std::string> BaseLine(const std::string& base);
  absl::Status CheckSize(const std::string& text, std::span<const NamedOverride> overrides) const;
  absl::StatusOr<std::string> Fold(const NewConfig& request, const Config& checked);
  // Sets `*existing` to the id of the config that the same request made earlier.
  absl::Status Insert(Transaction& tx, const NewConfig& request, const std::string& text,
                      std::string* existing);

  Database& db_;
  const Clock& clock_;
  const ConfigLimits limits_;
};

// [a-zA-Z0-9][a-zA-Z0-9._-]{0,62}
bool IsConfigId(std::string_view id);

}  // namespace sm89
