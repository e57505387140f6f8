// One row of the settings table: what a setting is called, what it means, and how its text gets into and out
// of a GpuConfig. Rows are declared in settings_*.cc and put together in settings.cc.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.h"
#include "sim/config/gpu_config.h"
#include "sim/config/text_value.h"

namespace sm89::settings {

// The way between a setting's text and the members of a configuration that it stands for.
struct Binding {
  SettingType type = SettingType::kString;
  std::string range;
  // Leaves `gpu` as it was when the text is wrong.
  std::function<Outcome(std::string_view text, GpuConfig* gpu)> read;
  // Canonical text; `read` takes it back to the same members. Empty for a setting without an effect.
  std::function<std::string(const GpuConfig& gpu)> write;
  // Addresses of the bound members inside `gpu`, so that a test can prove that every member has one row.
  std::function<std::vector<const void*>(const GpuConfig& gpu)> members;
};

// How a row is declared.
struct RowSpec {
  std::string_view name;
  std::vector<std::string_view> aliases;
  std::string_view unit;
  std::string_view help;
  std::string_view source;
  Binding binding;
};

struct Row {
  SettingInfo info;
  Binding binding;
};

// Declared in settings_core.cc, settings_front.cc, settings_memory.cc and settings_compat.cc.
std::vector<RowSpec> NameRows();
std::vector<RowSpec> ClockRows();
std::vector<RowSpec> SmRows();
std::vector<RowSpec> SharedMemoryRows();
std::vector<RowSpec> FetchRows();
std::vector<RowSpec> InstructionCacheRows();
std::vector<RowSpec> ConstantCacheRows();
std::vector<RowSpec> ConstantTimingRows();
std::vector<RowSpec> RegisterFileRows();
std::vector<RowSpec> ExecRows();
std::vector<RowSpec> OtherUnitRows();
std::vector<RowSpec> SharedUnitRows();
std::vector<RowSpec> SerRows();
std::vector<RowSpec> RunRows();
std::vector<RowSpec> L1Rows();
std::vector<RowSpec> MemoryPipelineRows();
std::vector<RowSpec> MemoryStepRows();
std::vector<RowSpec> TlbRows();
std::vector<RowSpec> NocRows();
std::vector<RowSpec> L2SliceRows();
std::vector<RowSpec> L2TimingRows();
std::vector<RowSpec> L2FeatureRows();
std::vector<RowSpec> DramRows();
std::vector<RowSpec> DramCommandRows();
// Names of GPGPU-Sim and Accel-Sim that this model has no use for; `help` says why.
std::vector<RowSpec> CompatibilityRows();

// The whole table; built once, the same order in every process.
std::span<const Row> Table();
// By name or alias; null when there is none.
const Row* FindRow(std::string_view name);
// The name nearest to a misspelt one, or empty when none is near.
std::string_view NearestName(std::string_view name);

// Sets the members that follow from others (SM count, warps, slices).
void DeriveMembers(GpuConfig* gpu);

}  // namespace sm89::settings
