// cli/collect/recorded_scopes.h: the books of scopes with names and times, for the recording.
//
// Trust:  the names are the target's, which may change at any moment: each is copied, then checked.
#pragma once

#include "cli/collect/books/gpu_time_book.h"
#include "cli/collect/books/launch_book.h"
#include "cli/collect/books/scope_book.h"
#include "cli/collect/clock.h"
#include "cli/model/profile/scopes.h"
#include "shared/kernels.h"
#include "shared/scopes.h"

#include <string>

namespace heapprof::cli {

struct NameText {
  std::string category;
  std::string text;
};
// The text of the name that has this number in a record; `names` as in RecordedNames.
NameText name_of(uint32_t number, const wire::Name* names);

// The names in the arena, and how many had no room.
struct RecordedNames {
  const wire::Name* names;          // wire::kMaxNames of them
  const wire::KernelName* kernels;  // wire::kMaxKernels of them
  uint64_t lost_names;
  uint64_t lost_kernel_names;
};
struct RecordedBooks {
  const ScopeBook* scopes;
  const LaunchBook* launches;
  const GpuTimeBook* gpu_times;
};
Scopes recorded_scopes(const RecordedBooks& books, const RecordedNames& names, const TickScale& scale);

// Adds the agent's counters of how it took GPU times. If it took none, adds nothing.
void add_gpu_counters(wire::GpuTimeMode mode, const wire::Control& control, const TickScale& scale, GpuTimes* times);

}  // namespace heapprof::cli
