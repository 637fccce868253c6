// tests/unit/model/operators_test.cc: what operators came to, each block and moment once.
#include "cli/model/analysis/operators.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

Scope scope(uint32_t parent, const std::string& name, uint64_t bytes, bool is_operator = true) {
  Scope result;
  result.parent = parent;
  result.name = name;
  result.is_operator = is_operator;
  result.begun = result.ended = 1;
  result.time_ns = result.own_time_ns = bytes;
  result.memory = {{"host", bytes, 1, 0, 0, 0}, {"cuda:0/tensors", 2 * bytes, 1, 0, 0, 0}};
  return result;
}

uint64_t bytes_of(const std::vector<ScopeMemory>& memory, const std::string& device = "host") {
  for (const ScopeMemory& of_device : memory) {
    if (of_device.device == device) return of_device.allocated_bytes;
  }
  return 0;
}

const OperatorSum& named(const std::vector<OperatorSum>& sums, const std::string& name) {
  for (const OperatorSum& sum : sums) {
    if (sum.name == name) return sum;
  }
  throw std::runtime_error("no operator of that name");
}

}  // namespace

TEST_CASE("backward work stands with its operator, with what was done inside of it, and nowhere else") {
  Scopes scopes;
  scopes.scopes = {scope(0, "step", 1, false), scope(1, "aten::linear", 10), scope(2, "aten::addmm", 100),
                   scope(1, "AddmmBackward0", 1000), scope(4, "aten::mm", 10'000)};
  scopes.scopes[3].time_ns = 11'000;
  scopes.scopes[3].backward_of = {{"step > aten::linear > aten::addmm",
                                   1,
                                   11'000,
                                   {{"host", 11'000, 2, 0, 0, 0}, {"cuda:0/tensors", 22'000, 2, 0, 0, 0}}}};
  const std::vector<OperatorSum> sums = sum_operators(scopes);
  REQUIRE(sums.size() == 2);
  CHECK(sums[0].name == "aten::addmm");  // by the time with that of the backward pass
  CHECK(bytes_of(sums[0].memory) == 100);
  CHECK(bytes_of(sums[0].memory, "cuda:0/tensors") == 200);
  CHECK(sums[0].backward_begun == 1);
  CHECK(sums[0].backward_time_ns == 11'000);
  CHECK(bytes_of(sums[0].backward_memory) == 11'000);
  CHECK(bytes_of(sums[0].backward_memory, "cuda:0/tensors") == 22'000);
  CHECK(bytes_of(named(sums, "aten::linear").memory) == 10);
}

TEST_CASE("what a function did for no operator that is known is its own") {
  Scopes scopes;
  scopes.scopes = {scope(0, "aten::add", 1), scope(0, "AddBackward0", 50)};
  scopes.scopes[1].begun = 5;
  scopes.scopes[1].backward_of = {{"aten::add", 2, 20, {{"host", 20, 1, 0, 0, 0}}}};
  const std::vector<OperatorSum> sums = sum_operators(scopes);
  CHECK(named(sums, "aten::add").backward_begun == 2);
  const OperatorSum& rest = named(sums, "AddBackward0");
  CHECK(rest.begun == 3);
  CHECK(rest.own_time_ns == 30);
  CHECK(bytes_of(rest.memory) == 30);
  CHECK(bytes_of(rest.memory, "cuda:0/tensors") == 100);
}

TEST_CASE("numbers of a hostile profile do not run below zero") {
  Scopes scopes;
  scopes.scopes = {scope(0, "F", 1)};
  scopes.scopes[0].backward_of = {{"", UINT64_MAX, UINT64_MAX, {{"host", UINT64_MAX, UINT64_MAX, 7, 7, 7}}},
                                  {"x", UINT64_MAX, UINT64_MAX, {{"host", UINT64_MAX, UINT64_MAX, 7, 7, 7}}}};
  const std::vector<OperatorSum> sums = sum_operators(scopes);
  CHECK(sums.size() == 2);
}

TEST_CASE("without operators there are no sums") {
  Scopes scopes;
  CHECK(sum_operators(scopes).empty());
  scopes.scopes = {scope(0, "a::b", 1, false)};
  CHECK(sum_operators(scopes).empty());
}

TEST_CASE("scopes of one parent and name are one, with the work for all operators") {
  Scopes scopes;
  scopes.scopes = {scope(0, "F", 1), scope(0, "F", 2), scope(0, "F", 4)};
  scopes.scopes[0].backward_of = {{"b", 1, 5, {{"host", 1, 1, 0, 0, 0}}}};
  scopes.scopes[1].backward_of = {{"a", 1, 6, {{"host", 2, 1, 0, 0, 0}}}};
  scopes.scopes[2].backward_of = {{"b", 3, 7, {{"host", 4, 1, 0, 0, 0}}}};
  sort_scopes(&scopes);
  REQUIRE(scopes.scopes.size() == 1);
  const std::vector<BackwardWork>& works = scopes.scopes[0].backward_of;
  REQUIRE(works.size() == 2);
  CHECK(works[0].operator_path == "a");
  CHECK(works[1].begun == 4);
  CHECK(works[1].time_ns == 12);
  CHECK(bytes_of(works[1].memory) == 5);
}
