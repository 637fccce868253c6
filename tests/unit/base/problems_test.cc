// tests/unit/base/problems_test.cc: walks the whole catalogue and holds it to the rules for errors.
#include "cli/base/problems.h"

#include "tests/support/data_path.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace heapprof::cli;

namespace {

struct Entry {
  std::string id;
  std::string function;
  Problem problem;
};

std::vector<Entry> catalogue() {
  return {
#define X(id, function, arguments) {id, #function, function arguments},
      HEAPPROF_PROBLEMS(X)
#undef X
  };
}

// Problems to which there is honestly no other way; everything else must offer one.
const std::set<std::string> kWithoutAlternative = {
    "HP003", "HP012", "HP031", "HP032", "HP037", "HP043", "HP050", "HP052", "HP054", "HP057", "HP058",
    "HP059", "HP062", "HP086", "HP087", "HP092", "HP063", "HP064", "HP065", "HP066", "HP097", "HP343"};

}  // namespace

TEST_CASE("every problem has its parts, in the house's form") {
  std::set<std::string> seen_ids;
  for (const Entry& entry : catalogue()) {
    const Problem& problem = entry.problem;
    CAPTURE(entry.function, problem.what, problem.fix, problem.instead);
    CHECK(problem.id == entry.id);
    CHECK(std::regex_match(problem.id, std::regex("HP[0-9]{3}")));
    CHECK(seen_ids.insert(problem.id).second);
    REQUIRE_FALSE(problem.what.empty());
    REQUIRE_FALSE(problem.fix.empty());
    CHECK(problem.instead.empty() == (kWithoutAlternative.count(problem.id) == 1));
    // Lower case, unless it opens with a name of a file or a flag; no full stop; none of the words that say nothing.
    CHECK_FALSE(std::isupper(static_cast<unsigned char>(problem.what.front())));
    for (const std::string* part : {&problem.what, &problem.fix, &problem.instead}) {
      CHECK((part->empty() || (part->back() != '.' && part->back() != ' ' && part->back() != '!')));
      CHECK(part->find('\n') == std::string::npos);
      CHECK_FALSE(std::regex_search(*part, std::regex("failed to|please|oops|sorry", std::regex::icase)));
    }
    CHECK((problem.exit_code == 0 || problem.exit_code == 1 || problem.exit_code == 2 || problem.exit_code == 3 ||
           problem.exit_code == 4 || problem.exit_code == 126 || problem.exit_code == 127));
  }
}

TEST_CASE("every function that makes a problem is in the catalogue") {
  std::ifstream header(heapprof::test::data_path("/../cli/base/problems.h"));
  REQUIRE(header.good());
  std::stringstream text;
  text << header.rdbuf();
  std::set<std::string> listed;
  for (const Entry& entry : catalogue()) listed.insert(entry.function);
  const std::string source = text.str();
  const std::regex declaration("\nProblem ([a-z_0-9]+)\\(");
  size_t declared = 0;
  for (std::sregex_iterator match(source.begin(), source.end(), declaration), end; match != end; ++match, ++declared) {
    CAPTURE((*match)[1].str());
    CHECK(listed.count((*match)[1].str()) == 1);
  }
  CHECK(declared == listed.size());
}

TEST_CASE("an error is printed in four parts") {
  CHECK(format_problem(program_is_directory("./build"), {}) ==
        "heapprof: error: ./build is a directory, not a program [HP003]\n"
        "  fix:     name a program in it: ls ./build\n");
  CHECK(format_problem(program_is_static("./server"), {}) ==
        "heapprof: error: ./server is statically linked: there is no loader to preload the agent [HP004]\n"
        "  fix:     link it dynamically (drop -static)\n"
        "  instead: keep all static but libc: -static-libstdc++ -static-libgcc -l:libNAME.a\n");
  CHECK(format_problem(events_lost({3, 10}), Terminal{.colored = true}).find("heapprof: \x1b[33mwarning\x1b[0m: ") ==
        0);
}

TEST_CASE("no line of an error is wider than the terminal, or than COLUMNS says") {
  CHECK(format_problem(program_is_static("./server"), Terminal{.columns = 60, .is_fitted = true}) ==
        "heapprof: error: ./server is statically linked: there is no\n"
        "           loader to preload the agent [HP004]\n"
        "  fix:     link it dynamically (drop -static)\n"
        "  instead: keep all static but libc: -static-libstdc++\n"
        "           -static-libgcc -l:libNAME.a\n");
}

TEST_CASE("hostile names in problems are harmless") {
  const std::string text = format_problem(program_not_found("./\x1b[2J\nheapprof: error: fake"), {});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("file names in fixes are quoted for a shell") {
  CHECK(program_not_executable("./my prog's", "permission denied").fix == "chmod +x './my prog'\\''s'");
}

TEST_CASE("run has exit codes of its own") {
  CHECK(run_exit_code(program_not_found("x")) == 127);
  CHECK(run_exit_code(program_is_directory("x")) == 126);
  CHECK(run_exit_code(program_is_static("x")) == 125);
  CHECK(run_exit_code(missing_program("run")) == 125);
}

TEST_CASE("what mends a refusal depends on what was refused, however errno was put into words") {
  CHECK(processes_refused(1, "memfd_create: Too many open files").fix.find("ulimit") != std::string::npos);
  CHECK(processes_refused(1, "too many open files").fix.find("ulimit") != std::string::npos);
  CHECK(processes_refused(1, "mmap: Cannot allocate memory").fix.find("memory") != std::string::npos);
  CHECK(processes_refused(1, "memfd_create: Operation not permitted").fix.find("seccomp") != std::string::npos);
  CHECK(processes_refused(1, "x").what.find("1 process ran") == 0);
}
