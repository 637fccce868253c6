// cli/model/profile/assemble.h: turns a recording and the names of its locations into a profile.
//
// Guarantees
//  - Inlined frames are separate frames, innermost first, all at the address of their call.
//  - A frame's svma lies inside the call instruction (return address − 1), as in Valgrind's files.
//  - The result is canonical (cli/model/profile/canonical.h).
// Trust:    indexes in the recording are checked; an impossible node or location is treated as no stack.
// Cost:     as canonicalize; the recording itself is only read.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

namespace heapprof::cli {

// Drops all references to stacks except those of the sites.
void forget_other_stacks(Recording* recording);
// To be called when memory runs out: sums each device's sites into one site without a stack, and says so in
// RunInfo::incomplete_reason. It needs almost no memory itself.
void drop_stacks(Recording* recording);
void note_dropped_stacks(RunInfo* run);
// Drops the result of run --leak-check, as if leaks had not been classified. `reason` says why.
void drop_judgement(const std::string& reason, Recording* recording);
// Drops it if the run's end makes it invalid: a program that a signal killed might have freed more, and a process that
// did not end leaked nothing.
void settle_judgement(Recording* recording);

Profile assemble(const Recording& recording, const SymbolTable& symbols);

}  // namespace heapprof::cli
