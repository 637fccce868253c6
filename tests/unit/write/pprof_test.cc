// tests/unit/write/pprof_test.cc: the protobuf holds what pprof's own reader checks, and the profile's stacks and sums.
#include "cli/write/export/pprof.h"

#include "tests/support/nasty_profile.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>
#include <protozero/pbf_reader.hpp>
#include <zlib.h>

#include <set>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

std::string unpacked(const std::string& packed) {
  z_stream zlib{};
  REQUIRE(inflateInit2(&zlib, 15 + 16) == Z_OK);
  std::string text(packed.size() * 30 + (1 << 20), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  zlib.avail_in = static_cast<uInt>(packed.size());
  zlib.next_out = reinterpret_cast<Bytef*>(text.data());
  zlib.avail_out = static_cast<uInt>(text.size());
  REQUIRE(inflate(&zlib, Z_FINISH) == Z_STREAM_END);
  text.resize(zlib.total_out);
  inflateEnd(&zlib);
  return text;
}

bool is_utf8(const std::string& text) { return escape_controls(text) == text; }  // that, and no controls

struct Location {
  uint64_t mapping = 0;
  uint64_t address = 0;
  std::vector<std::pair<uint64_t, int64_t>> lines;  // function, line
};
struct Mapping {
  uint64_t start = 0;
  uint64_t limit = 0;
  std::string file;
  std::string build_id;
  int flags = 0;
};
struct Sample {
  std::vector<uint64_t> locations;
  std::vector<int64_t> values;
};

// Reads with the numbers of profile.proto written out, and checks what CheckValid of pprof's Go package checks.
struct Decoded {
  std::vector<std::string> types;
  std::vector<Sample> samples;
  std::vector<std::pair<uint64_t, Mapping>> mappings;
  std::map<uint64_t, Location> locations;
  std::map<uint64_t, std::pair<std::string, std::string>> functions;
  std::vector<std::string> strings;
  std::string default_type;
  int64_t period = 0;

  const std::string& string(int64_t index) const { return strings.at(static_cast<size_t>(index)); }

  explicit Decoded(const std::string& data) {
    protozero::pbf_reader first(data);
    while (first.next(6)) strings.push_back(first.get_string());
    REQUIRE_FALSE(strings.empty());
    CHECK(strings[0].empty());
    for (const std::string& text : strings) CHECK(is_utf8(text));
    protozero::pbf_reader top(data);
    while (top.next()) {
      switch (top.tag()) {
        case 1: types.push_back(read_type(top.get_message())); break;
        case 2: read_sample(top.get_message()); break;
        case 3: read_mapping(top.get_message()); break;
        case 4: read_location(top.get_message()); break;
        case 5: read_function(top.get_message()); break;
        case 12: period = top.get_int64(); break;
        case 14: default_type = string(top.get_int64()); break;
        default: top.skip();
      }
    }
    check();
  }

  std::string read_type(protozero::pbf_reader message) const {
    std::string type;
    while (message.next()) type += (type.empty() ? "" : "/") + string(message.get_int64());
    return type;
  }
  void read_sample(protozero::pbf_reader message) {
    Sample sample;
    while (message.next()) {
      if (message.tag() == 1) {
        for (const uint64_t id : message.get_packed_uint64()) sample.locations.push_back(id);
      } else {
        REQUIRE(message.tag() == 2);
        for (const int64_t value : message.get_packed_int64()) sample.values.push_back(value);
      }
    }
    samples.push_back(sample);
  }
  void read_mapping(protozero::pbf_reader message) {
    uint64_t id = 0;
    Mapping mapping;
    while (message.next()) {
      switch (message.tag()) {
        case 1: id = message.get_uint64(); break;
        case 2: mapping.start = message.get_uint64(); break;
        case 3: mapping.limit = message.get_uint64(); break;
        case 5: mapping.file = string(message.get_int64()); break;
        case 6: mapping.build_id = string(message.get_int64()); break;
        default: mapping.flags += message.get_bool() ? 1 : 0;
      }
    }
    mappings.emplace_back(id, mapping);
  }
  void read_location(protozero::pbf_reader message) {
    uint64_t id = 0;
    Location location;
    while (message.next()) {
      switch (message.tag()) {
        case 1: id = message.get_uint64(); break;
        case 2: location.mapping = message.get_uint64(); break;
        case 3: location.address = message.get_uint64(); break;
        default: {
          REQUIRE(message.tag() == 4);
          protozero::pbf_reader line = message.get_message();
          auto& entry = location.lines.emplace_back();
          while (line.next()) {
            if (line.tag() == 1) {
              entry.first = line.get_uint64();
            } else {
              entry.second = line.get_int64();
            }
          }
        }
      }
    }
    CHECK(id != 0);
    CHECK(locations.emplace(id, location).second);
  }
  void read_function(protozero::pbf_reader message) {
    uint64_t id = 0;
    std::pair<std::string, std::string> function;
    while (message.next()) {
      if (message.tag() == 1) id = message.get_uint64();
      if (message.tag() == 2) function.first = string(message.get_int64());
      CHECK(message.tag() != 3);  // pprof would cut names that it takes for mangled ones
      if (message.tag() == 4) function.second = string(message.get_int64());
    }
    CHECK(id != 0);
    CHECK_FALSE(function.first.empty());
    CHECK(functions.emplace(id, function).second);
  }

  void check() const {
    std::set<uint64_t> mapping_ids;
    uint64_t end = 1;
    for (const auto& [id, mapping] : mappings) {
      CHECK(mapping_ids.insert(id).second);
      CHECK(mapping.flags == 4);
      if (mapping.limit == 0) continue;
      CHECK(mapping.start >= end);
      end = mapping.limit;
    }
    for (const auto& [id, location] : locations) {
      CHECK_FALSE(location.lines.empty());
      for (const auto& line : location.lines) CHECK(functions.count(line.first) == 1);
      if (location.mapping == 0) continue;
      REQUIRE(mapping_ids.count(location.mapping) == 1);
      const Mapping& mapping = mappings[location.mapping - 1].second;
      if (mapping.limit != 0) CHECK((location.address >= mapping.start && location.address < mapping.limit));
    }
    for (const Sample& sample : samples) {
      CHECK(sample.values.size() == types.size());
      CHECK_FALSE(sample.locations.empty());
      for (const uint64_t id : sample.locations) CHECK(locations.count(id) == 1);
      for (const int64_t value : sample.values) CHECK(value >= 0);
    }
  }

  // Outermost first.
  test::StackSums sums(const std::string& type) const {
    const auto found = std::find(types.begin(), types.end(), type);
    REQUIRE(found != types.end());
    const auto column = static_cast<size_t>(found - types.begin());
    test::StackSums all;
    for (const Sample& sample : samples) {
      if (sample.values[column] == 0) continue;
      std::vector<std::string> names;
      for (const uint64_t id : sample.locations) {
        for (const auto& line : locations.at(id).lines) names.push_back(functions.at(line.first).first);
      }
      std::reverse(names.begin(), names.end());
      all[names] += static_cast<uint64_t>(sample.values[column]);
    }
    return all;
  }
};

Decoded written(const Profile& profile, const ExportView& view) {
  StringSink sink;
  write_pprof(profile, view, &sink);
  return Decoded(unpacked(sink.text()));
}

}  // namespace

TEST_CASE("pprof's samples read back as the profile's stacks, whatever the names") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Profile profile = test::nasty_profile(seed, seed % 2 == 0);
    for (const Device& device : profile.devices) {
      CAPTURE(seed, device.name);
      const Decoded decoded = written(profile, {device.name, {}});
      CHECK((decoded.sums("alloc_objects/count") == test::stack_sums(profile, device, Metric::kAllocations)));
      CHECK((decoded.sums("alloc_space/bytes") == test::stack_sums(profile, device, Metric::kTotal)));
      CHECK((decoded.sums("inuse_space/bytes") == test::stack_sums(profile, device, Metric::kLeaked)));
      CHECK((decoded.sums("peak_space/bytes") == test::stack_sums(profile, device, Metric::kPeak)));
      CHECK((decoded.sums("temporary_objects/count") == test::stack_sums(profile, device, Metric::kTemporary)));
    }
  }
}

TEST_CASE("an inlined function is a line of its caller's location, the innermost first") {
  const Profile profile = test::assembled(test::small_sample());
  const Decoded decoded = written(profile, {});
  bool is_there = false;
  for (const auto& [id, location] : decoded.locations) {
    if (location.lines.size() < 2) continue;
    REQUIRE(location.lines.size() == 2);
    CHECK(decoded.functions.at(location.lines[0].first).first.find("std::vector<int") == 0);
    CHECK(location.lines[0].second == 1287);
    CHECK(decoded.functions.at(location.lines[1].first) ==
          std::pair<std::string, std::string>("build_index(Scene const&)", "/src/index.cc"));
    CHECK(location.lines[1].second == 212);
    is_there = true;
  }
  CHECK(is_there);
}

TEST_CASE("the executable is the first mapping, with its build id, and nothing is left to look up") {
  Profile profile = test::assembled(test::small_sample());
  std::swap(profile.modules[0], profile.modules[1]);
  for (Frame& frame : profile.frames) {
    if (frame.module < 2) frame.module = 1 - frame.module;
  }
  const Decoded decoded = written(profile, {});
  REQUIRE(decoded.mappings.size() >= 2);
  CHECK(decoded.mappings[0].second.file == "/opt/app/render");
  CHECK(decoded.mappings[0].second.build_id == "c0ffee");
  CHECK(decoded.period == 1);
}

TEST_CASE("pprof shows the peak first, or what is asked for") {
  Profile profile = test::assembled(test::small_sample());
  CHECK(written(profile, {}).default_type == "peak_space");
  CHECK(written(profile, {"", Metric::kAllocations}).default_type == "alloc_objects");
  CHECK(written(profile, {"", Metric::kLeaked}).default_type == "inuse_space");
  profile.has_lifetimes = false;
  profile.dialect = Dialect::kDhatRs;
  CHECK(written(profile, {}).types == std::vector<std::string>{"alloc_objects/count", "alloc_space/bytes"});
  CHECK(written(profile, {}).default_type == "alloc_space");
}

TEST_CASE("equal profiles give equal pprof files") {
  StringSink first;
  StringSink second;
  write_pprof(test::nasty_profile(3, true), {}, &first);
  write_pprof(test::nasty_profile(3, true), {}, &second);
  CHECK(first.text() == second.text());
}
