// tests/unit/read/read_contracts_test.cc: a file of contracts is read whole; broken ones are problems with their line.
#include "cli/read/read_contracts.h"

#include <catch2/catch.hpp>
#include <signal.h>

#include <string>

using namespace heapprof::cli;

namespace {

Problem problem_of(const std::string& text) {
  const Result<BudgetFile> file = parse_contracts(text, "c.toml");
  CAPTURE(text);
  REQUIRE_FALSE(file.ok());
  CHECK(file.problem().exit_code == 2);
  return file.problem();
}

}  // namespace

TEST_CASE("a file of contracts is read whole") {
  const Result<BudgetFile> file = parse_contracts(R"(version = 1
[[contract]]
id = "a"
statement = "It is so"
command = ["./render", "x"]
exit = "SIGABRT"
peak = { host = { expect = "1000 B ± 1 %" } }
runs = 3
message = "ask"
file = ["a.json", { path = "b", size = "100 B ± 10 B", number = "1_000 ± 1 %" }]
  [[contract.site]]
  match = "f"
  leaked = 0
  [[contract.ignore]]
  match = "g"
  reason = "known"
[[contract]]
id = "b"
statement = "That too"
command = ["x"]
profiled = false
exit = 3
)",
                                                  "c.toml");
  REQUIRE(file.ok());
  REQUIRE(file->budgets.size() == 2);
  const Budget& first = file->budgets[0];
  CHECK(first.name == "a");
  CHECK(first.contract->statement == "It is so");
  CHECK(first.contract->is_profiled);
  CHECK(first.contract->end->end.kind == EndKind::kSignaled);
  CHECK(first.contract->end->end.status == SIGABRT);
  CHECK(first.limits.size() == 2);
  CHECK(first.limits[0].subject.subtree == Subject::kWhole);
  CHECK(first.limits[1].subject.subtree == 0);
  CHECK(first.runs == 3);
  CHECK(first.ignores.size() == 1);
  REQUIRE(first.contract->files.size() == 2);
  CHECK(first.contract->files[0].path == "a.json");
  CHECK_FALSE(first.contract->files[0].size);
  CHECK(first.contract->files[1].size->least == 90);
  CHECK(first.contract->files[1].number->most == 1010);
  CHECK_FALSE(first.contract->files[1].number_is_bytes);
  CHECK(first.contract->files[1].at.line == 10);
  CHECK_FALSE(file->budgets[1].contract->is_profiled);
  CHECK(file->budgets[1].contract->end->end.status == 3);
}

TEST_CASE("broken contracts are problems with their line, whatever they hold") {
  const std::string head = "version = 1\n[[contract]]\nid = \"c\"\nstatement = \"s\"\ncommand = [\"x\"]\n";
  CHECK(problem_of(head).id == "HP143");
  CHECK(problem_of(head + "exit = -1").what.starts_with("c.toml, line 6: exit takes"));
  CHECK(problem_of(head + "exit = \"SIGNONE\"").what.starts_with("c.toml, line 6: exit takes"));
  CHECK(problem_of(head + "exit = 1.5").id == "HP143");
  CHECK(problem_of(head + "file = 1").id == "HP143");
  CHECK(problem_of(head + "file = []").what.find("nothing can break") != std::string::npos);
  CHECK(problem_of(head + "file = { size = \"1 B ± 0 B\" }").what.find("the file has no path") != std::string::npos);
  CHECK(problem_of(head + "file = { path = \"a\\u0000b\" }").id == "HP143");
  CHECK(problem_of(head + "exit = 0\nprofiled = \"no\"").id == "HP143");
  CHECK(problem_of(head + "exit = 0\nprofiled = false\nruns = 2").id == "HP143");
  CHECK(problem_of(head + "exit = 0\nbaseline = \"x\"").id == "HP144");
  CHECK(problem_of("version = 2").id == "HP143");
  CHECK(problem_of("[[contract]]").what.find("no id") != std::string::npos);
  CHECK(problem_of("version = 1\ncontract = 3").id == "HP143");
  CHECK(problem_of("version = 1\n[contract]\nid = 1").id == "HP143");
  CHECK(problem_of(std::string(5000, '.')).id == "HP180");
}
