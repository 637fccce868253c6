// cli/model/profile/assemble.h: a recording and the names of its locations become a profile.
//
// Guarantees
//  - Inlined frames are frames of their own, innermost first, all at the address of their call.
//  - A frame's svma lies inside the call instruction (return address − 1), as in Valgrind's files.
//  - The result is canonical (cli/model/profile/canonical.h).
// Trust:    indexes in the recording are checked; a node or location that cannot be is treated as no stack.
// Cost:     as canonicalize; the recording itself is only read.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

namespace heapprof::cli {

// Those that are not of sites.
void forget_other_stacks(Recording* recording);
// For want of memory: sums each device's sites in one without a stack, and says so in Run::incomplete_reason. Needs
// next to none.
void drop_stacks(Recording* recording);
void note_dropped_stacks(RunInfo* run);
// As if nothing had been judged (run --leak-check), for `reason`.
void drop_judgement(const std::string& reason, Recording* recording);
// The same, where the run's end says that nothing can be: what was found before a signal came is not true of the end
// any more, and who did not end leaks nothing.
void settle_judgement(Recording* recording);

Profile assemble(const Recording& recording, const SymbolTable& symbols);

}  // namespace heapprof::cli
