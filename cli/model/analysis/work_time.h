// cli/model/analysis/work_time.h: the part of a run in which the program does its work: behind what Python imports as
// it starts, and before the program frees what it has, in order to exit.
//
// How much of the run the imports take goes by the machine: torch takes 1.3 s of a script's 4 s, and 10 s of 14 where
// others use the processors, too. What is asked of the work's time gives the same answer there.
#pragma once

#include "cli/model/analysis/finding_rules.h"

#include <cstdint>

namespace heapprof::cli {

// Of the first device: when Python had imported what the program begins with; 0: there is no such start. Modules that
// are imported after a pause, or once the program holds a twentieth of the peak beside them, are part of the work.
uint64_t imports_end_ns(const FindingScene& scene);
// When the device began its fall before an exit that frees half of it or more, within the last tenth of the run; else
// the end of the run.
uint64_t drain_start_ns(const Profile& profile, const Device& device);

}  // namespace heapprof::cli
