// Every tensor-core instruction of sim/num, found by asking.
#pragma once

#include <string>
#include <vector>

#include "sim/num/mma_layout.h"

namespace sm89::num::testing {

inline std::vector<MmaDesc> AllMmaDescs() {
  constexpr MmaType kInputs[] = {MmaType::kF16,  MmaType::kBf16, MmaType::kTf32, MmaType::kF64,
                                 MmaType::kE4m3, MmaType::kE5m2, MmaType::kS8,   MmaType::kU8,
                                 MmaType::kS4,   MmaType::kU4,   MmaType::kB1};
  constexpr MmaType kAccumulators[] = {MmaType::kF16, MmaType::kF32, MmaType::kF64, MmaType::kS32};
  std::vector<MmaDesc> all;
  for (const int m : {8, 16}) {
    for (const int k : {4, 8, 16, 32, 64, 128, 256}) {
      for (const MmaType a : kInputs) {
        for (const MmaType b : kInputs) {
          for (const MmaType acc : kAccumulators) {
            for (const bool sparse : {false, true}) {
              const MmaDesc desc = {.m = m, .k = k, .a = a, .b = b, .acc = acc, .sparse = sparse};
              if (IsSupported(desc)) all.push_back(desc);
            }
          }
        }
      }
    }
  }
  return all;
}

inline std::string NameOf(const MmaDesc& desc) {
  return "m" + std::to_string(desc.m) + "k" + std::to_string(desc.k) + " a" +
         std::to_string(static_cast<int>(desc.a)) + " b" + std::to_string(static_cast<int>(desc.b)) + " c" +
         std::to_string(static_cast<int>(desc.acc)) + (desc.sparse ? " sparse" : "");
}

}  // namespace sm89::num::testing
