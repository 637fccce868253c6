// cli/run/recording_switch.h: when the processes of a run are recorded, and how: `run --start` says it for the
// beginning, `heapprof pause`, `resume` and `mark` later.
//
// Guarantees
//  - Only processes of our own user and of root are obeyed.
//  - An order to the whole run applies to later processes, too.
// Context:  the collector's thread, between two drain passes.
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
  // Resumes recording when the awaited time or mark has come.
  void tick(Processes* processes);

 private:
  bool awaits_mark_;
  uint64_t resume_at_ns_;  // UINT64_MAX: not waiting for a time
};

}  // namespace heapprof::cli
