// cli/arch/x86_64/target/cpu_model.cc: asks the processor. /proc/cpuinfo is not used, because some kernels then ask
// every processor for its frequency, which takes 20 ms.
#include "cli/target/machine.h"

#include <cpuid.h>

#include <array>
#include <cstring>
#include <sstream>
#include <string>

namespace heapprof::cli {

// The processor's brand string (CPUID 0x80000002 to 0x80000004), with single blanks between its words, as in the
// kernel.
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

}  // namespace heapprof::cli
