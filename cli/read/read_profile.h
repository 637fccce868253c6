// cli/read/read_profile.h: a profile from a file: heapprof's own, Valgrind's (--tool=dhat) or dhat-rs', gzip'd or not.
//
// Guarantees
//  - What it returns is canonical, and of ours every invariant of model/invariants.h holds; else it is a Problem with exit
//    code 3 that names the file and what is wrong with it.
//  - write(read(write(profile))) gives the same bytes.
// Not provided: Valgrind's counts of reads and writes, and its profiles of other things (--mode=copy, ad-hoc).
// Trust:    the file is hostile: it never crashes the reader, and memory stays within a small multiple of its size.
// Cost:     see tests/bench; about 150 MB/s and 3 bytes of memory a byte.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile.h"
#include "cli/read/byte_source.h"

#include <string>

namespace heapprof::cli {

Result<Profile> read_profile(const std::string& path);

// From any source; `name` is what problems call it.
Result<Profile> read_profile(ByteSource* source, const std::string& name);

}  // namespace heapprof::cli
