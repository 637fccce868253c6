// cli/target/machine.cc: see machine.h.
#include "cli/target/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace heapprof::cli {

namespace {

#ifdef __x86_64__
// The processor's brand string (CPUID 0x80000002 to 0x80000004), with single blanks between its words, as in the
// kernel. /proc/cpuinfo is not used, because some kernels then ask every processor for its frequency, which takes 20
// ms.
std::string cpu_model() {
  std::array<unsigned, 12> words{};
  if (static_cast<unsigned>(__get_cpuid_max(0x80000000, nullptr)) < 0x80000004) return {};
  for (unsigned part = 0; part < 3; ++part) {
    unsigned* const at = &words[size_t{4} * part];
    __get_cpuid(0x80000002 + part, at, at + 1, at + 2, at + 3);
  }
  std::array<char, sizeof(words) + 1> brand{};
  std::memcpy(brand.data(), words.data(), sizeof(words));
  std::istringstream text(brand.data());
  std::string model;
  for (std::string word; text >> word;) model += (model.empty() ? "" : " ") + word;
  return model;
}
#else
std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}
#endif

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
