// cli/target/process_births.h: finds the pids that processes may have which started after a given one.
//
// Guarantees
//  - The result includes every process whose pid the kernel chose. If the pids may have wrapped around since, the
//    result is nullopt.
// Not provided: processes whose pid a program chose (clone3 with set_tid, ns_last_pid).
// Trust:    /proc/loadavg and /proc/sys/kernel, the kernel's own.
// Cost:     it reads two small files, which takes about 10 µs. A search in all of /proc would take at least 3 µs for
//           each process of the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace heapprof::cli {

// The pids of processes and threads after `first`, up to and including `last`. If both are equal, there are none.
struct PidSpan {
  pid_t first = 0;
  pid_t last = 0;
};

// The pids that the kernel has assigned after `first`, which it assigned passed_ns ago. nullopt: any pid is possible,
// or there are too many.
std::optional<PidSpan> pids_since(pid_t first, uint64_t passed_ns);
// The same from the texts of /proc/loadavg and /proc/sys/kernel/pid_max.
std::optional<PidSpan> pids_since(pid_t first, uint64_t passed_ns, const std::string& loadavg,
                                  const std::string& pid_max);

}  // namespace heapprof::cli
