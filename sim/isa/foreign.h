// Opcodes of other architectures that SM89 spells differently.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sm89 {

struct ForeignOpcode {
  uint32_t first_version = 0;  // oldest and newest binary version that has it
  uint32_t last_version = 0;
  std::string_view mnemonic;
  std::string_view counterpart;  // SM89's
  std::string_view note;         // what the mapping loses; "" = nothing that timing sees
};

std::span<const ForeignOpcode> ForeignOpcodes();

}  // namespace sm89
