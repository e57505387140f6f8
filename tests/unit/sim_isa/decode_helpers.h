// Builders shared by the decoder's tests.
#pragma once

#include <initializer_list>
#include <string>

#include "sim/isa/decoded_inst.h"

namespace sm89 {

inline StaticInst Inst(std::string opcode, std::initializer_list<int> dests = {},
                       std::initializer_list<int> sources = {}) {
  StaticInst inst;
  inst.opcode = std::move(opcode);
  for (int r : dests) inst.dests[inst.num_dests++] = {RegFile::kGeneral, static_cast<uint8_t>(r)};
  for (int r : sources) inst.sources[inst.num_sources++] = {RegFile::kGeneral, static_cast<uint8_t>(r)};
  return inst;
}

inline DecodedKernel DecodeAll(std::initializer_list<StaticInst> insts, uint32_t version = 89) {
  DecodeOptions options;
  options.binary_version = version;
  return DecodeKernel(std::span<const StaticInst>(insts.begin(), insts.size()), options);
}

inline DecodedInst Decode(const StaticInst& inst, uint32_t version = 89) {
  return DecodeAll({inst}, version).insts.at(0);
}

// "R4x2 R8" for readable expectations.
template <size_t N>
std::string Ranges(const std::array<RegRange, N>& ranges, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    const char* prefix = ranges[i].file == RegFile::kGeneral     ? "R"
                         : ranges[i].file == RegFile::kUniform   ? "UR"
                         : ranges[i].file == RegFile::kPredicate ? "P"
                                                                 : "UP";
    text += prefix + std::to_string(ranges[i].first);
    if (ranges[i].count != 1) text += "x" + std::to_string(ranges[i].count);
  }
  return text;
}
inline std::string Dests(const DecodedInst& inst) { return Ranges(inst.dests, inst.num_dests); }
inline std::string Sources(const DecodedInst& inst) { return Ranges(inst.sources, inst.num_sources); }

}  // namespace sm89
