// cli/target/machine.cc: see machine.h.
#include "cli/target/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <string>

namespace heapprof::cli {

Machine describe_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  machine.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.memory_bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  utsname names{};
  if (uname(&names) == 0) {
    machine.kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
  }
  return machine;
}

}  // namespace heapprof::cli
