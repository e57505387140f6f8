// Which registers an instruction reads and writes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "sim/sass/instruction.h"

namespace sm89::analysis {

enum class RegFile : uint8_t { kGeneral, kUniform, kPred, kUPred };

// A set over all four register files. RZ, URZ, PT and UPT are never members.
class RegSet {
 public:
  void Add(RegFile file, unsigned index) { words_[Word(file, index)] |= Bit(file, index); }
  bool Has(RegFile file, unsigned index) const { return (words_[Word(file, index)] & Bit(file, index)) != 0; }
  void Remove(RegFile file, unsigned index) { words_[Word(file, index)] &= ~Bit(file, index); }
  bool Empty() const {
    for (const uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  // Members of one file.
  unsigned Count(RegFile file) const {
    switch (file) {
      case RegFile::kGeneral:
        return static_cast<unsigned>(std::popcount(words_[0]) + std::popcount(words_[1]) +
                                     std::popcount(words_[2]) + std::popcount(words_[3]));
      case RegFile::kUniform:
        return static_cast<unsigned>(std::popcount(words_[4]));
      case RegFile::kPred:
        return static_cast<unsigned>(std::popcount(words_[5] & 0xff));
      case RegFile::kUPred:
        return static_cast<unsigned>(std::popcount(words_[5] >> 8));
    }
    return 0;
  }
  RegSet& operator|=(const RegSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  RegSet& operator&=(const RegSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  RegSet& operator-=(const RegSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  friend RegSet operator|(RegSet a, const RegSet& b) { return a |= b; }
  friend RegSet operator&(RegSet a, const RegSet& b) { return a &= b; }
  friend RegSet operator-(RegSet a, const RegSet& b) { return a -= b; }
  friend bool operator==(const RegSet&, const RegSet&) = default;

  // Calls visit(file, index) for every member, ascending.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(rest));
        if (w < 4) visit(RegFile::kGeneral, static_cast<unsigned>(w) * 64 + bit);
        if (w == 4) visit(RegFile::kUniform, bit);
        if (w == 5) visit(bit < 8 ? RegFile::kPred : RegFile::kUPred, bit & 7);
      }
    }
  }

 private:
  static size_t Word(RegFile file, unsigned index) {
    return file == RegFile::kGeneral ? index / 64 : file == RegFile::kUniform ? 4 : 5;
  }
  static uint64_t Bit(RegFile file, unsigned index) {
    return uint64_t{1} << (file == RegFile::kUPred ? index + 8 : index % 64);
  }

  std::array<uint64_t, 6> words_{};
};

struct Effects {
  RegSet reads;   // operands, guard included
  RegSet writes;  // all that may be written
  // The guard is always true (@PT or none): what it writes is certainly overwritten.
  bool unconditional = true;
  // @!PT, @!UPT: never executes; ptxas uses it to wait.
  bool never = false;
};
Effects EffectsOf(const sass::Instruction& inst);

// "R4", "UR2", "P0", "UP1".
std::string RegName(RegFile file, unsigned index);

}  // namespace sm89::analysis
