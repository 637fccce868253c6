// tests/unit/model/scope_changes_test.cc: scopes of two profiles: how they are matched, what counts as a change, which
// come first.
#include "cli/model/compare/scope_changes.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace heapprof::cli;

namespace {

constexpr uint64_t kMsNs = 1'000'000;

Scope scope(uint32_t parent, const std::string& name, uint64_t runs = 1) {
  Scope made;
  made.parent = parent;
  made.name = name;
  made.begun = made.ended = runs;
  return made;
}

ScopeMemory host(uint64_t allocated_bytes, uint64_t freed_bytes, uint64_t peak_bytes) {
  return {"host", allocated_bytes, 1, freed_bytes, freed_bytes == 0 ? 0u : 1u, peak_bytes};
}

// load > parse, and decode beside it.
Scopes scene() {
  Scopes scopes;
  scopes.scopes = {scope(0, "decode", 4), scope(0, "load", 1), scope(2, "parse", 10)};
  scopes.scopes[0].calls = {{"synchronize stream", 4, 0, 0}};
  scopes.scopes[0].kernel_launches = 8;
  scopes.scopes[1].memory = {host(1'000, 1'000, 1'000)};
  scopes.scopes[2].memory = {host(100, 0, 100)};
  return scopes;
}

Scope& named(Scopes* scopes, const std::string& name) {
  return *std::find_if(scopes->scopes.begin(), scopes->scopes.end(), [&](const Scope& it) { return it.name == name; });
}

const ScopeChange& change_of(const ScopesDiff& diff, const std::string& name) {
  return *std::find_if(diff.scopes.begin(), diff.scopes.end(), [&](const ScopeChange& it) { return it.name == name; });
}

const ScopeNumber* find_number(const ScopeChange& scope, ScopeField field, const std::string& of = "") {
  for (const ScopeNumber& number : scope.numbers) {
    if (number.field == field && number.of == of) return &number;
  }
  return nullptr;
}

// The names of the numbers that changed.
std::vector<std::string> changed(const ScopesDiff& diff, const std::string& name) {
  std::vector<std::string> names;
  for (const ScopeNumber& number : change_of(diff, name).numbers) {
    if (is_changed(number, {}))
      names.push_back(scope_field_name(number.field) + (number.of.empty() ? "" : " " + number.of));
  }
  return names;
}

std::vector<std::string> ranked(const ScopesDiff& diff, bool all = false) {
  std::vector<std::string> names;
  for (const uint32_t place : rank_scopes(diff, {}, all)) names.push_back(diff.scopes[place].name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("scopes of a profile and itself have no change") {
  const ScopesDiff diff = diff_scopes(scene(), scene());
  CHECK(diff.scopes.size() == 3);
  CHECK(diff.is_in_both());
  CHECK(ranked(diff).empty());
  CHECK(ranked(diff, true).empty());
  CHECK(diff_scopes({}, {}).scopes.empty());
}

TEST_CASE("a scope is the same if its category and name are, and those of all around it") {
  Scopes current = scene();
  std::swap(current.scopes[0], current.scopes[1]);
  current.scopes[2].parent = 1;
  CHECK(ranked(diff_scopes(scene(), current)).empty());

  named(&current, "parse").category = "json";
  const ScopesDiff other_category = diff_scopes(scene(), current);
  CHECK(other_category.scopes.size() == 4);
  CHECK(change_of(other_category, "parse").is_in == BySide<bool>{true, false});

  current = scene();
  named(&current, "parse").parent = 1;
  const ScopesDiff elsewhere = diff_scopes(scene(), current);
  CHECK(elsewhere.scopes.size() == 4);
  CHECK(elsewhere.counts == BySide<size_t>{3, 3});
  const auto& path = scope_path(elsewhere, 3);
  CHECK(elsewhere.scopes[path[0]].name == "decode");
  CHECK(elsewhere.scopes[path[1]].name == "parse");
  CHECK(elsewhere.scopes[path[1]].is_in == BySide<bool>{false, true});
}

TEST_CASE("a path that a file has twice is one scope") {
  Scopes current = scene();
  current.scopes[1].begun = current.scopes[1].ended = 0;
  current.scopes[1].memory.clear();
  current.scopes.push_back(scene().scopes[1]);
  CHECK(ranked(diff_scopes(scene(), current)).empty());
}

TEST_CASE("memory and counts that differ by one are a change, of the scope and in bytes of those around it") {
  Scopes current = scene();
  named(&current, "parse").memory[0].allocated_bytes += 1;
  named(&current, "decode").begun += 1;
  named(&current, "decode").items = 1;
  const ScopesDiff diff = diff_scopes(scene(), current);
  CHECK(changed(diff, "parse") == Names{"allocated_bytes host", "kept_bytes host"});
  CHECK(changed(diff, "load") == Names{"allocated_bytes host", "kept_bytes host"});
  CHECK(find_number(change_of(diff, "load"), ScopeField::kAllocatedBytes, "host")->value ==
        BySide<int64_t>{1'100, 1'101});
  CHECK(find_number(change_of(diff, "load"), ScopeField::kAllocatedBytes, "host")->own_amount() == 0);
  // Five begins share four synchronizations now, and eight kernels.
  CHECK(changed(diff, "decode") ==
        Names{"begun_count", "items_count", "kernel_launches_count", "calls_count synchronize stream"});
}

TEST_CASE("what is kept may be below nothing") {
  Scopes current = scene();
  named(&current, "load").memory[0].freed_bytes = 5'000;
  const ScopesDiff diff = diff_scopes(scene(), current);
  const ScopeNumber* kept = find_number(change_of(diff, "load"), ScopeField::kKeptBytes, "host");
  CHECK(kept->value == BySide<int64_t>{100, -3'900});
  CHECK(kept->own == BySide<int64_t>{0, -4'000});
  CHECK(kept->amount() == 4'000);
}

TEST_CASE("numbers have one order, whichever profile has them first") {
  Scopes base = scene();
  named(&base, "parse").memory = {host(0, 70, 0)};
  const ScopesDiff diff = diff_scopes(base, scene());
  CHECK(changed(diff, "parse") == Names{"allocated_bytes host", "kept_bytes host", "peak_inside_bytes host"});
}

TEST_CASE("calls and kernels are compared per run: twice the runs with twice the calls are no change") {
  Scopes current = scene();
  Scope& decode = named(&current, "decode");
  decode.begun = decode.ended = 8;
  decode.calls[0].count = 8;
  decode.kernel_launches = 16;
  CHECK(changed(diff_scopes(scene(), current), "decode") == Names{"begun_count"});
  decode.calls[0].count = 8 * 17;
  const ScopesDiff diff = diff_scopes(scene(), current);
  CHECK(changed(diff, "decode") == Names{"begun_count", "calls_count synchronize stream"});
  const ScopeNumber* calls = find_number(change_of(diff, "decode"), ScopeField::kCalls, "synchronize stream");
  CHECK(calls->value == BySide<int64_t>{4, 136});
  CHECK(calls->runs == BySide<uint64_t>{4, 8});
}

TEST_CASE("a call or a device that only one profile has is compared with none") {
  Scopes current = scene();
  named(&current, "decode").calls.clear();
  named(&current, "decode").memory = {{"host", 0, 0, 0, 0, 0}, {"cuda:0", 512, 1, 512, 1, 512}};
  const ScopesDiff diff = diff_scopes(scene(), current);
  CHECK(changed(diff, "decode") == Names{"allocated_bytes cuda:0", "allocated_count cuda:0", "peak_inside_bytes cuda:0",
                                         "calls_count synchronize stream"});
  CHECK(find_number(change_of(diff, "decode"), ScopeField::kCalls, "synchronize stream")->runs ==
        BySide<uint64_t>{4, 4});
}

TEST_CASE("a time is a change beyond a quarter, beyond the tolerance, and beyond a millisecond of all runs") {
  const auto changed_times = [](uint64_t base_ns, uint64_t current_ns, Tolerance tolerance = {}) {
    Scopes base = scene();
    Scopes current = scene();
    named(&base, "parse").time_ns = base_ns;
    named(&current, "parse").time_ns = current_ns;
    const ScopesDiff diff = diff_scopes(base, current);
    size_t count = 0;
    for (const ScopeNumber& number : change_of(diff, "parse").numbers) count += is_changed(number, tolerance) ? 1 : 0;
    return count;  // the sum and the average
  };
  CHECK(changed_times(100 * kMsNs, 125 * kMsNs) == 0);
  CHECK(changed_times(100 * kMsNs, 126 * kMsNs) == 2);
  CHECK(changed_times(100 * kMsNs, 74 * kMsNs) == 2);
  CHECK(changed_times(kMsNs, 2 * kMsNs) == 0);
  CHECK(changed_times(kMsNs, 2 * kMsNs + 10) == 2);
  Tolerance half;
  half.share = {1, 2};
  CHECK(changed_times(100 * kMsNs, 150 * kMsNs, half) == 0);
  CHECK(changed_times(100 * kMsNs, 151 * kMsNs, half) == 2);
}

TEST_CASE("a time within the tolerance is shown with all the others alone") {
  Scopes current = scene();
  named(&current, "parse").time_ns = 10;
  const ScopesDiff diff = diff_scopes(scene(), current);
  CHECK(ranked(diff).empty());
  CHECK(ranked(diff, true) == Names{"parse"});
}

TEST_CASE("a scope that never ended in one profile has another sum of times, and no other average") {
  Scopes base = scene();
  named(&base, "parse").ended = 0;
  Scopes current = scene();
  named(&current, "parse").time_ns = 50 * kMsNs;
  CHECK(changed(diff_scopes(base, current), "parse") == Names{"time_ns"});
}

TEST_CASE("the scope that changed comes before those around it, a large share before a small one") {
  Scopes current = scene();
  named(&current, "parse").memory[0].allocated_bytes += 500;
  CHECK(ranked(diff_scopes(scene(), current)) == Names{"parse", "load"});
  // 64 more synchronizations of 68 weigh more than 500 more bytes of 600 that are kept.
  named(&current, "decode").calls[0].count = 68;
  CHECK(ranked(diff_scopes(scene(), current)) == Names{"decode", "parse", "load"});
  // Of equal shares the inner one.
  current = scene();
  named(&current, "load").begun = 9;
  named(&current, "parse").begun = 2;
  CHECK(ranked(diff_scopes(scene(), current)) == Names{"parse", "load"});
}

TEST_CASE("a scope that is new changed in all that it has") {
  Scopes base = scene();
  base.scopes.pop_back();
  const ScopesDiff diff = diff_scopes(base, scene());
  CHECK(change_of(diff, "parse").is_in == BySide<bool>{false, true});
  CHECK(changed(diff, "parse") == Names{"begun_count", "allocated_bytes host", "allocated_count host",
                                        "kept_bytes host", "peak_inside_bytes host"});
  const ScopesDiff back = diff_scopes(scene(), base);
  CHECK(change_of(back, "parse").is_in == BySide<bool>{true, false});
  CHECK(changed(back, "parse") == changed(diff, "parse"));
}

TEST_CASE("numbers of a forged profile stay what their type can hold") {
  Scopes current = scene();
  named(&current, "load").memory[0].allocated_bytes = UINT64_MAX;
  named(&current, "load").begun = UINT64_MAX;
  named(&current, "decode").memory = {host(0, UINT64_MAX, UINT64_MAX)};
  const ScopesDiff diff = diff_scopes(scene(), current);
  CHECK(find_number(change_of(diff, "load"), ScopeField::kAllocatedBytes, "host")->value[kCurrent] == INT64_MAX);
  CHECK(find_number(change_of(diff, "decode"), ScopeField::kKeptBytes, "host")->value[kCurrent] == -INT64_MAX);
  CHECK(ranked(diff).size() == 2);
}
