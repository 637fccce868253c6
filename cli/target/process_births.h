// cli/target/process_births.h: which processes may have begun since another one did.
//
// Guarantees
//  - None is left out whose number the kernel chose: where the numbers may have gone round since, nothing is said.
// Not provided: processes whose number somebody else chose (clone3 with set_tid, ns_last_pid).
// Trust:    /proc/loadavg and /proc/sys/kernel, the kernel's own.
// Cost:     two small files, about 10 µs; a search in all of /proc takes 3 µs and more for each process of the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

// Numbers of processes and threads: (first, last]. Equal: there are none.
struct PidSpan {
  pid_t first = 0;
  pid_t last = 0;
};

// The numbers that were given out after `first` was, passed_ns ago. nullopt: they may be any.
std::optional<PidSpan> pids_since(pid_t first, uint64_t passed_ns);
// The same of what the files /proc/loadavg and /proc/sys/kernel/pid_max say.
std::optional<PidSpan> pids_since(pid_t first, uint64_t passed_ns, const std::string& loadavg,
                                  const std::string& pid_max);

}  // namespace heapprof::cli
