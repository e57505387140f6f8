// Comparison of a JSON text with the file that keeps it. SM89_UPDATE_GOLDEN=1 rewrites the file; say why in
// the commit that does.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace sm89::testing {

// `name`: below tests/golden. Empty when there is no such file.
inline std::string GoldenText(const std::string& name) {
  std::ifstream in(std::string(SM89_SOURCE_DIR) + "/tests/golden/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void ExpectGolden(const std::string& name, const std::string& actual) {
  ASSERT_FALSE(actual.empty());
  const std::string path = std::string(SM89_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("SM89_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
    GTEST_SKIP() << "rewrote " << path;
  }
  const std::string expected = GoldenText(name);
  ASSERT_FALSE(expected.empty()) << path << " is missing: run with SM89_UPDATE_GOLDEN=1";
  // Differences by path say more than two long texts.
  const nlohmann::json patch =
      nlohmann::json::diff(nlohmann::json::parse(expected), nlohmann::json::parse(actual));
  std::string differences;
  for (size_t i = 0; i < patch.size() && i < 40; ++i) {
    differences += patch[i]["op"].get<std::string>() + " " + patch[i]["path"].get<std::string>();
    if (patch[i].contains("value")) differences += " -> " + patch[i]["value"].dump().substr(0, 100);
    differences += "\n";
  }
  EXPECT_EQ(differences, "");
  EXPECT_EQ(actual, expected) << "same values, other bytes";
}

}  // namespace sm89::testing
