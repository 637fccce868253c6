// cli/arch/aarch64/attach/attach.cc: refuses. (run.cc and detach.cc refuse before they ask for it.) cli/attach calls
// functions in a stopped thread of the process with registers, code sequences and a signal frame of x86-64.
#include "cli/attach/attach.h"

#include "cli/arch/arch.h"
#include "cli/base/problems.h"

namespace heapprof::cli {

Result<Done> attach_agent(const AttachRequest&, const std::atomic<bool>&) { return attach_unsupported(kProgramKind); }

Result<bool> detach_agent(pid_t, const std::string&, const std::atomic<bool>&) {
  return attach_unsupported(kProgramKind);
}

}  // namespace heapprof::cli
