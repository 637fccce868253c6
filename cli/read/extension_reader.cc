// cli/read/extension_reader.cc: one function per object of the format, in the order of man/heapprof-format.5.
#include "cli/read/extension_reader.h"

#include "cli/read/extension_parts.h"
#include "cli/read/field_reader.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr uint64_t kTotal = UINT64_MAX;  // a count in SiteColumns::sizes: all of the site's blocks

// Each element is one class, which all the site's blocks have, or an array of pairs of a class and a count.
void read_sizes(JsonPull* json, bool are_coarse, SiteColumns* columns) {
  columns->has_coarse_sizes = are_coarse;
  if (!json->begin_array()) return;
  uint64_t value = 0;
  while (json->next_element()) {
    if (json->peek_kind() == '[') {
      read_numbers(json, &columns->sizes);
      if (columns->sizes.size() % 2 != 0) json->fail("counts of sizes are an odd number of numbers");
    } else if (json->read_unsigned(&value)) {
      columns->sizes.insert(columns->sizes.end(), {value, kTotal});
    }
    if (columns->sizes.size() > UINT32_MAX) json->fail("there are more counts of sizes than heapprof reads");
    if (json->failed()) return;
    columns->sizes_end.push_back(static_cast<uint32_t>(columns->sizes.size()));
  }
}

void read_exact_numbers(JsonPull* json, SiteColumns* columns) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    const size_t before = columns->exact_numbers.size();
    read_numbers(json, &columns->exact_numbers);
    if (columns->exact_numbers.size() - before != kPointFields.size())
      json->fail("exact_numbers does not hold eight numbers a site");
  }
}

// Reads one list for each site of another list, and joins them in one column; *ends has the end of each.
void read_lists(JsonPull* json, std::vector<uint64_t>* numbers, std::vector<size_t>* ends) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) {
    read_numbers(json, numbers);
    ends->push_back(numbers->size());
  }
}

void read_columns(JsonPull* json, SiteColumns* columns) {
  const auto numbers = [json](std::string_view name, std::vector<uint64_t>* column) {
    return MemberReader::Member{name, [json, column] { read_numbers(json, column); }};
  };
  std::vector<MemberReader::Member> members = {
      {"block_sizes_count", [&] { read_sizes(json, false, columns); }},
      {"sizes_count", [&] { read_sizes(json, true, columns); }},
      numbers("grouped", &columns->grouped),
      numbers("grouped_stacks_count", &columns->grouped_stacks),
      numbers("beyond_doubles", &columns->beyond_doubles),
      {"exact_numbers", [&] { read_exact_numbers(json, columns); }},
      numbers("sampled", &columns->sampled),
      {"live_bytes", [&] { read_lists(json, &columns->live_bytes, &columns->live_end); }},
      numbers("stepped", &columns->stepped),
      {"steps", [&] { read_lists(json, &columns->steps, &columns->steps_end); }},
      numbers("stayed", &columns->stayed),
      {"stays", [&] { read_lists(json, &columns->stays, &columns->stays_end); }},
  };
  for (size_t i = 0; i < kSiteFields.size(); ++i) {
    if (kSiteFields[i].kept != SiteField::Kept::kPoint)
      members.push_back(numbers(kSiteFields[i].key, &columns->numbers[i]));
  }
  for (size_t i = 0; i < kSiteLists.size(); ++i) {
    members.push_back({kSiteLists[i].key, [json, columns, i] {
                         columns->has_list[i] = true;
                         read_numbers(json, &columns->lists[i]);
                       }});
  }
  for (size_t i = 0; i < kSiteFlags.size(); ++i) members.push_back(numbers(kSiteFlags[i].key, &columns->flags[i]));
  add_spread_members(json, &columns->spread, &members);
  MemberReader(json, std::move(members)).read();
}

void read_timeline(JsonPull* json, Timeline* timeline) {
  std::vector<uint64_t> smallest;
  std::vector<uint64_t> largest;
  MemberReader(json, {{"bucket_ns", [&] { json->read_unsigned(&timeline->bucket_ns); }},
                      {"min_bytes", [&] { read_numbers(json, &smallest); }},
                      {"max_bytes", [&] { read_numbers(json, &largest); }}})
      .read();
  if (smallest.size() != largest.size()) json->fail("a timeline has more minima than maxima, or fewer");
  if (json->failed()) return;
  for (size_t i = 0; i < smallest.size(); ++i) timeline->buckets.push_back({smallest[i], largest[i]});
}

void read_device(JsonPull* json, PointReader* points, Extension* extension) {
  const bool is_host = extension->devices.empty();
  Device& device = extension->devices.emplace_back();
  SiteColumns& columns = extension->columns.emplace_back();
  const auto read_points = [&] {
    if (is_host) json->fail("the first device's program points are DHAT's own");
    points->read(json, &device.sites);
  };
  // A member of fields.h: visit(reader) is its function, applied to the structure.
  const auto fields = [json](std::string_view name, auto visit) {
    return MemberReader::Member{name, [json, visit] { read_struct(json, visit); }};
  };
  MemberReader(json, {{"name", [&] { read_text(json, &device.name); }},
                      fields("totals", [&](FieldReader& reader) { visit_totals(device.totals, reader); }),
                      {"timeline", [&] { read_timeline(json, &device.timeline); }},
                      {"pps", read_points},
                      {"sites", [&] { read_columns(json, &columns); }},
                      fields("identity", [&](FieldReader& reader) { visit_identity(device.identity, reader); }),
                      {"limit_bytes", [&] { json->read_unsigned(&device.limit_bytes); }},
                      {"refusals", [&] { read_refusals(json, points, &device.refusals); }},
                      {"lost_owners", [&] { read_lost_owners(json, points, &device.lost_owners); }},
                      {"held_by", [&] { read_held_by(json, points, &device.held_by); }},
                      {"fragmentation", [&] { read_fragmentation(json, points, &device.fragmentation); }},
                      {"untouched", [&] { read_untouched(json, points, &device.untouched); }},
                      {"names", [&] { read_names(json, points, &device.names); }},
                      {"moments_ns", [&] { read_numbers(json, &device.moments_ns); }},
                      {"bounds_ns", [&] { read_numbers(json, &device.bounds_ns); }},
                      fields("held", [&](FieldReader& reader) { visit_held(device.held, reader); }),
                      {"segments", [&] { read_segments(json, points, &device.segments); }},
                      {"unseen", [&] { read_unseen(json, points, &device.unseen); }},
                      fields("use", [&](FieldReader& reader) { visit_use(device.use, reader); })})
      .read();
}

void read_frame_modules(JsonPull* json, Extension* extension) {
  extension->has_frame_modules = true;
  if (!json->begin_array()) return;
  int64_t value = 0;
  while (json->next_element() && json->read_signed(&value)) extension->frame_modules.push_back(value);
}

void read_exact_frames(JsonPull* json, std::vector<ExactFrame>* frames) {
  read_structs(json, frames, [](ExactFrame& exact, FieldReader& reader) {
    reader("frame", exact.frame);
    reader("svma", exact.parts.svma);
    reader("function", exact.parts.function);
    reader("file", exact.parts.file);
    reader("line", exact.parts.line);
  });
}

void read_frames(JsonPull* json, Extension* extension) {
  MemberReader(json, {{"module", [&] { read_frame_modules(json, extension); }},
                      {"inlined", [&] { read_numbers(json, &extension->inlined_frames); }},
                      {"inferred", [&] { read_numbers(json, &extension->inferred_frames); }},
                      {"exact", [&] { read_exact_frames(json, &extension->exact_frames); }}})
      .read();
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

bool set_column(const std::vector<uint64_t>& column, std::vector<Site>* sites, uint64_t SiteNumbers::*number) {
  if (column.empty()) return true;
  if (column.size() != sites->size()) return false;
  for (size_t i = 0; i < column.size(); ++i) (*sites)[i].numbers.*number = column[i];
  return true;
}

// Sets a column that has a number for each site of a list; in older files both are missing. The list must be ascending,
// so that it names no site twice.
bool set_listed(const std::vector<uint64_t>& list, const std::vector<uint64_t>& column, std::vector<Site>* sites,
                uint64_t SiteNumbers::*number) {
  if (column.size() != list.size()) return false;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] >= sites->size() || (i > 0 && list[i] <= list[i - 1])) return false;
    (*sites)[list[i]].numbers.*number = column[i];
  }
  return true;
}

const std::vector<uint64_t>& list_of(const SiteColumns& columns, SiteList list) {
  size_t at = 0;
  while (kSiteLists[at].list != list) ++at;
  return columns.lists[at];
}

// Sets the numbers of the sites that the list does not name. pre: the file has the list
void set_unlisted(const SiteListName& list, std::vector<Site>* sites) {
  for (Site& site : *sites) {
    const uint64_t number = unlisted_number(site.numbers, list);
    for (const SiteField& field : kSiteFields) {
      if (field.list == list.list) site.numbers.*field.number = number;
    }
  }
}

bool set_numbers(const SiteColumns& columns, std::vector<Site>* sites) {
  for (size_t i = 0; i < kSiteLists.size(); ++i) {
    if (columns.has_list[i]) set_unlisted(kSiteLists[i], sites);
  }
  for (size_t i = 0; i < kSiteFields.size(); ++i) {
    const SiteField& field = kSiteFields[i];
    const std::vector<uint64_t>& column = columns.numbers[i];
    const bool fits = field.kept == SiteField::Kept::kPoint ? true
                      : field.kept == SiteField::Kept::kColumn
                          ? set_column(column, sites, field.number)
                          : set_listed(list_of(columns, field.list), column, sites, field.number);
    if (!fits) return false;
  }
  for (size_t i = 0; i < kSiteFlags.size(); ++i) {
    if (!set_flags(columns.flags[i], sites, kSiteFlags[i].flag)) return false;
  }
  return true;
}

// The bucket of a class; -1: no such class.
int bucket_of_class(uint64_t size_class, bool is_coarse) {
  if (is_coarse) return size_class < kCoarseClasses ? bucket_of_coarse(static_cast<int>(size_class)) : -1;
  const bool is_class = size_class >= kSmallestBucketBits && size_class < kSizeBuckets + kSmallestBucketBits;
  return is_class ? static_cast<int>(size_class) - kSmallestBucketBits : -1;
}

bool set_sizes(const SiteColumns& columns, std::vector<Site>* sites) {
  if (columns.sizes_end.empty()) return true;
  if (columns.sizes_end.size() != sites->size()) return false;
  size_t at = 0;
  for (size_t i = 0; i < sites->size(); ++i) {
    SizedNumbers& numbers = (*sites)[i].numbers;
    for (; at < columns.sizes_end[i]; at += 2) {
      const int bucket = bucket_of_class(columns.sizes[at], columns.has_coarse_sizes);
      if (bucket < 0) return false;
      numbers.sizes.set(bucket, columns.sizes[at + 1] == kTotal ? numbers.total_blocks : columns.sizes[at + 1]);
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

// Each list has three numbers for each step (snapshot, bytes, blocks), by ascending snapshot. The sites are ascending,
// so that none has two lists.
bool set_steps(const SiteColumns& columns, std::vector<Site>* sites) {
  if (columns.stepped.size() != columns.steps_end.size()) return false;
  size_t at = 0;
  for (size_t i = 0; i < columns.stepped.size(); ++i) {
    const uint64_t site = columns.stepped[i];
    if (site >= sites->size() || (i > 0 && site <= columns.stepped[i - 1])) return false;
    if ((columns.steps_end[i] - at) % 3 != 0) return false;
    std::vector<SiteStep>& steps = (*sites)[site].steps;
    steps.reserve((columns.steps_end[i] - at) / 3);
    for (; at < columns.steps_end[i]; at += 3) {
      const uint64_t snapshot = columns.steps[at];
      if (snapshot >= kMostSnapshots || (!steps.empty() && snapshot <= steps.back().snapshot)) return false;
      steps.push_back({static_cast<uint32_t>(snapshot), columns.steps[at + 1], columns.steps[at + 2]});
    }
  }
  return true;
}

// Each list has four numbers (begin, end, bytes, blocks) for each pair of time buckets of the device in which blocks
// began and ended. It is ordered by begin and end, and the sites are ascending.
bool set_stays(const SiteColumns& columns, std::vector<Site>* sites, size_t bounds) {
  if (columns.stayed.size() != columns.stays_end.size() || bounds > kMostBounds) return false;
  size_t at = 0;
  for (size_t i = 0; i < columns.stayed.size(); ++i) {
    const uint64_t site = columns.stayed[i];
    if (site >= sites->size() || (i > 0 && site <= columns.stayed[i - 1])) return false;
    if ((columns.stays_end[i] - at) % 4 != 0) return false;
    std::vector<Stay>& stays = (*sites)[site].stays;
    stays.reserve((columns.stays_end[i] - at) / 4);
    for (; at < columns.stays_end[i]; at += 4) {
      const uint64_t begin = columns.stays[at];
      const uint64_t end = columns.stays[at + 1];
      if (begin >= end || end >= bounds) return false;
      if (!stays.empty() && std::pair<uint64_t, uint64_t>(begin, end) <=
                                std::pair<uint64_t, uint64_t>(stays.back().begin, stays.back().end))
        return false;
      stays.push_back(
          {static_cast<uint32_t>(begin), static_cast<uint32_t>(end), columns.stays[at + 2], columns.stays[at + 3]});
    }
  }
  return true;
}

bool set_exact_numbers(const SiteColumns& columns, std::vector<Site>* sites) {
  if (columns.beyond_doubles.size() * kPointFields.size() != columns.exact_numbers.size()) return false;
  const uint64_t* value = columns.exact_numbers.data();
  for (const uint64_t site : columns.beyond_doubles) {
    if (site >= sites->size()) return false;
    for (const SiteField& field : kPointFields) (*sites)[site].numbers.*field.number = *value++;
  }
  return true;
}

void read_parts(JsonPull* json, std::vector<MergedPart>* parts) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) read_part(json, &parts->emplace_back());
}

void read_version(JsonPull* json, uint64_t* version) {
  json->read_unsigned(version);
  if (!json->failed() && *version != kExtensionVersion) json->fail("the extension has another version");
}

void read_devices(JsonPull* json, PointReader* points, Extension* extension) {
  if (!json->begin_array()) return;
  while (json->next_element() && !json->failed()) read_device(json, points, extension);
}

}  // namespace

void read_extension(JsonPull* json, PointReader* points, Extension* extension) {
  RunInfo& run = extension->run;
  const auto fields = [json](std::string_view name, auto visit) {
    return MemberReader::Member{name, [json, visit] { read_struct(json, visit); }};
  };
  const auto structs = [json](std::string_view name, auto* entries, auto visit) {
    return MemberReader::Member{name, [json, entries, visit] { read_structs(json, entries, visit); }};
  };
  MemberReader members(
      json,
      {{"version", [&] { read_version(json, &extension->version); }},
       {"dialect", [&] { read_dialect(json, &extension->dialect); }},
       {"time_unit", [&] { read_text(json, &extension->time_unit); }},
       fields("run", [&](FieldReader& reader) { visit_run(run, reader); }),
       fields("sampling", [&](FieldReader& reader) { visit_sampling(run.sampling, reader); }),
       fields("machine", [&](FieldReader& reader) { visit_machine(run.machine, reader); }),
       fields("coverage", [&](FieldReader& reader) { visit_coverage(run.coverage, reader); }),
       fields("counters", [&](FieldReader& reader) { visit_counters(run.counters, reader); }),
       fields("unwinder", [&](FieldReader& reader) { visit_unwinder(run.unwinder, reader); }),
       fields("cost", [&](FieldReader& reader) { visit_cost(run.cost, reader); }),
       structs("threads", &run.threads, [](Thread& thread, FieldReader& reader) { visit_thread(thread, reader); }),
       fields("other_threads", [&](FieldReader& reader) { visit_thread(run.other_threads, reader); }),
       structs("unprofiled_programs", &run.coverage.unprofiled_programs,
               [](UnprofiledProgram& program, FieldReader& reader) { visit_unprofiled_program(program, reader); }),
       structs("processes", &run.processes,
               [](OtherProcess& process, FieldReader& reader) { visit_other_process(process, reader); }),
       {"other_processes_count", [&] { json->read_unsigned(&run.other_processes_count); }},
       fields("leak_check",
              [&](FieldReader& reader) {
                run.leak_check.is_asked = true;
                visit_leak_check(run.leak_check, reader);
              }),
       structs("modules", &extension->modules,
               [](ProfileModule& module, FieldReader& reader) { visit_module(module, reader); }),
       {"merged", [&] { read_parts(json, &extension->merged); }},
       fields("job", [&](FieldReader& reader) { visit_job(run.job, reader); }),
       {"frames", [&] { read_frames(json, extension); }},
       {"device_api", [&] { read_api(json, points, &extension->api); }},
       {"scopes", [&] { read_scopes(json, &extension->scopes); }},
       {"snapshots", [&] { read_snapshots(json, points, &extension->snapshots); }},
       {"device_trace", [&] { read_device_trace(json, points, &extension->trace); }},
       {"devices", [&] { read_devices(json, points, extension); }}});
  members.read();
  if (!members.has("version")) json->fail("the key \"heapprof\" holds no version");
}

bool has_column(const SiteColumns& columns, uint64_t SiteNumbers::*number) {
  for (size_t i = 0; i < kSiteFields.size(); ++i) {
    if (kSiteFields[i].number == number) return !columns.numbers[i].empty();
  }
  return false;
}

bool apply_columns(const SiteColumns& columns, Device* device, std::string* reason) {
  std::vector<Site>* sites = &device->sites;
  *reason = "the columns of \"sites\" do not fit the program points";
  return set_exact_numbers(columns, sites) && set_numbers(columns, sites) && set_sizes(columns, sites) &&
         set_grouped(columns, sites) && set_live(columns, sites, device->moments_ns.size()) &&
         set_steps(columns, sites) && set_stays(columns, sites, device->bounds_ns.size()) &&
         set_spreads(columns.spread, sites);
}

}  // namespace heapprof::cli
