// tests/support/decoded_pprof.h: an export in pprof's format as pprof's own reader has it, with what that checks.
#pragma once

#include "cli/write/export/pprof.h"
#include "tests/support/nasty_profile.h"

#include <catch2/catch.hpp>
#include <protozero/pbf_reader.hpp>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::test {

inline std::string unpacked(const std::string& packed) {
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

inline bool is_utf8(const std::string& text) { return escape_controls(text) == text; }  // that, and no controls

struct PprofLocation {
  uint64_t mapping = 0;
  uint64_t address = 0;
  std::vector<std::pair<uint64_t, int64_t>> lines;  // function, line
};
struct PprofMapping {
  uint64_t start = 0;
  uint64_t limit = 0;
  std::string file;
  std::string build_id;
  int flags = 0;
};
struct PprofSample {
  std::vector<uint64_t> locations;
  std::vector<int64_t> values;
  std::vector<std::string> labels;  // keys and texts in turn
};

// Reads with the numbers of profile.proto written out, and checks what CheckValid of pprof's Go package checks.
struct DecodedPprof {
  std::vector<std::string> types;
  std::vector<PprofSample> samples;
  std::vector<std::pair<uint64_t, PprofMapping>> mappings;
  std::map<uint64_t, PprofLocation> locations;
  std::map<uint64_t, std::pair<std::string, std::string>> functions;
  std::vector<std::string> strings;
  std::string default_type;
  int64_t period = 0;
  std::string dropped;

  const std::string& string(int64_t index) const { return strings.at(static_cast<size_t>(index)); }

  bool is_interval = false;  // numbers may be negative

  explicit DecodedPprof(const std::string& data, bool of_interval = false) : is_interval(of_interval) {
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
        case 7: dropped = string(top.get_int64()); break;
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
    PprofSample sample;
    while (message.next()) {
      if (message.tag() == 1) {
        for (const uint64_t id : message.get_packed_uint64()) sample.locations.push_back(id);
      } else if (message.tag() == 3) {
        protozero::pbf_reader label = message.get_message();
        while (label.next()) sample.labels.push_back(string(label.get_int64()));
      } else {
        REQUIRE(message.tag() == 2);
        for (const int64_t value : message.get_packed_int64()) sample.values.push_back(value);
      }
    }
    samples.push_back(sample);
  }
  void read_mapping(protozero::pbf_reader message) {
    uint64_t id = 0;
    PprofMapping mapping;
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
    PprofLocation location;
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
      const PprofMapping& mapping = mappings[location.mapping - 1].second;
      if (mapping.limit != 0) CHECK((location.address >= mapping.start && location.address < mapping.limit));
    }
    for (const PprofSample& sample : samples) {
      CHECK(sample.values.size() == types.size());
      CHECK_FALSE(sample.locations.empty());
      for (const uint64_t id : sample.locations) CHECK(locations.count(id) == 1);
      for (const int64_t value : sample.values) CHECK((is_interval || value >= 0));
    }
  }

  // Outermost first.
  StackSums sums(const std::string& type) const {
    const auto found = std::find(types.begin(), types.end(), type);
    REQUIRE(found != types.end());
    const auto column = static_cast<size_t>(found - types.begin());
    StackSums all;
    for (const PprofSample& sample : samples) {
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

inline DecodedPprof decoded_pprof(const Profile& profile, const ExportView& view) {
  StringSink sink;
  write_pprof(profile, view, &sink);
  return DecodedPprof(unpacked(sink.text()));
}

}  // namespace heapprof::test
