// agent/unwind/cfi_interpreter.cc: computes the CFA from a row of call frame information, then each register of the
// caller.
//
// Registers are restored one by one. If one cannot be restored, it is only marked as unknown, because most rows name
// registers that no outer frame needs. The walk needs only the return address, sp and bp to go on.
#include "agent/unwind/cfi_interpreter.h"

#include "agent/unwind/dwarf_expression.h"
#include "agent/unwind/unwind_rule.h"

namespace heapprof::agent {

namespace {

class FrameState {
 public:
  FrameState(const FrameDescription& description, CfiWorkspace* workspace, const Registers& callee)
      : description_(description), row_(workspace->row), workspace_(workspace), callee_(callee) {}

  Step find_cfa() {
    if (row_.cfa_expression != nullptr) return as_step(evaluate(row_.cfa_expression, nullptr, &cfa_avma_));
    if (!callee_.is_known(static_cast<uint32_t>(row_.cfa_register))) return Step::kUnknownRegister;
    cfa_avma_ = callee_.value[row_.cfa_register] + static_cast<uint64_t>(row_.cfa_offset);
    return Step::kDone;
  }

  uint64_t cfa_avma() const { return cfa_avma_; }

  // Restores one register into *caller. If it cannot be restored, leaves it unknown there.
  Step restore(uint32_t number, Registers* caller) const {
    const int64_t value = row_.values[number];
    const uint64_t from_cfa = cfa_avma_ + static_cast<uint64_t>(value);
    uint64_t content = 0;
    switch (row_.rules[number]) {
      case RegisterRule::kUndefined: return Step::kDone;
      case RegisterRule::kUnspecified:
        if (number == kRegisterSp) {
          caller->set(number, cfa_avma_);
          return Step::kDone;
        }
        return copy(number, number, caller);
      case RegisterRule::kSame: return copy(number, number, caller);
      case RegisterRule::kRegister: return copy(static_cast<uint64_t>(value), number, caller);
      case RegisterRule::kValueOffset: caller->set(number, from_cfa); return Step::kDone;
      case RegisterRule::kOffset: return load(from_cfa, number, caller);
      case RegisterRule::kExpression: {
        const Step step = as_step(evaluate(reinterpret_cast<const uint8_t*>(value), &cfa_avma_, &content));
        return step == Step::kDone ? load(content, number, caller) : step;
      }
      case RegisterRule::kValueExpression: {
        const Step step = as_step(evaluate(reinterpret_cast<const uint8_t*>(value), &cfa_avma_, &content));
        if (step == Step::kDone) caller->set(number, content);
        return step;
      }
    }
    return Step::kBadFrame;
  }

 private:
  static Step as_step(Evaluation evaluation) {
    if (evaluation == Evaluation::kDone) return Step::kDone;
    return evaluation == Evaluation::kUnknownRegister ? Step::kUnknownRegister : Step::kBadFrame;
  }

  Evaluation evaluate(const uint8_t* block, const uint64_t* initial, uint64_t* result) const {
    return evaluate_expression(block, description_.readable_end, callee_, initial, workspace_, result);
  }

  Step copy(uint64_t from, uint32_t to, Registers* caller) const {
    if (from >= kRegisterCount || !callee_.is_known(static_cast<uint32_t>(from))) return Step::kUnknownRegister;
    caller->set(to, callee_.value[from]);
    return Step::kDone;
  }

  Step load(uint64_t slot_avma, uint32_t number, Registers* caller) const {
    uint64_t content = 0;
    if (!read_target_memory(workspace_->stacks, slot_avma, sizeof content, &content)) return Step::kBadFrame;
    caller->set(number, content);
    return Step::kDone;
  }

  const FrameDescription& description_;
  const CfiRow& row_;
  CfiWorkspace* workspace_;
  const Registers& callee_;
  uint64_t cfa_avma_ = 0;
};

Step as_step(FrameSearch search) {
  switch (search) {
    case FrameSearch::kFound: return Step::kDone;
    case FrameSearch::kEndOfStack: return Step::kEndOfStack;
    default: return Step::kNoUnwindInfo;
  }
}

// Accepts the caller's registers if its stack pointer is plausible.
Step enter(const Registers& caller, Registers* registers, bool* has_jumped) {
  const uint64_t sp = caller.value[kRegisterSp];
  if ((sp & 7) != 0 || !is_plausible_address(sp)) return Step::kBadFrame;
  *has_jumped = sp <= registers->value[kRegisterSp];
  *registers = caller;
  return Step::kDone;
}

// From code that a signal handler returns to, and that has no call frame information, to the interrupted frame.
Step leave_handler(CfiWorkspace* workspace, Registers* registers, bool* has_jumped) {
  Registers interrupted{};
  const uint64_t sp = registers->value[kRegisterSp];
  const auto load = [&](uint64_t off, uint64_t* word) {
    return read_target_memory(workspace->stacks, sp + off, sizeof *word, word);
  };
  if (!read_interrupted(load, &interrupted)) return Step::kBadFrame;
  return enter(interrupted, registers, has_jumped);
}

// From a stub, which has changed neither the stack nor the return address, to its caller.
Step leave_stub(Registers* registers, bool* has_jumped) {
  if (!registers->is_known(kRegisterReturn)) return Step::kUnknownRegister;
  Registers caller = *registers;
  caller.set(kRegisterPc, without_signature(registers->value[kRegisterReturn]));
  return enter(caller, registers, has_jumped);
}

}  // namespace

Step step_frame(uint32_t generation, CfiWorkspace* workspace, Registers* registers, bool* has_jumped) {
  FrameDescription description;
  uint64_t row_avma = 0;
  const uint64_t pc_avma = registers->value[kRegisterPc];
  const Step search = as_step(find_frame(pc_avma, generation, &description, &row_avma));
  if (search != Step::kDone) {
    if (returns_from_handler(pc_avma)) return leave_handler(workspace, registers, has_jumped);
    return is_interrupted_stub(pc_avma) ? leave_stub(registers, has_jumped) : search;
  }
  if (row_avma == pc_avma && leaves_stack(pc_avma)) return Step::kEndOfStack;
  if (!run_cfi_program(description, row_avma, workspace)) return Step::kNoUnwindInfo;
  const uint32_t return_register = description.return_register;
  if (return_register >= kRegisterCount) return Step::kNoUnwindInfo;
  if (workspace->row.rules[return_register] == RegisterRule::kUndefined) return Step::kEndOfStack;
  if (has_lost_return(pc_avma, description, workspace->row)) return Step::kBadFrame;

  FrameState frame(description, workspace, *registers);
  const Step cfa = frame.find_cfa();
  if (cfa != Step::kDone) return cfa;
  Registers caller{};
  for (uint32_t number = 0; number < kRegisterCount; ++number) {
    const Step step = frame.restore(number, &caller);
    const bool is_needed = number == return_register || number == kRegisterSp || number == kRegisterBp;
    if (step != Step::kDone && is_needed) return step;
  }
  const uint64_t return_avma = without_signature(caller.value[return_register]);
  caller.set(kRegisterPc, return_avma != 0 && description.is_signal_frame ? return_avma + 1 : return_avma);
  return enter(caller, registers, has_jumped);
}

}  // namespace heapprof::agent
