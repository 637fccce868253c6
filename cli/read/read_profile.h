// cli/read/read_profile.h: reads a profile from a file: heapprof's own, Valgrind's (--tool=dhat) or dhat-rs', gzip'd or
// not.
//
// Guarantees
//  - The result is canonical (cli/model/profile/canonical.h). In heapprof's own profiles, every invariant of
//    cli/model/profile/invariants.h holds too. If the file cannot give such a result, a Problem with exit code 3 names
//    the file and what is wrong with it.
//  - write(read(write(profile))) gives the same bytes.
// Not provided: Valgrind's counts of reads and writes, and its profiles of other things (--mode=copy, ad-hoc).
// Trust:    the file is hostile: it never crashes the reader, and memory stays within a small multiple of its size.
// Cost:     3.4 s and 315 MB for a file of 163 MB, 800,000 sites of depth 25, measured with the other SMT sibling busy.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"
#include "cli/read/byte_source.h"

#include <string>

namespace heapprof::cli {

Result<Profile> read_profile(const std::string& path);

// From any source; `name` is its name in problems.
Result<Profile> read_profile(ByteSource* source, const std::string& name);

}  // namespace heapprof::cli
