// agent/unwind/unwind_rule.cc: finds the description of a frame, and makes a rule of the row that applies.
//
// A return address follows its call, and a call may be the last instruction of a function. So the look-up uses pc − 1.
#include "agent/unwind/unwind_rule.h"

#include "agent/process/modules.h"
#include "agent/process/own_memory.h"
#include "agent/unwind/registered_frames.h"

namespace heapprof::agent {

namespace {

// An object's outermost frame runs code within this distance of the entry point. The loader and old start files have no
// call frame information there. The loader calls all constructors from 50 bytes after its entry point.
constexpr uint64_t kEntryCodeBytes = 128;

// True if the function at the address begins by switching to another stack (code.h). If the address was pushed as a
// return address, no call returns to it, and the stack ends there.
bool leaves_stack(uint64_t pc_avma) {
  unsigned char code[kSwitchBytes];
  return read_own_memory(code, reinterpret_cast<const void*>(pc_avma), sizeof code) && switches_stack(code);
}

}  // namespace

FrameSearch find_frame(uint64_t pc_avma, uint32_t generation, FrameDescription* description, uint64_t* row_avma) {
  ModuleInfo module;
  *row_avma = pc_avma - 1;  // inside the call instruction: the next one may belong to another function or row
  if (!find_module(*row_avma, generation, &module)) return FrameSearch::kNoModule;
  if (find_description(module, *row_avma, description)) return FrameSearch::kFound;
  // Code that creates a stack pushes the address of a function as the first return address (makecontext, coroutines).
  // Then *row_avma is pc_avma itself, as no call precedes it.
  if (find_description(module, pc_avma, description) && description->start_avma == pc_avma) {
    *row_avma = pc_avma;
    return FrameSearch::kFound;
  }
  if (module.entry_avma != 0 && pc_avma - module.entry_avma < kEntryCodeBytes) return FrameSearch::kEndOfStack;
  return FrameSearch::kNotDescribed;
}

bool returns_from_handler(uint64_t pc_avma) {
  if constexpr (!kHasBareSignalReturn) return false;
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
