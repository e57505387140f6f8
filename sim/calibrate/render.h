// What a calibration shows: tables for people, JSON, and the overlay configuration.
#pragma once

#include <span>
#include <string>

#include "sim/calibrate/measured.h"
#include "sim/calibrate/parameter.h"
#include "sim/calibrate/search.h"

namespace sm89::calibrate {

// What a calibration started from, for headings and the overlay.
struct Origin {
  std::string simulation;       // "job 0123", "deploy/example"
  std::string product_version;  // of the program that calibrates
  std::string config;       // what the overlay includes: a preset or a file; empty = it cannot be included
  std::string config_name;  // for people
  Settings settings;        // on top of it before the calibration
};

// The table shows at most so many kernels, those that are furthest off; the JSON has all.
inline constexpr size_t kKernelsShown = 40;

std::string ToTable(const Measured& measured, std::span<const Parameter> parameters,
                    const SearchOptions& options, const SearchResult& result, const Origin& origin);

std::string ToJson(const Measured& measured, std::span<const Parameter> parameters,
                   const SearchOptions& options, const SearchResult& result, const Origin& origin);

// A configuration that includes the one that was calibrated and changes what the search changed, with the
// history as comments. Deterministic: no time, no host.
std::string ToOverlay(const Measured& measured, std::span<const Parameter> parameters,
                      const SearchOptions& options, const SearchResult& result, const Origin& origin);

}  // namespace sm89::calibrate
