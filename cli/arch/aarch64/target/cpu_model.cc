// cli/arch/aarch64/target/cpu_model.cc: the processor says numbers only: who made the core, and which part it is.
//
// The names are those of util-linux's lscpu-arm.c, for cores of servers and usual boards. If all cores are one part,
// the first one says all; else the machine is named for its first core.
#include "cli/target/machine.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace heapprof::cli {

namespace {

struct Core {
  uint32_t maker;
  uint32_t part;
  const char* name;
};
constexpr Core kCores[] = {
    {0x41, 0xd03, "Cortex-A53"},   {0x41, 0xd05, "Cortex-A55"},   {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},   {0x41, 0xd09, "Cortex-A73"},   {0x41, 0xd0a, "Cortex-A75"},
    {0x41, 0xd0b, "Cortex-A76"},   {0x41, 0xd0c, "Neoverse-N1"},  {0x41, 0xd40, "Neoverse-V1"},
    {0x41, 0xd42, "Cortex-A78AE"}, {0x41, 0xd49, "Neoverse-N2"},  {0x41, 0xd4f, "Neoverse-V2"},
    {0x46, 0x001, "A64FX"},        {0x48, 0xd01, "TaiShan-v110"}, {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1a"},
};

// The value of a line such as "CPU part\t: 0xd0c".
std::string_view value_of(std::string_view line) {
  const size_t colon = line.find(": ");
  return colon == std::string_view::npos ? std::string_view() : line.substr(colon + 2);
}

}  // namespace

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  std::string maker;
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return std::string(value_of(line));  // of a kernel for 32-bit programs
    if (line.starts_with("CPU implementer")) maker = value_of(line);
    if (!line.starts_with("CPU part")) continue;
    const std::string part(value_of(line));
    for (const Core& core : kCores) {
      if (core.maker == std::strtoul(maker.c_str(), nullptr, 16) &&
          core.part == std::strtoul(part.c_str(), nullptr, 16))
        return core.name;
    }
    return "aarch64, implementer " + maker + ", part " + part;
  }
  return {};
}

}  // namespace heapprof::cli
