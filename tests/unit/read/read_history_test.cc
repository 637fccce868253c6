// tests/unit/read/read_history_test.cc: a broken line costs itself and no other.
#include "cli/read/read_history.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

History read(std::string_view text) {
  TextSource source(text);
  Result<History> history = read_history(&source, "ci.jsonl");
  REQUIRE(history);
  return *history;
}

const std::string kGood =
    R"({"version":1,"time_unix_ns":1795198380123456789,"commit":"abc","name":"render","command":["./render","x y"],)"
    R"("device":"cuda:0","peak_bytes":18446744073709551615,"allocations_count":3,"ok":false,"later":{"a":[1]}})";

}  // namespace

TEST_CASE("an entry is read whole, and what is not known of it stays unknown") {
  const History history = read(kGood + "\n");
  REQUIRE(history.entries.size() == 1);
  const HistoryEntry& entry = history.entries[0];
  CHECK(entry.time_unix_ns == 1'795'198'380'123'456'789);
  CHECK(entry.commit == "abc");
  CHECK(entry.name == "render");
  CHECK(entry.command == std::vector<std::string>{"./render", "x y"});
  CHECK(entry.device == "cuda:0");
  CHECK(entry.metrics[metric_index(Metric::kPeak)] == UINT64_MAX);
  CHECK(entry.metrics[metric_index(Metric::kAllocations)] == 3);
  CHECK_FALSE(entry.metrics[metric_index(Metric::kLeaked)]);
  CHECK(entry.ok == false);
  CHECK(history.warnings.empty());
}

TEST_CASE("lines that cannot be used are named with their number, and the others count") {
  const std::string text = kGood + "\n" + "{\"version\":2,\"name\":\"x\"}\n" + "\n" + "nonsense\n" + kGood + "\r\n" +
                           R"({"version":1,"name":"x","peak_bytes":1.5})" + "\n" + R"({"name":"x"})" + "\n" + kGood +
                           "\n" + kGood.substr(0, 60);
  const History history = read(text);
  CHECK(history.entries.size() == 3);
  CHECK(history.lines_skipped == 5);
  REQUIRE(history.warnings.size() == 5);
  CHECK(history.warnings[0].what.find("ci.jsonl line 2 is left out: it is of version 2, of a newer heapprof") == 0);
  CHECK(history.warnings[1].what.find("ci.jsonl line 4 ") == 0);
  CHECK(history.warnings[2].what.find("ci.jsonl line 6 ") == 0);
  CHECK(history.warnings[3].what.find("ci.jsonl line 7 is left out: there is no \"version\"") == 0);
  CHECK(history.warnings[4].what.find("ci.jsonl line 9 is left out: it is cut off: ") == 0);
}

TEST_CASE("a whole last line counts without its end") { CHECK(read(kGood).entries.size() == 1); }

TEST_CASE("hostile lines are left out") {
  const std::string deep(100'000, '[');
  std::string doubled = kGood;
  doubled.insert(1, R"("ok":true,"ok":true,)");
  const std::string text =
      deep + "\n" + std::string("\0\xff\x1b\n", 4) + std::string(3 << 20, 'x') + "\n" + doubled + "\n" + kGood;
  const History history = read(text);
  CHECK(history.entries.size() == 1);
  CHECK(history.lines_skipped == 4);
  CHECK(history.warnings[2].what.find("longer than 1 MiB") != std::string::npos);
}

TEST_CASE("many broken lines are counted, and the first named") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "no\n";
  const History history = read(text);
  CHECK(history.lines_skipped == 100);
  CHECK(history.warnings.size() == 5);
}

TEST_CASE("names from a history are safe for a terminal") {
  const History history = read(R"({"version":1,"name":"a\u001b[31m","commit":"\n"})");
  REQUIRE(history.entries.size() == 1);
  CHECK(history.entries[0].name == "a\\x1b[31m");
  CHECK(history.entries[0].commit == "\\x0a");
}

TEST_CASE("a history that is not there is a problem") {
  const Result<History> history = read_history("/nonexistent/ci.jsonl");
  REQUIRE_FALSE(history);
  CHECK(history.problem().id == "HP135");
  CHECK(history.problem().what == "the history /nonexistent/ci.jsonl cannot be read: no such file or directory");
}
