#include "sim/tools/trace_text.h"

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"

namespace sm89 {

std::string_view Name(ControlOp op) {
  switch (op) {
    case ControlOp::kNone:
      return "none";
    case ControlOp::kExit:
      return "exit";
    case ControlOp::kBranch:
      return "branch";
    case ControlOp::kCall:
      return "call";
    case ControlOp::kReturn:
      return "return";
    case ControlOp::kBarrier:
      return "barrier";
    case ControlOp::kConvergence:
      return "convergence";
    case ControlOp::kMembar:
      return "membar";
    case ControlOp::kDepbar:
      return "depbar";
    case ControlOp::kLdgDepbar:
      return "ldgdepbar";
    case ControlOp::kNanosleep:
      return "nanosleep";
    case ControlOp::kYield:
      return "yield";
  }
  return "?";
}

std::string_view Name(Scope scope) {
  switch (scope) {
    case Scope::kNone:
      return "none";
    case Scope::kCta:
      return "cta";
    case Scope::kGpu:
      return "gpu";
    case Scope::kSys:
      return "sys";
  }
  return "?";
}

std::string_view Name(TensorType type) {
  switch (type) {
    case TensorType::kNone:
      return "none";
    case TensorType::kF16:
      return "f16";
    case TensorType::kBf16:
      return "bf16";
    case TensorType::kTf32:
      return "tf32";
    case TensorType::kE4m3:
      return "e4m3";
    case TensorType::kE5m2:
      return "e5m2";
    case TensorType::kS8:
      return "s8";
    case TensorType::kU8:
      return "u8";
    case TensorType::kS4:
      return "s4";
    case TensorType::kU4:
      return "u4";
    case TensorType::kB1:
      return "b1";
    case TensorType::kF64:
      return "f64";
  }
  return "?";
}

std::string TensorText(const TensorOp& op) {
  if (op.a == TensorType::kNone) return "";
  return absl::StrCat("m", op.m, "n", op.n, "k", op.k, " ", Av(Name(op.a)), " x ", Av(Name(op.b)),
                      op.fp32_accumulate ? " -> f32" : "", op.sparse ? " sparse 2:4" : "");
}

std::string HexText(uint64_t value) { return absl::StrCat("0x", absl::Hex(value)); }

std::string DimText(const Dim3& dim) { return absl::StrCat(dim.x, ",", dim.y, ",", dim.z); }

}  // namespace sm89
