// Where default values come from, in words that many rows share.
#pragma once

#include <string_view>

namespace sm89::settings {

inline constexpr std::string_view kWhitepaper = "NVIDIA Ada GPU architecture whitepaper";
inline constexpr std::string_view kGuide = "NVIDIA CUDA programming guide, table for compute capability 8.9";
inline constexpr std::string_view kHuerta = "Huerta et al., MICRO 2025 (RTX A6000)";
inline constexpr std::string_view kHuertaModel = "published RTX A6000 model of Huerta et al., MICRO 2025";
inline constexpr std::string_view kLog4090 = "measured on an RTX 4090 (public micro-benchmark log)";
inline constexpr std::string_view kOccupancy =
    "convention of the CUDA occupancy calculator, not re-read for 8.9";
inline constexpr std::string_view kAccelSim = "public Accel-Sim RTX 4090 configuration; no data sheet";
inline constexpr std::string_view kGddr6 =
    "GDDR6 at 14 Gb/s (Samsung 8 Gb, as published with Ramulator 2), same nanoseconds at 21 Gb/s; GDDR6X's "
    "own "
    "are not public";
inline constexpr std::string_view kModelChoice = "choice of this model, not a property of the hardware";
inline constexpr std::string_view kLabel = "label, no timing";
inline constexpr std::string_view kCompatibility = "option of GPGPU-Sim or Accel-Sim";
inline constexpr std::string_view kAssumption = "assumption";

}  // namespace sm89::settings
