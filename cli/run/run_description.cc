// cli/run/run_description.cc: see run_description.h.
#include "cli/run/run_description.h"

#include <utility>

namespace heapprof::cli {

void describe_run(RunInfo* known, RunInfo* run) {
  run->command = std::move(known->command);
  run->title = std::move(known->title);
  run->executable = std::move(known->executable);
  run->pid = known->pid;
  run->parent_pid = known->parent_pid;
  run->image = known->image;
  run->is_fork = known->is_fork;
  run->is_attached = known->is_attached;
  run->start_unix_ns = known->start_unix_ns;
  run->job = known->job;
  run->machine = std::move(known->machine);
  known->coverage.unprofiled_programs = std::move(run->coverage.unprofiled_programs);
  for (auto list : {&Coverage::bypassing_modules, &Coverage::unknown_functions, &Coverage::unread_interpreters,
                    &Coverage::unrecorded_objects, &Coverage::unrecorded_operators, &Coverage::inner_allocators,
                    &Coverage::unhooked_allocators})
    known->coverage.*list = std::move(run->coverage.*list);
  // The self-test tries only functions with malloc's names. The allocators that it missed were hooked in place later,
  // or the reason why not is recorded. So its failures say nothing more.
  if (!known->coverage.inner_allocators.empty() || !known->coverage.unhooked_allocators.empty())
    known->coverage.self_test_failures.clear();
  run->coverage = std::move(known->coverage);
}

}  // namespace heapprof::cli
