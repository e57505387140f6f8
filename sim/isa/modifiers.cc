#include "sim/isa/modifiers.h"

#include <array>
#include <charconv>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

struct WidthName {
  std::string_view modifier;
  uint8_t bytes;
};
constexpr std::array kWidths = {
    WidthName{"U8", 1},  WidthName{"S8", 1},  WidthName{"U16", 2}, WidthName{"S16", 2},  WidthName{"16", 2},
    WidthName{"8", 1},   WidthName{"32", 4},  WidthName{"64", 8},  WidthName{"128", 16}, WidthName{"U32", 4},
    WidthName{"S32", 4}, WidthName{"U64", 8}, WidthName{"S64", 8}, WidthName{"F64", 8},
};

struct TypeName {
  std::string_view modifier;
  TensorType type;
};
constexpr std::array kInputTypes = {
    TypeName{"BF16", TensorType::kBf16}, TypeName{"TF32", TensorType::kTf32},
    TypeName{"E4M3", TensorType::kE4m3}, TypeName{"E5M2", TensorType::kE5m2},
    TypeName{"S8", TensorType::kS8},     TypeName{"U8", TensorType::kU8},
    TypeName{"S4", TensorType::kS4},     TypeName{"U4", TensorType::kU4},
};

uint32_t AccumulatorBits(const TensorOp& op) {
  switch (op.a) {
    case TensorType::kF64:
      return 64;
    case TensorType::kB1:
    case TensorType::kS4:
    case TensorType::kU4:
    case TensorType::kS8:
    case TensorType::kU8:
      return 32;
    default:
      return op.fp32_accumulate ? 32 : 16;
  }
}

// Elements without a modifier of their own: HMMA multiplies FP16, BMMA bits, DMMA doubles.
TensorType DefaultInput(std::string_view base) {
  if (base == "BMMA") return TensorType::kB1;
  if (base == "DMMA") return TensorType::kF64;
  if (base == "HMMA") return TensorType::kF16;
  if (base == "QMMA") return TensorType::kE4m3;
  return TensorType::kS8;
}

// The shape is written as m, n and k without separators. m is 8 or 16 and n is 8 on every architecture that
// maps to SM89, so "16" in front means m = 16 and whatever follows n is k: 16816 = 16 x 8 x 16, 884 = 8 x 8
// x 4.
bool ParseShape(std::string_view digits, TensorOp* op) {
  const bool tall = digits.starts_with("168");
  if (!tall && !digits.starts_with("88")) return false;
  const std::string_view depth = digits.substr(tall ? 3 : 2);
  uint16_t k = 0;
  const auto [end, error] = std::from_chars(depth.data(), depth.data() + depth.size(), k);
  if (error != std::errc() || end != depth.data() + depth.size()) return false;
  if (k < 4 || k > 256 || (k & (k - 1)) != 0) return false;
  op->m = tall ? 16 : 8;
  op->n = 8;
  op->k = k;
  return true;
}

// Registers a lane for `elements` of `bits` spread over the warp.
uint8_t RegsFor(uint32_t elements, uint32_t bits) {
  const uint32_t regs = elements * bits / (32 * kWarpSize);
  return static_cast<uint8_t>(regs == 0 ? 1 : regs);
}

}  // namespace

uint32_t ElementBits(TensorType type) {
  switch (type) {
    case TensorType::kNone:
      return 0;
    case TensorType::kB1:
      return 1;
    case TensorType::kS4:
    case TensorType::kU4:
      return 4;
    case TensorType::kE4m3:
    case TensorType::kE5m2:
    case TensorType::kS8:
    case TensorType::kU8:
      return 8;
    case TensorType::kF16:
    case TensorType::kBf16:
      return 16;
    case TensorType::kTf32:
      return 32;
    case TensorType::kF64:
      return 64;
  }
  SM89_ASSERT(false, "tensor type out of range");
}

std::string_view BaseMnemonic(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

ModifierReader::ModifierReader(std::string_view opcode) {
  const size_t dot = opcode.find('.');
  rest_ = dot == std::string_view::npos ? std::string_view() : opcode.substr(dot + 1);
}

bool ModifierReader::Next(std::string_view* modifier) {
  if (rest_.empty()) return false;
  const size_t dot = rest_.find('.');
  *modifier = rest_.substr(0, dot);
  rest_ = dot == std::string_view::npos ? std::string_view() : rest_.substr(dot + 1);
  return true;
}

bool HasModifier(std::string_view opcode, std::string_view modifier) {
  ModifierReader reader(opcode);
  for (std::string_view m; reader.Next(&m);) {
    if (m == modifier) return true;
  }
  return false;
}

uint8_t AccessWidthBytes(const OpcodeRow& row, std::string_view opcode) {
  switch (row.mem_op) {
    case MemOp::kNone:
    case MemOp::kShuffle:
    case MemOp::kCacheControl:
      return 0;
    case MemOp::kLoadMatrix:
      return 16;
    default:
      break;
  }
  ModifierReader reader(opcode);
  for (std::string_view m; reader.Next(&m);) {
    for (const WidthName& w : kWidths) {
      if (m == w.modifier) return w.bytes;
    }
  }
  return 4;
}

uint8_t MatrixCount(std::string_view opcode) {
  if (HasModifier(opcode, "4")) return 4;
  return HasModifier(opcode, "2") ? 2 : 1;
}

Scope ScopeOf(const OpcodeRow& row, std::string_view opcode) {
  const bool fence = row.control == ControlOp::kMembar;
  const bool atomic = row.mem_op == MemOp::kAtomic || row.mem_op == MemOp::kReduction;
  if (!fence && row.mem_op == MemOp::kNone) return Scope::kNone;
  bool strong = fence || atomic;
  ModifierReader reader(opcode);
  for (std::string_view m; reader.Next(&m);) {
    if (m == "STRONG" || m == "MMIO") strong = true;
    if (!strong) continue;
    if (m == "SM" || m == "CTA") return Scope::kCta;
    if (m == "GPU") return Scope::kGpu;
    if (m == "SYS" || m == "VC") return Scope::kSys;
  }
  return Scope::kNone;
}

bool ParseTensorOp(std::string_view opcode, TensorOp* op) {
  const std::string_view base = BaseMnemonic(opcode);
  TensorOp parsed;
  bool has_shape = false;
  bool has_accumulator = false;
  ModifierReader reader(opcode);
  for (std::string_view m; reader.Next(&m);) {
    if (m == "SP") {
      parsed.sparse = true;
    } else if (!has_shape && ParseShape(m, &parsed)) {
      has_shape = true;
    } else if (!has_accumulator && (m == "F32" || m == "F16")) {
      has_accumulator = true;
      parsed.fp32_accumulate = m == "F32";
    } else {
      for (const TypeName& t : kInputTypes) {
        if (m != t.modifier) continue;
        (parsed.a == TensorType::kNone ? parsed.a : parsed.b) = t.type;
      }
    }
  }
  if (!has_shape) return false;
  if (parsed.a == TensorType::kNone) parsed.a = DefaultInput(base);
  if (parsed.b == TensorType::kNone) parsed.b = parsed.a;
  *op = parsed;
  return true;
}

FragmentRegs FragmentsOf(const TensorOp& op, bool volta_step) {
  // sm_70 cuts one 8x8x4 of each quad pair into steps that name two registers of every fragment.
  if (volta_step) return {2, 2, 2};
  const uint32_t stored_k = op.sparse ? op.k / 2u : op.k;  // 2:4 sparsity stores half of A
  const uint32_t c_bits = AccumulatorBits(op);
  return {RegsFor(op.m * stored_k, ElementBits(op.a)), RegsFor(uint32_t{op.n} * op.k, ElementBits(op.b)),
          RegsFor(uint32_t{op.m} * op.n, c_bits)};
}

}  // namespace sm89
