// cli/write/profile/dhat_sites.cc: columns for numbers that all sites have, lists for those that few have.
//
// A profile may have a million sites, and most numbers beyond DHAT's own are 0 for most of them. Objects with names
// would repeat each name a million times. A column costs only the numbers; if few sites have one, a list of their
// indexes and a short column cost even less. Readers that take numbers as doubles (dh_view.html) round numbers beyond
// 2^53, so those are also here in full.
#include "cli/write/profile/dhat_sites.h"

#include "cli/model/profile/site_fields.h"

#include <algorithm>
#include <string>

namespace heapprof::cli {
namespace {

void write_array(const std::vector<uint64_t>& numbers, JsonWriter* json) {
  json->begin_array();
  for (const uint64_t number : numbers) json->number(number);
  json->end_array();
}

// Writes the indexes (in the order of the program points) of the sites for which `is_in` holds.
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
  return std::any_of(kPointFields.begin(), kPointFields.end(),
                     [&](const SiteField& field) { return site.numbers.*field.number > kExactDouble; });
}
bool has_live(const Site& site) { return !site.live_bytes.empty(); }
bool has_steps(const Site& site) { return !site.steps.empty(); }
bool has_stays(const Site& site) { return !site.stays.empty(); }
bool has_spread(const Site& site) { return !site.spread.empty(); }

void write_columns(const std::vector<Site>& sites, JsonWriter* json) {
  for (const SiteField& field : kSiteFields) {
    if (field.kept != SiteField::Kept::kColumn) continue;
    json->key(field.key);
    json->begin_array();
    for (const Site& site : sites) json->number(site.numbers.*field.number);
    json->end_array();
    json->new_line();
  }
}

// Few sites call realloc, and few have blocks of several sizes. So these numbers are in lists, not in columns.
void write_listed(const std::vector<Site>& sites, JsonWriter* json) {
  for (const SiteListName& it : kSiteLists) {
    if (std::none_of(sites.begin(), sites.end(), [&](const Site& site) { return has_any(site.numbers, it); })) continue;
    const auto is_in = [&](const Site& site) { return is_listed(site.numbers, it); };
    write_list(it.key, sites, json, is_in);
    for (const SiteField& field : kSiteFields) {
      if (field.list != it.list) continue;
      std::vector<uint64_t> column;
      for (const Site& site : sites) {
        if (is_in(site)) column.push_back(site.numbers.*field.number);
      }
      write_numbers(field.key, column, json);
    }
  }
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

void write_steps(const std::vector<Site>& sites, JsonWriter* json) {
  if (std::none_of(sites.begin(), sites.end(), has_steps)) return;
  write_list("stepped", sites, json, has_steps);
  json->key("steps");
  json->begin_array();
  for (const Site& site : sites) {
    if (!has_steps(site)) continue;
    json->begin_array();
    for (const SiteStep& step : site.steps) {
      json->number(step.snapshot);
      json->number(step.live_bytes);
      json->number(step.live_blocks);
    }
    json->end_array();
  }
  json->end_array();
  json->new_line();
}

void write_stays(const std::vector<Site>& sites, JsonWriter* json) {
  if (std::none_of(sites.begin(), sites.end(), has_stays)) return;
  write_list("stayed", sites, json, has_stays);
  json->key("stays");
  json->begin_array();
  for (const Site& site : sites) {
    if (!has_stays(site)) continue;
    json->begin_array();
    for (const Stay& stay : site.stays) {
      json->number(stay.begin);
      json->number(stay.end);
      json->number(stay.bytes);
      json->number(stay.blocks);
    }
    json->end_array();
  }
  json->end_array();
  json->new_line();
}

void write_spreads(const std::vector<Site>& sites, JsonWriter* json) {
  if (std::none_of(sites.begin(), sites.end(), has_spread)) return;
  write_list("spread", sites, json, has_spread);
  const auto column = [&](const std::string& key, auto number_of) {
    std::vector<uint64_t> numbers;
    for (const Site& site : sites) {
      if (has_spread(site)) numbers.push_back(number_of(site.spread[0]));
    }
    write_numbers(key, numbers, json);
  };
  column("inputs_count", [](const SiteSpread& spread) { return spread.inputs; });
  for (size_t i = 0; i < kSpreadFields; ++i) {
    const std::string name(spread_fields()[i].name);
    column(name + "_min_bytes", [i](const SiteSpread& spread) { return spread.of[i].min; });
    column(name + "_max_bytes", [i](const SiteSpread& spread) { return spread.of[i].max; });
    column(name + "_max_input", [i](const SiteSpread& spread) { return spread.of[i].max_input; });
  }
}

// If all blocks of a site are of one size class, as at most sites, only the class is written; else pairs of class and
// count.
void write_sizes(const SizedNumbers& numbers, bool is_coarse, JsonWriter* json) {
  const auto class_of = [is_coarse](int bucket) {
    return static_cast<uint64_t>(is_coarse ? coarse_of_bucket(bucket) : bucket + kSmallestBucketBits);
  };
  int used = 0;
  int last = 0;
  numbers.sizes.for_each_used([&](int bucket, uint64_t) {
    ++used;
    last = bucket;
  });
  if (used == 1 && numbers.sizes[last] == numbers.total_blocks) {
    json->number(class_of(last));
    return;
  }
  json->begin_array();
  numbers.sizes.for_each_used([&](int bucket, uint64_t blocks) {
    json->number(class_of(bucket));
    json->number(blocks);
  });
  json->end_array();
}

// Writes all numbers of those program points that have a number too large for its field there.
void write_exact_numbers(const std::vector<Site>& sites, JsonWriter* json) {
  json->key("exact_numbers");
  json->begin_array();
  for (const Site& site : sites) {
    if (!is_beyond_doubles(site)) continue;
    json->begin_array();
    for (const SiteField& field : kPointFields) json->number(site.numbers.*field.number);
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

void write_site_columns(const std::vector<Site>& sites, bool has_coarse_sizes, JsonWriter* json) {
  json->begin_object();
  write_columns(sites, json);
  json->key(has_coarse_sizes ? "sizes_count" : "block_sizes_count");
  json->begin_array();
  for (const Site& site : sites) write_sizes(site.numbers, has_coarse_sizes, json);
  json->end_array();
  json->new_line();
  for (const SiteFlag& it : kSiteFlags)
    write_list(it.key, sites, json, [&](const Site& site) { return site.*it.flag; });
  write_list("grouped", sites, json, is_grouped);
  json->key("grouped_stacks_count");
  json->begin_array();
  for (const Site& site : sites) {
    if (is_grouped(site)) json->number(site.grouped_stacks);
  }
  json->end_array();
  write_listed(sites, json);
  write_live(sites, json);
  write_steps(sites, json);
  write_stays(sites, json);
  write_spreads(sites, json);
  write_list("beyond_doubles", sites, json, is_beyond_doubles);
  write_exact_numbers(sites, json);
  json->end_object();
}

}  // namespace heapprof::cli
