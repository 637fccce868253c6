// tests/unit/collect/device_call_names_test.cc: the names of calls that budgets may limit are those that are recorded.
#include "cli/model/profile/device_api.h"
#include "shared/events.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace heapprof;

TEST_CASE("every call that is recorded can be named in a budget, and no other") {
  std::set<std::string> recorded;
  for (uint32_t call = 0; call < 256; ++call) {
    if (const char* const name = wire::device_call_name(call); name != nullptr) recorded.insert(name);
  }
  const std::set<std::string> named(cli::kDeviceCalls.begin(), cli::kDeviceCalls.end());
  CHECK(named == recorded);
}
