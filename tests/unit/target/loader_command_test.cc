// tests/unit/target/loader_command_test.cc: which word of a loader's command line is the program.
#include "cli/target/loader_command.h"

#include <catch2/catch.hpp>
#include <unistd.h>

using namespace heapprof::cli;

namespace {

size_t program_in(std::vector<std::string> words) {
  words.insert(words.begin(), "/lib64/ld-linux-x86-64.so.2");
  return read_loader_command(words).program;
}

}  // namespace

TEST_CASE("the program is the loader's first word that is no option and no option's value") {
  CHECK(program_in({"./prog", "--list"}) == 1);
  CHECK(program_in({"--library-path", "/lib:--list", "./prog", "x"}) == 3);
  CHECK(program_in({"--argv0", "hello", "--inhibit-cache", "./prog"}) == 4);
  CHECK(program_in({"--preload", "a.so", "--audit", "b.so", "--inhibit-rpath", "", "./prog"}) == 7);
  CHECK(program_in({"--glibc-hwcaps-prepend", "x", "--glibc-hwcaps-mask", "y", "-x"}) == 5);  // one dash is no option
}

TEST_CASE("a loader that lists, verifies or misses its program starts none") {
  CHECK(program_in({}) == 0);
  CHECK(program_in({"--library-path"}) == 0);
  CHECK(program_in({"--", "./prog"}) == 0);
  CHECK(program_in({"--argv0=x", "./prog"}) == 0);
  CHECK(read_loader_command({"ld.so", "--inhibit-cache", "--list", "./prog"}).option == "--list");
  CHECK(read_loader_command({"ld.so", "--bogus"}).option.empty());
}

TEST_CASE("a process that the kernel gave an interpreter was not started by a loader") {
  CHECK(!find_loaded_program(getpid(), {"/lib64/ld-linux-x86-64.so.2", "/proc/self/exe"}));
}
