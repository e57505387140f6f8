// The silicon suite as the emulator sees it: launches, cubins, results recorded from a GPU.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/cubin/reader.h"
#include "sim/emu/emulator.h"
#include "sim/launch/launch.h"
#include "sim/launch/outputs.h"

namespace sm89 {

inline const std::string& SiliconFolder() {
  static const std::string folder = std::string(SM89_SOURCE_DIR) + "/../shared/silicon";
  return folder;
}

inline bool HaveSilicon() { return std::filesystem::exists(SiliconFolder() + "/suite.json"); }

inline std::string ReadSiliconFile(const std::string& name) {
  std::ifstream in(SiliconFolder() + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Modules by file name, read once.
class SiliconModules {
 public:
  absl::StatusOr<const cubin::Module*> Get(const std::string& module, uint32_t arch) {
    const std::string path = launch::CubinPath(SiliconFolder() + "/cubin", module, arch);
    const auto found = modules_.find(path);
    if (found != modules_.end()) return found->second.get();
    absl::StatusOr<cubin::Module> opened = cubin::OpenCubin(path, arch);
    if (!opened.ok()) return opened.status();
    auto& slot = modules_[path];
    slot = std::make_unique<cubin::Module>(*std::move(opened));
    return slot.get();
  }

 private:
  std::map<std::string, std::unique_ptr<cubin::Module>> modules_;
};

inline launch::LaunchResult ResultOf(const emu::Emulator& emulator, const launch::LaunchSpec& launch) {
  launch::LaunchResult result{.id = launch.id, .kernel = launch.kernel};
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    if (!launch.buffers[i].output) continue;
    const std::span<const uint8_t> bytes = emulator.buffer(i);
    result.outputs.push_back(
        launch::Summarise(launch.buffers[i], std::vector<uint8_t>(bytes.begin(), bytes.end())));
  }
  return result;
}

}  // namespace sm89
