// agent/unwind/unwind_rule.cc: finds the description of a frame; this file is the same for every architecture.
//
// A return address follows its call, and a call may be the last instruction of a function. So the look-up uses pc − 1.
#include "agent/unwind/unwind_rule.h"

#include "agent/process/modules.h"

namespace heapprof::agent {

namespace {

// An object's outermost frame runs code within this distance of the entry point. The loader and old start files have no
// call frame information there. The loader calls all constructors from 50 bytes after its entry point.
constexpr uint64_t kEntryCodeBytes = 128;

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

}  // namespace heapprof::agent
