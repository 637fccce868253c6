// cli/write/profile/dhat.h: the profile file: DHAT JSON version 2; its key "heapprof" has everything of a Profile that
// DHAT cannot hold.
//
// man/heapprof-format.5 is normative; the names that writer and reader (cli/read) share are in
// cli/model/profile/fields.h and cli/model/profile/frame_text.h.
//
// Guarantees
//  - Valgrind's dh_view.html opens it: no location is repeated, no number is beyond 2^53, no string contains control
//    characters.
//  - cli/read gives back the same Profile; equal profiles give equal bytes.
//  - The file contains no environment variables.
// Cost:     1.7 s and negligible memory for 155 MB, 800,000 sites of depth 25: about 200 bytes a site.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/model/profile/profile.h"

namespace heapprof::cli {

// pre: the profile is canonical (cli/model/profile/canonical.h)
void write_dhat(const Profile& profile, ByteSink* sink);

}  // namespace heapprof::cli
