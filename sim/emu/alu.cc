#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/emu/alu_families.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

using sass::Instruction;
using sass::Op;

void DoNothing(Exec&, const Compiled&) {}

// False: not a register-only instruction. *handler stays null where its variant has none.
bool ChooseInteger(const Instruction& inst, Compiled* c, Handler* handler) {
  switch (inst.op) {
    case Op::kNop:
      *handler = DoNothing;
      return true;
    case Op::kIadd3:
    case Op::kViadd:
    case Op::kLea:
    case Op::kIabs:
      *handler = ChooseAdd(inst, c);
      return true;
    case Op::kMov:
    case Op::kSel:
    case Op::kFsel:
    case Op::kImnmx:
    case Op::kVimnmx:
    case Op::kViaddmnmx:
    case Op::kVimnmx3:
      *handler = ChooseSelect(inst);
      return true;
    case Op::kImad:
    case Op::kIdp:
    case Op::kVabsdiff:
    case Op::kVabsdiff4:
      *handler = ChooseMultiply(inst, c);
      return true;
    case Op::kIsetp:
      *handler = ChooseCompare(inst, c);
      return true;
    case Op::kLop3:
    case Op::kPrmt:
      *handler = ChooseLogic(inst, c);
      return true;
    case Op::kBrev:
    case Op::kPopc:
    case Op::kFlo:
    case Op::kBmsk:
    case Op::kSgxt:
      *handler = ChooseBits(inst, c);
      return true;
    case Op::kShf:
      *handler = ChooseShift(inst, c);
      return true;
    default:
      return false;
  }
}

bool ChoosePredicateOrWarp(const Instruction& inst, Compiled* c, Handler* handler) {
  switch (inst.op) {
    case Op::kPlop3:
    case Op::kP2r:
    case Op::kR2p:
      *handler = ChoosePredicate(inst, c);
      return true;
    case Op::kShfl:
    case Op::kVote:
    case Op::kVoteu:
    case Op::kMatch:
    case Op::kRedux:
    case Op::kR2ur:
      *handler = ChooseWarp(inst, c);
      return true;
    case Op::kUbmsk:
    case Op::kUbrev:
    case Op::kUflo:
    case Op::kUiadd3:
    case Op::kUimad:
    case Op::kUisetp:
    case Op::kUlea:
    case Op::kUlop3:
    case Op::kUmov:
    case Op::kUplop3:
    case Op::kUpopc:
    case Op::kUprmt:
    case Op::kUsel:
    case Op::kUsgxt:
    case Op::kUshf:
      *handler = ChooseUniform(inst, c);
      return true;
    default:
      return false;
  }
}

bool ChooseFloatOrTensor(const Instruction& inst, Compiled* c, Handler* handler) {
  switch (inst.op) {
    case Op::kFadd:
    case Op::kFmul:
    case Op::kFfma:
    case Op::kFmnmx:
    case Op::kFset:
    case Op::kFsetp:
    case Op::kFchk:
    case Op::kFswzadd:
    case Op::kMufu:
      *handler = ChooseFloat(inst, c);
      return true;
    case Op::kDadd:
    case Op::kDmul:
    case Op::kDfma:
    case Op::kDsetp:
      *handler = ChooseDouble(inst, c);
      return true;
    case Op::kHadd2:
    case Op::kHmul2:
    case Op::kHfma2:
    case Op::kHmnmx2:
    case Op::kHset2:
    case Op::kHsetp2:
      *handler = ChooseHalf(inst, c);
      return true;
    case Op::kF2f:
    case Op::kF2fp:
    case Op::kF2i:
    case Op::kF2ip:
    case Op::kFrnd:
    case Op::kI2f:
    case Op::kI2fp:
    case Op::kI2i:
    case Op::kI2ip:
      *handler = ChooseConvert(inst, c);
      return true;
    case Op::kBmma:
    case Op::kDmma:
    case Op::kHmma:
    case Op::kImma:
    case Op::kQmma:
    case Op::kMovm:
      *handler = ChooseTensor(inst, c);
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::Status CompileAlu(const Instruction& inst, Compiled* c) {
  Handler handler = nullptr;
  if (!ChooseInteger(inst, c, &handler) && !ChoosePredicateOrWarp(inst, c, &handler) &&
      !ChooseFloatOrTensor(inst, c, &handler)) {
    return absl::NotFoundError("");
  }
  if (handler == nullptr) {
    return absl::UnimplementedError(absl::StrCat("no semantics for ", sass::PrintOpcode(inst)));
  }
  c->run = handler;
  return absl::OkStatus();
}

}  // namespace sm89::emu
