// cli/run/recording_switch.h: when the processes of a run are recorded, and how: what `run --start` says of the
// beginning, and what `heapprof pause`, `resume` and `mark` say later.
//
// Guarantees
//  - Only processes of our own user, and root, are obeyed.
//  - What is said to the whole run is true of processes that come later, too.
// Context:  the collector's thread, between two rounds.
#pragma once

#include "cli/run/processes.h"
#include "cli/run/run.h"
#include "cli/target/server.h"

#include <cstdint>

namespace heapprof::cli {

class RecordingSwitch {
 public:
  // The run begins now.
  explicit RecordingSwitch(const StartRule& start);

  // pre: caller.order
  void obey(const Caller& caller, Processes* processes);
  // Resumes what was to wait for a time or a mark.
  void tick(Processes* processes);

 private:
  bool awaits_mark_;
  uint64_t resume_at_ns_;  // UINT64_MAX: no time is awaited
};

}  // namespace heapprof::cli
