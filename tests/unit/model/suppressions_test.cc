// tests/unit/model/suppressions_test.cc: what a line may say, which sites a rule takes, and that the sums agree.
#include "cli/model/analysis/suppressions.h"

#include "cli/model/analysis/places.h"
#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

Suppressions rules_of(std::string_view text) {
  Suppressions rules;
  std::vector<FramePattern> folds;
  const Result<Done> parsed = parse_suppressions(text, "my.supp", &rules, &folds);
  if (!parsed) FAIL(parsed.problem().what);
  return rules;
}

std::string mistake_in(std::string_view text) {
  Suppressions rules;
  std::vector<FramePattern> folds;
  const Result<Done> parsed = parse_suppressions(text, "my.supp", &rules, &folds);
  return parsed ? "" : parsed.problem().what;
}

// A leak of 100 bytes below: libstdc++.so ← app::load (src/app.cc) ← main, and one of 7 below main alone.
Profile two_leaks() {
  ScenePlan plan;
  plan.add_device("host");
  SizedNumbers numbers;
  numbers.total_bytes = numbers.leaked_bytes = 100;
  numbers.total_blocks = numbers.leaked_blocks = 2;
  plan.add_site({{"operator new(unsigned long)", "", 0},
                 {"qsort_r", "", 0},
                 {"int app::load<int>(char const*)", "/home/me/src/app.cc", 12},
                 {"main", "/home/me/src/main.cc", 3}},
                numbers);
  numbers.total_bytes = numbers.leaked_bytes = 7;
  numbers.total_blocks = numbers.leaked_blocks = 1;
  plan.add_site({{"main", "/home/me/src/main.cc", 4}}, numbers);
  Profile profile = plan.take();
  canonicalize(&profile);
  return profile;
}

uint64_t suppressed(std::string_view text) {
  Profile profile = two_leaks();
  const Suppressions rules = rules_of(text);
  mark_suppressed(rules, &profile);
  const PlaceNumbers sum = sum_of_sites(profile.devices[0]);
  CHECK(sum.leaked_bytes + sum.suppressed_bytes == 107);
  CHECK(sum.leaked_blocks + sum.suppressed_blocks == 3);
  uint64_t by_rule = 0;
  for (const SuppressedLeaks& leaks : sum_by_rule(rules, profile.devices[0])) by_rule += leaks.bytes;
  CHECK(by_rule == sum.suppressed_bytes);
  return sum.suppressed_bytes;
}

}  // namespace

TEST_CASE("a rule matches a function, a module or a source file anywhere in the stack") {
  CHECK(suppressed("function:main # all") == 107);
  CHECK(suppressed("function:app::load* # by its plain name") == 100);
  CHECK(suppressed("function:\"int app::load<int>(char const*)\" # by its whole name") == 100);
  CHECK(suppressed("function:load # names are whole") == 0);
  CHECK(suppressed("module:libc.so* # by the file's name") == 100);
  CHECK(suppressed("module:/usr/lib/*/libc.so.6 # by its path") == 100);
  CHECK(suppressed("module:bin/render # no whole path") == 0);
  CHECK(suppressed("file:app.cc # by the end of the path") == 100);
  CHECK(suppressed("file:src/*.cc # likewise") == 107);
  CHECK(suppressed("file:pp.cc # only whole parts") == 0);
  CHECK(suppressed("function:main file:app.cc # one frame must be both") == 0);
  CHECK(suppressed("function:main file:main.cc # one frame is both") == 107);
}

TEST_CASE("a line that begins with fold names a function, and is no rule") {
  Suppressions rules;
  std::vector<FramePattern> folds;
  const std::string_view text =
      "fold function:grab*\n fold  module:lib*.so file:x.c # a wrapper\nfunction:main # kept\n";
  REQUIRE(parse_suppressions(text, "my.supp", &rules, &folds));
  REQUIRE(folds.size() == 2);
  CHECK(folds[0].function == "grab*");
  CHECK(folds[1].function.empty());
  CHECK(folds[1].module == "lib*.so");
  CHECK(folds[1].file == "x.c");
  REQUIRE(rules.size() == 1);
  CHECK(rules[0].line == 3);
  CHECK(mistake_in("fold # nothing") == "my.supp, line 1: there is no function behind fold");
  CHECK(mistake_in("fold function:a <- function:b").find("what is folded is one function") != std::string::npos);
  CHECK(mistake_in("fold allocation <- function:b").find("what is folded is one function") != std::string::npos);
  CHECK(mistake_in("fold function:a function:b").find("two globs") != std::string::npos);
  CHECK(mistake_in("function:fold") != "");  // a rule as ever, which lacks its reason
  CHECK(mistake_in("allocation fold").find("<- must follow") != std::string::npos);
}

TEST_CASE("neighbours must be neighbours") {
  CHECK(suppressed("function:qsort_r <- function:app::load<int> <- function:main # a chain") == 100);
  CHECK(suppressed("function:qsort_r <- function:main # not called by it") == 0);
  CHECK(suppressed("function:main <- function:qsort_r # the wrong way round") == 0);
  CHECK(suppressed("function:main <- function:* # nothing calls main here") == 0);
}

TEST_CASE("allocation stands for what calls the allocation function") {
  CHECK(suppressed("allocation <- function:main # itself") == 7);
  CHECK(suppressed("allocation <- function:qsort_r # operator new is the allocation function") == 100);
  CHECK(suppressed("allocation <- function:operator* # it does not call itself") == 0);
  CHECK(suppressed("allocation <- function:qsort_r <- file:app.cc # and its callers") == 100);
}

TEST_CASE("the first rule that fits counts, and only leaks are marked") {
  Profile profile = two_leaks();
  profile.devices[0].sites[0].numbers.leaked_bytes = 0;
  profile.devices[0].sites[0].numbers.leaked_blocks = 0;
  const Suppressions rules = rules_of("function:nobody # unused\nfunction:mai? # first\nfunction:main # second\n");
  mark_suppressed(rules, &profile);
  CHECK(profile.devices[0].sites[0].suppressed_by == 0);
  CHECK(profile.devices[0].sites[1].suppressed_by == 2);
}

TEST_CASE("lines of a file") {
  const Suppressions rules = rules_of(
      "# a comment\n\n  \t\r\n"
      "function:main::{lambda()#1}\tmodule:\"my app\"  #  why so  \r\n"
      "allocation <- file:a.c # last line without an end");
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].text == "function:main::{lambda()#1}\\x09module:\"my app\"");
  CHECK(rules[0].reason == "why so");
  CHECK(rules[0].frames[0].function == "main::{lambda()#1}");
  CHECK(rules[0].frames[0].module == "my app");
  CHECK(rules[0].line == 4);
  CHECK(rules[1].is_at_allocation);
  CHECK(rules[1].source == "my.supp");
}

TEST_CASE("mistakes name the line and what is wrong with it") {
  CHECK(mistake_in("# fine\nfunction:main\n") ==
        "my.supp, line 2: the reason is missing: a rule ends with # and why the leak is known");
  CHECK(mistake_in("function:main #") ==
        "my.supp, line 1: the reason is missing: a rule ends with # and why the leak is known");
  CHECK(mistake_in("fun:main # x") == "my.supp, line 1: 'fun:main' is not function:GLOB, module:GLOB or file:GLOB");
  CHECK(mistake_in("main # x") == "my.supp, line 1: 'main' is not function:GLOB, module:GLOB or file:GLOB");
  CHECK(mistake_in("function: # x") == "my.supp, line 1: there is no glob behind function:");
  CHECK(mistake_in("function:\"a # x") == "my.supp, line 1: a \" is not closed");
  CHECK(mistake_in("function:a function:b # x") == "my.supp, line 1: one frame has two globs for its function");
  CHECK(mistake_in("<- function:a # x") == "my.supp, line 1: a frame must stand before each <-");
  CHECK(mistake_in("function:a <- # x") == "my.supp, line 1: a frame must follow the last <-");
  CHECK(mistake_in("allocation # x") == "my.supp, line 1: a frame must follow the last <-");
  CHECK(mistake_in("allocation function:a # x") == "my.supp, line 1: <- must follow the word allocation");
  CHECK(mistake_in("   # only a remark") == "");
  CHECK(mistake_in("function:" + std::string(2000, 'a') + " # x") ==
        "my.supp, line 1: a glob is longer than 1,000 bytes");
  CHECK(mistake_in("\x01\xff # x") == "my.supp, line 1: '\\x01\\xff' is not function:GLOB, module:GLOB or file:GLOB");
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += "function:a # x\n";
  CHECK(mistake_in(many) == "my.supp, line 10001: there are more than 10,000 rules");
}

TEST_CASE("the built-in rules can be read, and each has its reason") {
  Suppressions rules;
  add_default_suppressions(&rules);
  CHECK(rules.size() >= 30);
  for (const SuppressionRule& rule : rules) {
    CAPTURE(rule.text);
    CHECK(rule.source.empty());
    CHECK(rule.reason.size() > 10);
  }
}

namespace {

// What the built-in rules explain of so many blocks of 10 bytes that this function left.
uint64_t explained_by_default(const std::string& function, const std::string& file, uint64_t count = 1,
                              size_t processes = 0) {
  ScenePlan plan;
  plan.add_device("host");
  SizedNumbers numbers;
  numbers.total_blocks = numbers.leaked_blocks = count;
  numbers.total_bytes = numbers.leaked_bytes = count * 10;
  plan.add_site({{"malloc", "", 0}, {function, file, 12}, {"main", "/home/me/src/main.cc", 3}}, numbers);
  Profile profile = plan.take();
  canonicalize(&profile);
  for (size_t i = 0; i < processes; ++i) profile.merged.emplace_back().device = "host";
  Suppressions rules;
  add_default_suppressions(&rules);
  mark_suppressed(rules, &profile);
  return sum_of_sites(profile.devices[0]).suppressed_bytes;
}

}  // namespace

TEST_CASE("the built-in rules are about the C library's functions, and not about a program's of the same name") {
  for (const char* name : {"getgrid", "getspace", "getserver", "getprotocol", "gethostinfo", "getpwd", "strerror_text",
                           "setlocale", "tzset", "textdomain", "getmntent", "_nl_mine", "dlsym"}) {
    CAPTURE(name);
    CHECK(explained_by_default(name, "/home/me/src/own.c") == 0);
  }
  for (const char* name : {"getgrnam_r", "getspnam", "getservbyname", "getprotobyname", "gethostbyname", "getpwnam",
                           "strerror_l", "setlocale", "tzset"}) {
    CAPTURE(name);
    CHECK(explained_by_default(name, "") == 10);
  }
  CHECK(explained_by_default("std::locale::locale(char const*)", "/usr/include/locale.h") == 10);
}

TEST_CASE("tables of more threads than a process keeps are shown") {
  CHECK(explained_by_default("_dl_allocate_tls", "", 256) == 2560);
  CHECK(explained_by_default("_dl_allocate_tls", "", 257) == 0);
  CHECK(explained_by_default("_dl_allocate_tls", "", 512, 2) == 5120);
  CHECK(explained_by_default("_dl_allocate_tls", "", 514, 2) == 0);
}

TEST_CASE("random profiles: leaked is shown plus suppressed") {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    Profile profile = assembled(random_sample({seed, 300, 25, 500}));
    mark_suppressed(rules_of("function:ns1*::* # some\nfile:part_7* # others\nallocation <- module:render # most"),
                    &profile);
    const PlaceNumbers sum = sum_of_sites(profile.devices[0]);
    CHECK(sum.suppressed_bytes > 0);
    CHECK(sum.leaked_bytes + sum.suppressed_bytes == profile.devices[0].totals.leaked_bytes);
    CHECK(sum.leaked_blocks + sum.suppressed_blocks == profile.devices[0].totals.leaked_blocks);
  }
}
