// cli/run/recording_switch.h: decides when and how the processes of a run are recorded. `run --start` says it for the
// start of the run, and `heapprof pause`, `resume` and `mark` change it later.
//
// Guarantees
//  - Only orders from processes of our own user or of root are followed.
//  - An order to the whole run also applies to processes that start later.
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
