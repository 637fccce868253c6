// cli/arch/aarch64/inner/prologue.cc: refuses. Allocators inside programs are found by their names, but cli/inner
// decodes and relocates instructions of x86-64 alone. (inner_plan.cc refuses before it asks for any of this.)
#include "cli/inner/prologue.h"

#include "cli/inner/branches.h"

namespace heapprof::cli {

Prologue move_prologue(const CodeFile&, uint64_t, uint64_t) {
  Prologue prologue;
  prologue.refusal = "cannot be hooked in place on this processor";
  return prologue;
}

FoundBranches find_branches(const CodeFile&, const std::vector<HookedFunction>&, const std::vector<FunctionClone>&,
                            const std::vector<CodeRange>&, const PlanningTime&) {
  return {};
}

}  // namespace heapprof::cli
