// cli/target/process_births.h: which processes may have started since another one did.
//
// Guarantees
//  - Every process whose number the kernel chose is included: if the numbers may have wrapped around since, the answer
//    is nullopt.
// Not provided: processes whose number a program chose (clone3 with set_tid, ns_last_pid).
// Trust:    /proc/loadavg and /proc/sys/kernel, the kernel's own.
// Cost:     two small files, about 10 µs; a search in all of /proc takes 3 µs and more for each process of the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

// Numbers of processes and threads: (first, last]. Equal: no numbers.
struct PidSpan {
  pid_t first = 0;
  pid_t last = 0;
};

// The numbers that were given out after `first` was, passed_ns ago. nullopt: they may be any.
std::optional<PidSpan> pids_since(pid_t first, uint64_t passed_ns);
// The same from the texts of /proc/loadavg and /proc/sys/kernel/pid_max.
std::optional<PidSpan> pids_since(pid_t first, uint64_t passed_ns, const std::string& loadavg,
                                  const std::string& pid_max);

}  // namespace heapprof::cli
