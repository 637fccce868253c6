// cli/target/capabilities.h: what the kernel and the settings of this machine allow, asked by trying it.
//
// Guarantees
//  - Nothing on the machine is changed; what is made for a trial is gone afterwards.
#pragma once

#include "cli/model/capability.h"

#include <vector>

namespace heapprof::cli {

std::vector<Capability> try_kernel();  // system calls and their settings
std::vector<Capability> try_limits();  // of this process and its control group
std::vector<Capability> try_paths();   // files and sockets

}  // namespace heapprof::cli
