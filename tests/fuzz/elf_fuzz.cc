// tests/fuzz/elf_fuzz.cc: any bytes as a program to be inspected: a Problem, or facts of bounded size.
#include "cli/base/fd.h"
#include "cli/target/elf_check.h"
#include "cli/target/elf_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace heapprof::cli;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const UniqueFd file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (!file.is_open() || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  const Result<ElfFacts> elf = read_elf(file.get(), {"malloc", "free", "calloc"}, "program");
  if (elf && (elf->defined.size() > 3 || elf->needed.size() > 4096 || elf->loader.size() > 4096)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  const Result<ProgramFacts> facts = inspect_program(path);
  if (!facts && (facts.problem().what.empty() || facts.problem().exit_code == 0)) std::abort();
  return 0;
}
