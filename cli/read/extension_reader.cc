// cli/read/extension_reader.cc: one function per object of the format, in the order of man/heapprof-format.5.
#include "cli/read/extension_reader.h"

#include "cli/read/device_reader.h"
#include "cli/read/field_reader.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr uint64_t kTotal = UINT64_MAX;  // in SiteColumns::sizes: all of the site's blocks

void read_numbers(JsonPull* json, std::vector<uint64_t>* numbers) {
  if (!json->begin_array()) return;
  uint64_t value = 0;
  while (json->next_element() && json->read_unsigned(&value)) numbers->push_back(value);
}

// Elements are a class alone, or an array of pairs.
void read_sizes(JsonPull* json, SiteColumns* columns) {
  if (!json->begin_array()) return;
  uint64_t value = 0;
  while (json->next_element()) {
    if (json->peek_kind() == '[') {
      read_numbers(json, &columns->sizes);
      if (columns->sizes.size() % 2 != 0) json->fail("sizes_count holds an odd number of numbers");
    } else if (json->read_unsigned(&value)) {
      columns->sizes.insert(columns->sizes.end(), {value, kTotal});
    }
    if (columns->sizes.size() > UINT32_MAX) json->fail("sizes_count is longer than heapprof reads");
    if (json->failed()) return;
    columns->sizes_end.push_back(static_cast<uint32_t>(columns->sizes.size()));
  }
}

void read_exact_numbers(JsonPull* json, SiteColumns* columns) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    const size_t before = columns->exact_numbers.size();
    read_numbers(json, &columns->exact_numbers);
    if (columns->exact_numbers.size() - before != 8) json->fail("exact_numbers does not hold eight numbers a site");
  }
}

// As many lists as there are sampled sites; all together in one column.
void read_live(JsonPull* json, SiteColumns* columns) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    read_numbers(json, &columns->live_bytes);
    columns->live_end.push_back(columns->live_bytes.size());
  }
}

constexpr std::array<std::string_view, 16> kColumnKeys = {
    "temporary_count",      "lifetime_ns",    "first_leak_ns", "last_leak_ns",
    "sizes_count",          "truncated",      "max_is_bound",  "grouped",
    "grouped_stacks_count", "beyond_doubles", "exact_numbers", "resized",
    "resized_count",        "moved_bytes",    "sampled",       "live_bytes"};

void read_columns(JsonPull* json, SiteColumns* columns) {
  if (!json->begin_object()) return;
  KeySet<kColumnKeys.size()> keys(kColumnKeys);
  std::string key;
  while (json->next_key(&key)) {
    switch (keys.take(key, json)) {
      case 0: read_numbers(json, &columns->temporary_blocks); break;
      case 1: read_numbers(json, &columns->lifetime_ns); break;
      case 2: read_numbers(json, &columns->first_leak_ns); break;
      case 3: read_numbers(json, &columns->last_leak_ns); break;
      case 4: read_sizes(json, columns); break;
      case 5: read_numbers(json, &columns->truncated); break;
      case 6: read_numbers(json, &columns->max_is_bound); break;
      case 7: read_numbers(json, &columns->grouped); break;
      case 8: read_numbers(json, &columns->grouped_stacks); break;
      case 9: read_numbers(json, &columns->beyond_doubles); break;
      case 10: read_exact_numbers(json, columns); break;
      case 11: read_numbers(json, &columns->resized); break;
      case 12: read_numbers(json, &columns->resized_blocks); break;
      case 13: read_numbers(json, &columns->moved_bytes); break;
      case 14: read_numbers(json, &columns->sampled); break;
      case 15: read_live(json, columns); break;
      default: json->skip_value();
    }
  }
}

constexpr std::array<std::string_view, 3> kTimelineKeys = {"bucket_ns", "min_bytes", "max_bytes"};

void read_timeline(JsonPull* json, Timeline* timeline) {
  if (!json->begin_object()) return;
  KeySet<kTimelineKeys.size()> keys(kTimelineKeys);
  std::vector<uint64_t> smallest;
  std::vector<uint64_t> largest;
  std::string key;
  while (json->next_key(&key)) {
    switch (keys.take(key, json)) {
      case 0: json->read_unsigned(&timeline->bucket_ns); break;
      case 1: read_numbers(json, &smallest); break;
      case 2: read_numbers(json, &largest); break;
      default: json->skip_value();
    }
  }
  if (smallest.size() != largest.size()) json->fail("a timeline has more minima than maxima, or fewer");
  if (json->failed()) return;
  for (size_t i = 0; i < smallest.size(); ++i) timeline->buckets.push_back({smallest[i], largest[i]});
}

constexpr std::array<std::string_view, 12> kDeviceKeys = {"name",       "totals",   "timeline",    "pps",
                                                          "sites",      "identity", "limit_bytes", "refusals",
                                                          "moments_ns", "held",     "unseen",      "use"};

void read_device(JsonPull* json, PointReader* points, Extension* extension) {
  const bool is_host = extension->devices.empty();
  Device& device = extension->devices.emplace_back();
  SiteColumns& columns = extension->columns.emplace_back();
  if (!json->begin_object()) return;
  KeySet<kDeviceKeys.size()> keys(kDeviceKeys);
  std::string key;
  while (json->next_key(&key)) {
    switch (keys.take(key, json)) {
      case 0: read_text(json, &device.name); break;
      case 1: read_struct(json, [&](FieldReader& reader) { visit_totals(device.totals, reader); }); break;
      case 2: read_timeline(json, &device.timeline); break;
      case 3:
        if (is_host) json->fail("the first device's program points are DHAT's own");
        points->read(json, &device.sites);
        break;
      case 4: read_columns(json, &columns); break;
      case 5: read_struct(json, [&](FieldReader& reader) { visit_identity(device.identity, reader); }); break;
      case 6: json->read_unsigned(&device.limit_bytes); break;
      case 7: read_refusals(json, points, &device.refusals); break;
      case 8: read_numbers(json, &device.moments_ns); break;
      case 9: read_struct(json, [&](FieldReader& reader) { visit_held(device.held, reader); }); break;
      case 10: read_unseen(json, points, &device.unseen); break;
      case 11: read_struct(json, [&](FieldReader& reader) { visit_use(device.use, reader); }); break;
      default: json->skip_value();
    }
  }
}

void read_frame_modules(JsonPull* json, Extension* extension) {
  extension->has_frame_modules = true;
  if (!json->begin_array()) return;
  int64_t value = 0;
  while (json->next_element() && json->read_signed(&value)) extension->frame_modules.push_back(value);
}

constexpr std::array<std::string_view, 3> kFrameKeys = {"module", "inlined", "exact"};

void read_frames(JsonPull* json, Extension* extension) {
  if (!json->begin_object()) return;
  KeySet<kFrameKeys.size()> keys(kFrameKeys);
  std::string key;
  while (json->next_key(&key)) {
    switch (keys.take(key, json)) {
      case 0: read_frame_modules(json, extension); break;
      case 1: read_numbers(json, &extension->inlined_frames); break;
      case 2:
        read_structs(json, &extension->exact_frames, [](ExactFrame& exact, FieldReader& reader) {
          reader("frame", exact.frame);
          reader("svma", exact.parts.svma);
          reader("function", exact.parts.function);
          reader("file", exact.parts.file);
          reader("line", exact.parts.line);
        });
        break;
      default: json->skip_value();
    }
  }
}

void read_dialect(JsonPull* json, Dialect* dialect) {
  std::string name;
  if (!json->read_string(&name)) return;
  if (const auto known = parse_dialect(name)) {
    *dialect = *known;
  } else {
    json->fail("the dialect \"" + escape_controls(name) + "\" is unknown");
  }
}

bool set_flags(const std::vector<uint64_t>& numbers, std::vector<Site>* sites, bool Site::*flag) {
  for (const uint64_t site : numbers) {
    if (site >= sites->size()) return false;
    (*sites)[site].*flag = true;
  }
  return true;
}

bool set_numbers(const std::vector<uint64_t>& column, std::vector<Site>* sites, uint64_t SiteNumbers::*number) {
  if (column.empty()) return true;
  if (column.size() != sites->size()) return false;
  for (size_t i = 0; i < column.size(); ++i) (*sites)[i].numbers.*number = column[i];
  return true;
}

bool set_sizes(const SiteColumns& columns, std::vector<Site>* sites) {
  if (columns.sizes_end.empty()) return true;
  if (columns.sizes_end.size() != sites->size()) return false;
  size_t at = 0;
  for (size_t i = 0; i < sites->size(); ++i) {
    SiteNumbers& numbers = (*sites)[i].numbers;
    for (; at < columns.sizes_end[i]; at += 2) {
      const uint64_t bucket = columns.sizes[at];
      if (bucket >= numbers.sizes.size()) return false;
      numbers.sizes[bucket] = columns.sizes[at + 1] == kTotal ? numbers.total_blocks : columns.sizes[at + 1];
    }
  }
  return true;
}

bool set_grouped(const SiteColumns& columns, std::vector<Site>* sites) {
  if (columns.grouped.size() != columns.grouped_stacks.size()) return false;
  for (size_t i = 0; i < columns.grouped.size(); ++i) {
    if (columns.grouped[i] >= sites->size()) return false;
    (*sites)[columns.grouped[i]].grouped_stacks = columns.grouped_stacks[i];
  }
  return true;
}

bool set_resized(const SiteColumns& columns, std::vector<Site>* sites) {
  const size_t count = columns.resized.size();
  if (columns.resized_blocks.size() != count || columns.moved_bytes.size() != count) return false;
  for (size_t i = 0; i < count; ++i) {
    if (columns.resized[i] >= sites->size()) return false;
    SiteNumbers& numbers = (*sites)[columns.resized[i]].numbers;
    numbers.resized_blocks = columns.resized_blocks[i];
    numbers.moved_bytes = columns.moved_bytes[i];
  }
  return true;
}

bool set_live(const SiteColumns& columns, std::vector<Site>* sites, size_t moments) {
  if (columns.sampled.size() != columns.live_end.size()) return false;
  size_t at = 0;
  for (size_t i = 0; i < columns.sampled.size(); ++i) {
    if (columns.sampled[i] >= sites->size() || columns.live_end[i] - at != moments) return false;
    const auto first = columns.live_bytes.begin() + static_cast<std::ptrdiff_t>(at);
    (*sites)[columns.sampled[i]].live_bytes.assign(first, first + static_cast<std::ptrdiff_t>(moments));
    at = columns.live_end[i];
  }
  return true;
}

bool set_exact_numbers(const SiteColumns& columns, std::vector<Site>* sites) {
  if (columns.beyond_doubles.size() * 8 != columns.exact_numbers.size()) return false;
  for (size_t i = 0; i < columns.beyond_doubles.size(); ++i) {
    if (columns.beyond_doubles[i] >= sites->size()) return false;
    SiteNumbers& n = (*sites)[columns.beyond_doubles[i]].numbers;
    const uint64_t* value = &columns.exact_numbers[8 * i];
    for (uint64_t* number : {&n.total_bytes, &n.total_blocks, &n.max_bytes, &n.max_blocks, &n.peak_bytes,
                             &n.peak_blocks, &n.leaked_bytes, &n.leaked_blocks}) {
      *number = *value++;
    }
  }
  return true;
}

constexpr std::array<std::string_view, 17> kExtensionKeys = {
    "version", "dialect",  "time_unit", "run",    "machine", "coverage",      "counters",
    "cost",    "threads",  "modules",   "frames", "devices", "other_threads", "unprofiled_programs",
    "merged",  "unwinder", "device_api"};

}  // namespace

void read_extension(JsonPull* json, PointReader* points, Extension* extension) {
  if (!json->begin_object()) return;
  KeySet<kExtensionKeys.size()> keys(kExtensionKeys);
  RunInfo& run = extension->run;
  std::string key;
  while (json->next_key(&key)) {
    switch (keys.take(key, json)) {
      case 0:
        json->read_unsigned(&extension->version);
        if (!json->failed() && extension->version != kExtensionVersion) {
          json->fail("the extension has another version");
        }
        break;
      case 1: read_dialect(json, &extension->dialect); break;
      case 2: read_text(json, &extension->time_unit); break;
      case 3: read_struct(json, [&](FieldReader& reader) { visit_run(run, reader); }); break;
      case 4: read_struct(json, [&](FieldReader& reader) { visit_machine(run.machine, reader); }); break;
      case 5: read_struct(json, [&](FieldReader& reader) { visit_coverage(run.coverage, reader); }); break;
      case 6: read_struct(json, [&](FieldReader& reader) { visit_counters(run.counters, reader); }); break;
      case 7: read_struct(json, [&](FieldReader& reader) { visit_cost(run.cost, reader); }); break;
      case 8:
        read_structs(json, &run.threads, [](Thread& thread, FieldReader& reader) { visit_thread(thread, reader); });
        break;
      case 9:
        read_structs(json, &extension->modules,
                     [](ProfileModule& module, FieldReader& reader) { visit_module(module, reader); });
        break;
      case 10: read_frames(json, extension); break;
      case 11:
        if (!json->begin_array()) break;
        while (json->next_element() && !json->failed()) read_device(json, points, extension);
        break;
      case 12: read_struct(json, [&](FieldReader& reader) { visit_thread(run.other_threads, reader); }); break;
      case 13:
        read_structs(json, &run.coverage.unprofiled_programs, [](UnprofiledProgram& program, FieldReader& reader) {
          visit_unprofiled_program(program, reader);
        });
        break;
      case 14:
        read_structs(json, &extension->merged,
                     [](MergedPart& part, FieldReader& reader) { visit_merged_part(part, reader); });
        break;
      case 15: read_struct(json, [&](FieldReader& reader) { visit_unwinder(run.unwinder, reader); }); break;
      case 16: read_api(json, points, &extension->api); break;
      default: json->skip_value();
    }
  }
  if (!keys.has(0)) json->fail("the key \"heapprof\" holds no version");
}

bool apply_columns(const SiteColumns& columns, Device* device, std::string* reason) {
  std::vector<Site>* sites = &device->sites;
  *reason = "the columns of \"sites\" do not fit the program points";
  return set_exact_numbers(columns, sites) &&
         set_numbers(columns.temporary_blocks, sites, &SiteNumbers::temporary_blocks) &&
         set_numbers(columns.lifetime_ns, sites, &SiteNumbers::lifetime_ns) &&
         set_numbers(columns.first_leak_ns, sites, &SiteNumbers::first_leak_ns) &&
         set_numbers(columns.last_leak_ns, sites, &SiteNumbers::last_leak_ns) && set_sizes(columns, sites) &&
         set_flags(columns.truncated, sites, &Site::truncated) &&
         set_flags(columns.max_is_bound, sites, &Site::max_is_bound) && set_grouped(columns, sites) &&
         set_resized(columns, sites) && set_live(columns, sites, device->moments_ns.size());
}

}  // namespace heapprof::cli
