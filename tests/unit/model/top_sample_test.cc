// tests/unit/model/top_sample_test.cc: what is sent comes out as it was; bytes that lie come to nothing.
#include "cli/model/top/top_sample.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>

using namespace heapprof::cli;

namespace {

TopSample full_sample() {
  TopSample sample;
  sample.age_ns = 7;
  sample.lost_count = 1;
  sample.scope_count = 2;
  sample.is_whole = true;
  sample.devices = {{0, "host", 1, 2, 3, 4, 5, 6, 7, 8, 9}, {16, "cuda:0", UINT64_MAX, 0, 0, 0, 0, 0, 0, 0, 0}};
  sample.sites = {{0, 1, 2, 3, 4, 5, 6}, {16, 2, 3, 4, 5, 6, 7}};
  sample.scopes = {{3, "load > parse", 1, 2, 3, 4, 5, 6}};
  return sample;
}

TopNames full_names() { return {{{"f", "a.cc:1"}, {"g", ""}}, {0, 2, 1}}; }

TopEnd full_end() { return {"exit 0", "/tmp/x.json", 9, {{"host", 1, 2, 3}}}; }

// Each prefix, one byte too many, and each byte changed: nothing, or something; never a crash.
template <typename Parse>
void attack(const std::string& bytes, const Parse& parse) {
  REQUIRE(parse(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(parse(bytes.substr(0, size)));
  CHECK_FALSE(parse(bytes + '\0'));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
      std::string changed = bytes;
      changed[i] = value;
      static_cast<void>(parse(changed));
    }
  }
}

}  // namespace

TEST_CASE("samples, names and ends come out as they went in") {
  CHECK(parse_top_sample(to_bytes(full_sample())) == full_sample());
  CHECK(parse_top_sample(to_bytes(TopSample{})) == TopSample{});
  CHECK(parse_top_names(to_bytes(full_names())) == full_names());
  CHECK(parse_top_end(to_bytes(full_end())) == full_end());
  CHECK(parse_top_processes(to_bytes(TopProcesses{{1, 4711, UINT32_MAX}})) == TopProcesses{{1, 4711, UINT32_MAX}});
}

TEST_CASE("hostile bytes are no sample, no names and no end") {
  attack(to_bytes(full_sample()), [](const std::string& bytes) { return parse_top_sample(bytes).has_value(); });
  attack(to_bytes(TopProcesses{{1, 4711}}), parse_top_processes);
  attack(to_bytes(full_names()), [](const std::string& bytes) { return parse_top_names(bytes).has_value(); });
  attack(to_bytes(full_end()), [](const std::string& bytes) { return parse_top_end(bytes).has_value(); });
}

TEST_CASE("a length that lies costs no memory") {
  std::string bytes = to_bytes(TopNames{});
  const uint64_t lie = UINT64_MAX / 16;
  std::memcpy(bytes.data(), &lie, sizeof lie);
  CHECK_FALSE(parse_top_names(bytes));
}

TEST_CASE("a site cannot have a place that there is not") {
  TopNames names = full_names();
  names.place_of_site[1] = 3;
  CHECK_FALSE(parse_top_names(to_bytes(names)));
}
