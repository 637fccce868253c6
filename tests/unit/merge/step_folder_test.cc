// tests/unit/merge/step_folder_test.cc: who takes which file, who sums whose sums, and texts that are not as they were
// written.
#include "cli/merge/step_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace heapprof::cli;

namespace {

using Lists = std::vector<std::pair<uint64_t, StepList>>;

FileMark mark(uint64_t number) { return {1000 + number, static_cast<int64_t>(number) * 7 - 3, number}; }

// Hosts with a folder of their own, and one folder that all see.
Lists make_lists(uint64_t processes, uint64_t hosts, uint64_t own_files, uint64_t shared_files) {
  Lists lists;
  for (uint64_t process = 0; process < processes; ++process) {
    StepList list;
    list.host = "node" + std::to_string(process % hosts);
    for (uint64_t file = 0; file < own_files; ++file) list.files.push_back(mark(process % hosts * 1000 + file));
    for (uint64_t file = 0; file < shared_files; ++file) list.files.push_back(mark(1'000'000 + file));
    lists.push_back({process, list});
  }
  return lists;
}

}  // namespace

TEST_CASE("each file is one process's that sees it, and all take as many") {
  const Lists lists = make_lists(12, 4, 9, 30);
  const std::vector<StepTask> plan = make_plan(lists);
  REQUIRE(plan.size() == 12);
  std::set<FileMark> taken;
  size_t most = 0;
  size_t least = SIZE_MAX;
  for (size_t i = 0; i < plan.size(); ++i) {
    for (const uint64_t file : plan[i].files) CHECK(taken.insert(lists[i].second.files.at(file)).second);
    most = std::max(most, plan[i].files.size());
    least = std::min(least, plan[i].files.size());
  }
  CHECK(taken.size() == 4 * 9 + 30);
  CHECK(most - least <= 1);
}

TEST_CASE("sums go by host first, then over hosts, to process 0") {
  for (const uint64_t hosts : {1, 3, 40}) {
    Lists lists = make_lists(120, hosts, 1, 0);
    std::mt19937 random(1);
    std::shuffle(lists.begin() + 1, lists.end(), random);  // who came, in whatever order
    std::sort(lists.begin(), lists.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::vector<StepTask> plan = make_plan(lists);
    std::map<uint64_t, const StepTask*> tasks;
    std::map<uint64_t, std::string> host;
    for (size_t i = 0; i < plan.size(); ++i) {
      tasks[plan[i].process] = &plan[i];
      host[plan[i].process] = lists[i].second.host;
    }
    std::map<std::string, size_t> leaving;  // sums that leave a host
    for (const StepTask& task : plan) {
      const StepTask* at = &task;
      for (uint64_t depth = task.depth; depth > 0; --depth) at = tasks.at(at->parent);
      CHECK(at->process == 0);
      if (task.process != 0 && host[task.parent] != host[task.process]) ++leaving[host[task.process]];
    }
    CHECK(leaving.size() == hosts - 1);
    for (const auto& [name, sums] : leaving) CHECK(sums == 1);
    CHECK(parse_plan(plan_text(plan)).has_value());
  }
}

TEST_CASE("what was written is read, and nothing else") {
  const Lists lists = make_lists(5, 2, 3, 2);
  const std::optional<StepList> list = parse_list(list_text(lists[3].second));
  REQUIRE(list);
  CHECK(list->host == "node1");
  CHECK(list->files == lists[3].second.files);
  const std::string plan = plan_text(make_plan(lists));
  const std::optional<std::vector<StepTask>> read = parse_plan(plan);
  REQUIRE(read);
  CHECK(plan_text(*read) == plan);
  for (size_t size = 0; size + 1 < plan.size(); ++size) {
    const std::optional<std::vector<StepTask>> part = parse_plan(plan.substr(0, size));
    if (part) CHECK(part->size() == read->size());  // cut inside of the last number
  }
  for (const char* text : {"", "heapprof-list-1", "heapprof-list-1 h 99999999999999999999",
                           "heapprof-list-1 h 2\n1 2 3\n", "heapprof-list-1 h 1\n-1 2 3\n", "heapprof-list-2 h 0\n"})
    CHECK_FALSE(parse_list(text));
  for (const char* text : {"", "heapprof-plan-1 2\n0 0 0 0\n", "heapprof-plan-1 1\n0 0 0 9\n",
                           "heapprof-plan-1 2\n0 0 0 0\n0 0 0 0\n",           // one twice
                           "heapprof-plan-1 3\n0 0 0 0\n1 2 1 0\n2 1 1 0\n",  // below each other
                           "heapprof-plan-1 2\n0 0 0 0\n1 7 1 0\n",           // below nobody
                           "heapprof-plan-1 1\n0 0 3 0\n"})
    CHECK_FALSE(parse_plan(text));
}
