// tests/unit/run/profile_path_test.cc: the names of profiles: pids, directives, names that are taken, and names that
// lead elsewhere.
#include "cli/run/profile_path.h"

#include <catch2/catch.hpp>
#include <stdlib.h>
#include <time.h>

using namespace heapprof::cli;

namespace {

const NameFacts kRoot{100, "make", "3", 1'795'285'859'000'000'000};

ImageName child(uint64_t pid, const std::string& program = "cc1") { return {false, true, 0, {pid, program, "4", 0}}; }

}  // namespace

TEST_CASE("without a directive the others' names have their pid before the extension") {
  ProfileNames names("out/p.json", kRoot);
  CHECK(names.root_path() == "out/p.json");
  CHECK(names.next(child(7)) == "out/p.7.json");
  CHECK(names.next({false, false, 0, {8, "sh", "", 0}}) == "out/p.8.exec1.json");
  CHECK(names.next({true, false, 1, kRoot}) == "out/p.exec2.json");
  CHECK(names.next({true, true, 2, kRoot}) == "out/p.json");
}

TEST_CASE("hidden names have a dot before them, and are shown without") {
  ProfileNames names("out/p.json", kRoot, true);
  CHECK(names.root_path() == "out/.p.json");
  CHECK(names.next(child(7)) == "out/.p.7.json");
  CHECK(shown_path(names.root_path()) == "out/p.json");
  CHECK(shown_path(".p.json") == "p.json");
  CHECK(shown_path("../.p.json") == "../p.json");
}

TEST_CASE("a pid that comes back does not cost the first process its profile") {
  ProfileNames names("p.json", kRoot);
  CHECK(names.next(child(7)) == "p.7.json");
  CHECK(names.next(child(7)) == "p.7.2.json");
  CHECK(names.next(child(7)) == "p.7.3.json");
}

TEST_CASE("directives name each process; a name that is taken gets the pid") {
  setenv("TZ", "UTC", 1);
  tzset();
  CHECK(expand_name("%n-%p-%r-%t-100%%.json", kRoot) == "make-100-3-20261121-183059-100%.json");
  ProfileNames names("%n.json", kRoot);
  CHECK(names.root_path() == "make.json");
  CHECK(names.next(child(7)) == "cc1.json");
  CHECK(names.next(child(8)) == "cc1.8.json");
  CHECK(names.next(child(9, "make")) == "make.9.json");
  CHECK(names.next({false, false, 0, {8, "cc1", "", 0}}) == "cc1.exec1.json");
}

TEST_CASE("a program's name leads nowhere else") {
  NameFacts facts = kRoot;
  facts.program = "../../etc/x\n";
  CHECK(expand_name("%n", facts) == ".._.._etc_x_");
}

TEST_CASE("a % that means nothing is said") {
  CHECK(check_name_pattern("a%p%n%r%t%%b"));
  CHECK(check_name_pattern("plain.json"));
  CHECK_FALSE(check_name_pattern("a%q.json"));
  CHECK_FALSE(check_name_pattern("a%"));
  CHECK_FALSE(check_name_pattern("a%%%"));
  CHECK(has_directive("%%%p"));
  CHECK_FALSE(has_directive("100%%"));
}
