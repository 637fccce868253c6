// tests/unit/symbolize/code_calls_test.cc: what a return address says of the call before it.
#include "cli/symbolize/code_calls.h"

#include "cli/arch/arch.h"

#include <catch2/catch.hpp>

#include <vector>

using heapprof::cli::direct_call_distance;

namespace {

int64_t distance(std::vector<uint8_t> code) { return direct_call_distance(code); }

}  // namespace

TEST_CASE("a direct call has its distance") {
  CHECK(distance({0xe8, 0x10, 0, 0, 0}) == 0x10);
  CHECK(distance({0x90, 0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff}) == -0x10);
  CHECK(distance({0xe8, 0, 1, 0, 0}) == 0x100);
}

TEST_CASE("a call through a pointer has none, whatever its bytes") {
  CHECK(distance({}) == 0);
  CHECK(distance({0xe8, 0x10, 0, 0}) == 0);
  CHECK(distance({0x90, 0x90, 0x90, 0xff, 0xd0}) == 0);        // call *%rax
  CHECK(distance({0xff, 0x15, 0x10, 0, 0, 0}) == 0);           // call *0x10(%rip)
  CHECK(distance({0xe8, 1, 2, 0xff, 0xd0}) == 0);              // call *%rax behind other code
  CHECK(distance({0xe8, 1, 0xff, 0x50, 0x18}) == 0);           // call *0x18(%rax)
  CHECK(distance({0xe8, 0xff, 0x54, 0x24, 0x08}) == 0);        // call *8(%rsp)
  CHECK(distance({0xe8, 1, 0xff, 0x14, 0xc8}) == 0);           // call *(%rax,%rcx,8)
  CHECK(distance({0xff, 0x94, 0xe8, 0x10, 0, 0, 0}) == 0);     // call *0x10(%rax,%rbp,8)
  CHECK(distance({0xff, 0x14, 0xe5, 0x10, 0, 0, 0}) == 0);     // call *0x10(,%riz,8)
  CHECK(distance({0x90, 0xff, 0xe8, 0x10, 0, 0, 0}) == 0x10);  // FF is no call there
}
