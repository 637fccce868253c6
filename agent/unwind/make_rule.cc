// agent/unwind/make_rule.cc: makes a rule of the row that applies at an address.
#include "agent/process/link_map.h"
#include "agent/process/own_memory.h"
#include "agent/unwind/registered_frames.h"
#include "agent/unwind/unwind_rule.h"

namespace heapprof::agent {

bool has_lost_return(uint64_t pc_avma, const FrameDescription& description, const CfiRow& row) {
  if constexpr (kRegisterReturn == kRegisterPc) return false;
  const bool has_called = pc_avma % 4 == 0;  // else it was interrupted
  const RegisterRule returns = row.rules[kRegisterReturn];
  return has_called && description.return_register == kRegisterReturn &&
         (returns == RegisterRule::kUnspecified || returns == RegisterRule::kSame);
}

bool leaves_stack(uint64_t pc_avma) {
  unsigned char code[kSwitchBytes];
  return read_own_memory(code, reinterpret_cast<const void*>(pc_avma), sizeof code) && switches_stack(code);
}

namespace {

uint64_t g_handler_return_avma = 0;  // the kernel's; 0: not found

}  // namespace

void find_handler_return() {
  if constexpr (kHasBareSignalReturn) g_handler_return_avma = reinterpret_cast<uint64_t>(find_in_vdso(kSignalReturn));
}

bool returns_from_handler(uint64_t pc_avma) {
  if constexpr (!kHasBareSignalReturn) return false;
  if (pc_avma == g_handler_return_avma && pc_avma != 0) return true;
  unsigned char code[kSignalReturnBytes];
  return read_own_memory(code, reinterpret_cast<const void*>(pc_avma), sizeof code) && is_signal_return(code);
}

bool is_interrupted_stub(uint64_t pc_avma) {
  if constexpr (!kHasBareStubs) return false;
  unsigned char code[kStubCodeBytes];
  const uint64_t interrupted_avma = pc_avma - 1;
  return interrupted_avma % 4 == 0 &&
         read_own_memory(code, reinterpret_cast<const void*>(interrupted_avma - kStubCodeBefore), sizeof code) &&
         is_in_stub(code);
}

StepRule reduce_row(const FrameDescription& description, const CfiRow& row) {
  StepRule rule{};
  if (description.return_register < kRegisterCount &&
      row.rules[description.return_register] == RegisterRule::kUndefined)
    return {0, 0, RuleKind::kEndOfStack, false};
  return reduce_ordinary(description, row, &rule) ? rule : StepRule{0, 0, RuleKind::kSpecial, false};
}

UnwindRule make_rule(uint64_t pc_avma, uint32_t generation, CfiWorkspace* workspace, bool* is_cacheable) {
  UnwindRule rule{};
  rule.pc_avma = pc_avma;
  *is_cacheable = true;
  if (pc_avma == 0) return rule;
  FrameDescription description;
  uint64_t row_avma = 0;
  const FrameSearch search = find_frame(pc_avma, generation, &description, &row_avma);
  if (search == FrameSearch::kEndOfStack) return rule;
  if (search == FrameSearch::kNoModule && find_registered_rule(row_avma, &rule)) return rule;
  rule.kind = RuleKind::kNoUnwindInfo;
  *is_cacheable = search != FrameSearch::kNoModule;
  if (search != FrameSearch::kFound) {
    if (returns_from_handler(pc_avma) || is_interrupted_stub(pc_avma)) rule.kind = RuleKind::kSpecial;
    return rule;
  }
  if (row_avma == pc_avma && leaves_stack(pc_avma)) return {{0, 0, RuleKind::kEndOfStack, false}, pc_avma};
  rule.kind = RuleKind::kSpecial;
  if (!run_cfi_program(description, row_avma, workspace)) return rule;
  return {reduce_row(description, workspace->row), pc_avma};
}

}  // namespace heapprof::agent
