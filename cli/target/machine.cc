// cli/target/machine.cc: see machine.h.
#include "cli/target/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace heapprof::cli {

namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

}  // namespace

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
