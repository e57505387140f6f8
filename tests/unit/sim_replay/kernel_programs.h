// Programs of the example kernels, in small launches.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/replay/program.h"

namespace sm89 {

inline std::string KernelFile(const std::string& name) {
  return absl::StrCat(SM89_SOURCE_DIR, "/tests/data/kernels/", name);
}

inline std::string FileBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One launch of vector_add over `count` elements by CTAs of 64 threads; c has `elements`.
inline std::string VectorAddLaunch(const std::string& id, uint32_t count, uint32_t elements,
                                   const std::string& more = "") {
  const std::string buffer = absl::StrCat("\"dtype\": \"f32\", \"count\": ", count);
  return absl::StrCat("{\"id\": \"", id, "\", \"kernel\": \"vector_add\", \"grid\": [", (count + 63) / 64,
                      "], \"block\": [64], ", more, "\"args\": [{\"buffer\": \"a\", ", buffer,
                      ", \"init\": \"iota\"}, {\"buffer\": \"b\", ", buffer,
                      ", \"init\": \"iota\"}, {\"buffer\": \"c\", \"dtype\": \"f32\", \"count\": ", elements,
                      ", \"init\": \"zero\", \"output\": true}, {\"i32\": ", count, "}]}");
}

inline Program KernelProgram(const std::string& kernel, const std::string& launch_text) {
  Program program;
  program.name = kernel + ".sm_89.cubin";
  program.launch_name = kernel + ".json";
  program.launch_text = launch_text;
  program.modules[""] = FileBytes(KernelFile(program.name));
  return program;
}

inline Program VectorAddProgram(uint32_t count, const std::string& more = "") {
  return KernelProgram("vector_add", VectorAddLaunch("add", count, count, more));
}

// As the example's own launch file has it.
inline Program ExampleProgram(const std::string& kernel) {
  return KernelProgram(kernel, FileBytes(KernelFile(kernel + ".json")));
}

// A folder for one test.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sm89_replay_XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator()(const std::string& name) const { return path_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream((*this)(name), std::ios::binary) << bytes;
    return (*this)(name);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sm89
