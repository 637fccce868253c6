// cli/model/top/top_sample.h: what a collector sends to a client: the current numbers, of sites only those that changed
// since the last request; names; and how the process ended.
//
// Guarantees
//  - Parsing returns what was encoded, or nullopt: every length is checked, and no bytes may be left over.
// Trust:    bytes are untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct TopDevice {
  uint32_t number = 0;  // does not change when other devices appear
  std::string name;
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
  uint64_t peak_bytes = 0;
  uint64_t peak_ns = 0;      // since the start
  uint64_t limit_bytes = 0;  // of `run --limit`; 0: none
  uint64_t refused_count = 0;
  // Of all blocks ever. Set only in totals (TopAsk::kTotals in cli/target/top_wire.h); a sample has these numbers in
  // its sites.
  uint64_t total_bytes = 0;
  uint64_t total_blocks = 0;
  uint64_t temporary_blocks = 0;

  bool operator==(const TopDevice&) const = default;
};

struct TopSite {
  uint32_t device = 0;  // TopDevice::number
  uint32_t site = 0;
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
  uint64_t total_bytes = 0;
  uint64_t total_blocks = 0;
  uint64_t temporary_blocks = 0;

  bool operator==(const TopSite&) const = default;
};

struct TopScope {
  uint32_t id = 0;
  std::string path;  // "load > json: parse"
  uint64_t begun_count = 0;
  uint64_t open_count = 0;  // just now
  uint64_t time_ns = 0;     // total time of runs that have ended
  uint64_t allocated_bytes = 0;
  uint64_t freed_bytes = 0;
  uint64_t peak_inside_bytes = 0;

  bool operator==(const TopScope&) const = default;
};

struct TopSample {
  uint64_t age_ns = 0;
  uint64_t lost_count = 0;   // events
  uint64_t scope_count = 0;  // of all scopes; `scopes` has those that allocated most
  bool is_whole = false;     // false: more sites follow, which the client requests at once
  std::vector<TopDevice> devices;
  std::vector<TopSite> sites;
  std::vector<TopScope> scopes;  // only in the last part

  bool operator==(const TopSample&) const = default;
};

struct TopPlace {
  std::string function;
  std::string location;

  bool operator==(const TopPlace&) const = default;
};

// The names of all sites whose names were known at the time of the request.
struct TopNames {
  std::vector<TopPlace> places;
  std::vector<uint32_t> place_of_site;  // by site: its place, from 1; 0: not known yet

  bool operator==(const TopNames&) const = default;
};

// The processes of a run that are being profiled.
struct TopProcesses {
  std::vector<uint32_t> pids;

  bool operator==(const TopProcesses&) const = default;
};

// The result of a process.
struct TopEnd {
  std::string how;   // "exit 0"
  std::string path;  // path of its profile; empty: not written, or not yet
  uint64_t duration_ns = 0;
  struct Device {
    std::string name;
    uint64_t peak_bytes = 0;
    uint64_t leaked_bytes = 0;
    uint64_t total_blocks = 0;

    bool operator==(const Device&) const = default;
  };
  std::vector<Device> devices;

  bool operator==(const TopEnd&) const = default;
};

std::string to_bytes(const TopSample& sample);
std::string to_bytes(const TopNames& names);
std::string to_bytes(const TopProcesses& processes);
std::string to_bytes(const TopEnd& end);

std::optional<TopSample> parse_top_sample(std::string_view bytes);
std::optional<TopNames> parse_top_names(std::string_view bytes);
std::optional<TopProcesses> parse_top_processes(std::string_view bytes);
std::optional<TopEnd> parse_top_end(std::string_view bytes);

}  // namespace heapprof::cli
