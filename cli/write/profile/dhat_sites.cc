// cli/write/profile/dhat_sites.cc: columns for numbers that all sites have, lists for those that few have.
//
// A profile may have a million sites, and most numbers beyond DHAT's own are 0 for most of them. Objects with names
// would repeat each name a million times. A column costs the number alone; where only few sites have one, the list of
// their indexes and a short column beside it cost less still. Numbers beyond 2^53 are rounded by every reader that
// takes numbers as doubles (dh_view.html), so those stand here in full as well.
#include "cli/write/profile/dhat_sites.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

void write_array(const std::vector<uint64_t>& numbers, JsonWriter* json) {
  json->begin_array();
  for (const uint64_t number : numbers) json->number(number);
  json->end_array();
}

template <typename Value>
void write_column(std::string_view name, const std::vector<Site>& sites, JsonWriter* json, Value&& value) {
  json->key(name);
  json->begin_array();
  for (const Site& site : sites) json->number(value(site));
  json->end_array();
  json->new_line();
}

// Numbers of the sites (in the order of the program points) for which `is_in` holds.
template <typename IsIn>
void write_list(std::string_view name, const std::vector<Site>& sites, JsonWriter* json, IsIn&& is_in) {
  json->key(name);
  json->begin_array();
  for (size_t i = 0; i < sites.size(); ++i) {
    if (is_in(sites[i])) json->number(i);
  }
  json->end_array();
}

bool is_grouped(const Site& site) { return site.grouped_stacks > 0; }
bool is_beyond_doubles(const Site& site) {
  const SiteNumbers& n = site.numbers;
  return std::max({n.total_bytes, n.total_blocks, n.max_bytes, n.max_blocks, n.peak_bytes, n.peak_blocks,
                   n.leaked_bytes, n.leaked_blocks}) > kExactDouble;
}

bool is_resized(const Site& site) { return site.numbers.resized_blocks > 0; }
bool has_live(const Site& site) { return !site.live_bytes.empty(); }

// Few sites call realloc, few hold much for long: lists of those, not columns.
void write_resized(const std::vector<Site>& sites, JsonWriter* json) {
  if (std::none_of(sites.begin(), sites.end(), is_resized)) return;
  write_list("resized", sites, json, is_resized);
  std::vector<uint64_t> blocks;
  std::vector<uint64_t> bytes;
  for (const Site& site : sites) {
    if (!is_resized(site)) continue;
    blocks.push_back(site.numbers.resized_blocks);
    bytes.push_back(site.numbers.moved_bytes);
  }
  write_numbers("resized_count", blocks, json);
  write_numbers("moved_bytes", bytes, json);
}

void write_live(const std::vector<Site>& sites, JsonWriter* json) {
  if (std::none_of(sites.begin(), sites.end(), has_live)) return;
  write_list("sampled", sites, json, has_live);
  json->key("live_bytes");
  json->begin_array();
  for (const Site& site : sites) {
    if (has_live(site)) write_array(site.live_bytes, json);
  }
  json->end_array();
  json->new_line();
}

// Most sites have blocks of one size class: its number says it all. Else pairs of class and count.
void write_sizes(const SiteNumbers& numbers, JsonWriter* json) {
  int used = 0;
  uint64_t bucket = 0;
  for (size_t i = 0; i < numbers.sizes.size(); ++i) {
    if (numbers.sizes[i] == 0) continue;
    ++used;
    bucket = i;
  }
  if (used == 1 && numbers.sizes[bucket] == numbers.total_blocks) {
    json->number(bucket);
    return;
  }
  json->begin_array();
  for (size_t i = 0; i < numbers.sizes.size(); ++i) {
    if (numbers.sizes[i] == 0) continue;
    json->number(i);
    json->number(numbers.sizes[i]);
  }
  json->end_array();
}

// The eight numbers of a site, where one of them is too large for its place in the program point.
void write_exact_numbers(const std::vector<Site>& sites, JsonWriter* json) {
  json->key("exact_numbers");
  json->begin_array();
  for (const Site& site : sites) {
    if (!is_beyond_doubles(site)) continue;
    const SiteNumbers& n = site.numbers;
    json->begin_array();
    for (const uint64_t value : {n.total_bytes, n.total_blocks, n.max_bytes, n.max_blocks, n.peak_bytes, n.peak_blocks,
                                 n.leaked_bytes, n.leaked_blocks}) {
      json->number(value);
    }
    json->end_array();
  }
  json->end_array();
}

}  // namespace

void write_numbers(std::string_view name, const std::vector<uint64_t>& numbers, JsonWriter* json) {
  json->key(name);
  write_array(numbers, json);
  json->new_line();
}

void write_site_columns(const std::vector<Site>& sites, JsonWriter* json) {
  json->begin_object();
  write_column("temporary_count", sites, json, [](const Site& site) { return site.numbers.temporary_blocks; });
  write_column("lifetime_ns", sites, json, [](const Site& site) { return site.numbers.lifetime_ns; });
  write_column("first_leak_ns", sites, json, [](const Site& site) { return site.numbers.first_leak_ns; });
  write_column("last_leak_ns", sites, json, [](const Site& site) { return site.numbers.last_leak_ns; });
  json->key("sizes_count");
  json->begin_array();
  for (const Site& site : sites) write_sizes(site.numbers, json);
  json->end_array();
  json->new_line();
  write_list("truncated", sites, json, [](const Site& site) { return site.truncated; });
  write_list("max_is_bound", sites, json, [](const Site& site) { return site.max_is_bound; });
  write_list("grouped", sites, json, is_grouped);
  json->key("grouped_stacks_count");
  json->begin_array();
  for (const Site& site : sites) {
    if (is_grouped(site)) json->number(site.grouped_stacks);
  }
  json->end_array();
  write_resized(sites, json);
  write_live(sites, json);
  write_list("beyond_doubles", sites, json, is_beyond_doubles);
  write_exact_numbers(sites, json);
  json->end_object();
}

}  // namespace heapprof::cli
