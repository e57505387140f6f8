// Code that the tests read: fixtures of the repository, the reference corpus beside it, single instructions.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/code.h"
#include "sim/cubin/reader.h"
#include "tests/support/xz_file.h"

namespace sm89::analysis {

inline std::string Fixture(const std::string& name) {
  return std::string(SM89_SOURCE_DIR "/tests/data/analysis/") + name;
}

inline std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A function from literal words, low and high half of each in turn. Keep the result alive: Code points into
// it.
struct LiteralCode {
  cubin::Module module;
  Code code;

  explicit LiteralCode(const std::vector<uint64_t>& words) {
    module.name = "literal";
    module.arch = 89;
    cubin::Function function;
    function.name = "f";
    function.is_kernel = true;
    function.registers = 32;
    for (const uint64_t word : words) {
      for (int i = 0; i < 8; ++i) function.code.push_back(static_cast<uint8_t>(word >> (8 * i)));
    }
    module.functions.push_back(std::move(function));
    code = DecodeFunction(module, module.functions[0]).value();
  }
  LiteralCode(const LiteralCode&) = delete;
  LiteralCode& operator=(const LiteralCode&) = delete;
};

// Cubins of the reference corpus, sorted by name; empty where it is absent.
inline std::vector<std::filesystem::path> CorpusCubins() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"/../shared/sass/cubin", "/../shared/silicon/cubin"}) {
    const std::filesystem::path path = std::string(SM89_SOURCE_DIR) + folder;
    if (!std::filesystem::exists(path)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(path)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline uint32_t ArchOf(const std::filesystem::path& path) {
  return path.stem().string().ends_with("sm_90") ? 90 : 89;
}

// Live registers of one listing row; -1 where the listing has none.
struct LiveRow {
  int general = -1, pred = -1, uniform = -1;
};
// cubin, function -> rows by instruction.
using LiveTable = std::map<std::pair<std::string, std::string>, std::vector<LiveRow>>;

inline LiveTable ReadLiveTable() {
  LiveTable table;
  const std::string text = ::sm89::test::ReadXz(SM89_SOURCE_DIR "/../shared/sass/listing.tsv.xz");
  for (size_t begin = text.find('\n') + 1; begin != 0 && begin < text.size();) {
    const size_t end = text.find('\n', begin);
    std::vector<std::string> cells;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    for (size_t at = 0; at <= line.size();) {
      const size_t stop = std::min(line.find('\t', at), line.size());
      cells.emplace_back(line.substr(at, stop - at));
      at = stop + 1;
    }
    begin = end + 1;
    if (cells.size() < 9) continue;
    const auto number = [](const std::string& cell) { return cell.empty() ? -1 : std::stoi(cell); };
    table[{cells[0], cells[1]}].push_back({number(cells[6]), number(cells[7]), number(cells[8])});
  }
  return table;
}

}  // namespace sm89::analysis
