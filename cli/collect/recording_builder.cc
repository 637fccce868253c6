// cli/collect/recording_builder.cc: the books have a slot for everything that may come, but a recording has only what
// there was.
//
// This is the moment when a run needs most memory: the books are still there while the recording is made. So live
// blocks are freed as soon as the leaks are known, and everything that has one entry for each site is made last. If
// there is no memory for the sites, all of them are summed up into one without a stack. Totals, peaks and leaks stay
// exact, and the profile says what it lacks (HP094).
//
// Sums that were counted in two ways are compared here (ledger_check.cc; the timeline's maximum with the peak). A
// difference is written into the profile: it is a bug of heapprof that a user can report.
#include "cli/collect/recording_builder.h"

#include "cli/collect/recorded_parts.h"
#include "cli/collect/recorded_scopes.h"
#include "cli/model/profile/assemble.h"
#include "cli/model/profile/assemble_steps.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <map>
#include <new>
#include <unordered_map>

namespace heapprof::cli {

namespace {

struct LeakTimes {
  uint64_t first_ticks;
  uint64_t last_ticks;
  bool has_any;
};

// visit_live(note) calls note(site, birth) for each live block.
template <typename VisitLive>
void find_leaks(const SiteBook& sites, const VisitLive& visit_live, GrowingArray<LeakTimes>* times) {
  times->grow_to(sites.size());
  visit_live([times](uint32_t site, uint64_t birth) {
    LeakTimes& leak = (*times)[site];
    leak.first_ticks = leak.has_any ? std::min(leak.first_ticks, birth) : birth;
    leak.last_ticks = std::max(leak.last_ticks, birth);
    leak.has_any = true;
  });
}

// pre: *to has no numbers yet
void set_numbers(const SiteBook& sites, uint32_t index, const LeakTimes& leak, const TickScale& scale,
                 SiteNumbers* to) {
  const SiteEntry& entry = sites[index];
  const Amount peak = sites.at_peak(index);
  SiteNumbers& numbers = *to;
  numbers.total_bytes = entry.total.bytes;
  numbers.total_blocks = entry.total.blocks;
  numbers.max_bytes = entry.max.bytes;
  numbers.max_blocks = entry.max.blocks;
  numbers.peak_bytes = peak.bytes;
  numbers.peak_blocks = peak.blocks;
  numbers.leaked_bytes = entry.live.bytes;
  numbers.leaked_blocks = entry.live.blocks;
  numbers.temporary_blocks = entry.temporary_blocks;
  numbers.lifetime_ns = scale.to_ns(entry.lifetime_low_ticks, entry.lifetime_high_ticks);
  if (leak.has_any) {
    numbers.first_leak_ns = scale.since_start_ns(leak.first_ticks);
    numbers.last_leak_ns = scale.since_start_ns(leak.last_ticks);
  }
  numbers.smallest_bytes = entry.smallest_bytes;
  numbers.largest_bytes = entry.largest_bytes;
  numbers.resized_blocks = entry.resized_blocks;
  numbers.moved_bytes = entry.moved_bytes;
}

// A site's live blocks, by the kinds that the leak check found.
struct JudgedBlocks {
  Amount kinds[kLeakKinds];
};

void add_judgement(const JudgedBlocks& judged, SiteNumbers* numbers) {
  const auto of = [&judged](LeakKind kind) { return judged.kinds[static_cast<size_t>(kind)]; };
  numbers->lost_bytes = of(LeakKind::kLost).bytes;
  numbers->lost_blocks = of(LeakKind::kLost).blocks;
  numbers->indirectly_lost_bytes = of(LeakKind::kIndirectly).bytes;
  numbers->indirectly_lost_blocks = of(LeakKind::kIndirectly).blocks;
  numbers->possibly_lost_bytes = of(LeakKind::kPossiblyLost).bytes;
  numbers->possibly_lost_blocks = of(LeakKind::kPossiblyLost).blocks;
  numbers->reachable_bytes = of(LeakKind::kReachable).bytes;
  numbers->reachable_blocks = of(LeakKind::kReachable).blocks;
}

void add_sites(const RecordingParts& parts, const SiteBook& sites, const GrowingArray<LeakTimes>& leaks,
               RecordedDevice* device) {
  size_t used = 0;
  size_t used_rows = 0;
  for (uint32_t i = 1; i < sites.size(); ++i) {
    used += sites[i].total.blocks != 0 ? 1 : 0;
    used_rows += sites[i].histogram != 0 ? 1 : 0;
  }
  device->sites.reserve(used);
  device->sizes.reserve(used_rows);
  for (uint32_t i = 1; i < sites.size(); ++i) {
    if (sites[i].total.blocks == 0)
      continue;  // the site is another device's, or its only event was lost with the rest of a corrupt ring
    const SiteKey& key = parts.tree->sites()[i];
    const SizeCounts* sizes = sites.size_counts(i);
    if (sizes != nullptr) device->sizes.push_back(*sizes);
    RecordedSite& site = device->sites.emplace_back();
    site.stack = key.stack;
    site.truncated = key.truncated != 0;
    set_numbers(sites, i, leaks[i], *parts.scale, &site.numbers);
    if (sizes != nullptr) site.sizes_row = static_cast<uint32_t>(device->sizes.size());
  }
}

// pre: add_sites() has just filled device->sites
void add_live_rows(const LiveSamples& samples, const SiteBook& sites, RecordedDevice* device) {
  LiveSamples::Reader reader(samples);
  size_t recorded = 0;
  for (uint32_t i = 1; i < sites.size(); ++i) {
    if (sites[i].total.blocks == 0) continue;
    RecordedSite& site = device->sites[recorded++];
    if (!reader.add_row(i, &device->live_bytes)) continue;
    site.live_row = static_cast<uint32_t>(device->live_bytes.size() / device->moments_ns.size());
  }
}

void add_host_sites(const RecordingParts& parts, RecordedDevice* device) {
  GrowingArray<LeakTimes> leaks;
  GrowingArray<JudgedBlocks> judged;
  const SiteBook& sites = parts.ledger->sites();
  if (parts.leaks != nullptr) judged.grow_to(sites.size());
  find_leaks(
      sites,
      [&](const auto& note) {
        parts.ledger->for_each_live([&](const Block& block) {
          note(block.site, block.birth);
          if (parts.leaks == nullptr) return;
          Amount& kind = judged[block.site].kinds[static_cast<size_t>(parts.leaks->judgement_of(block))];
          kind.bytes += block.size_bytes;
          ++kind.blocks;
        });
      },
      &leaks);
  parts.ledger->release_blocks();  // the recording needs room
  add_sites(parts, sites, leaks, device);
  if (parts.leaks != nullptr) {
    size_t recorded = 0;
    for (uint32_t i = 1; i < sites.size(); ++i) {
      if (sites[i].total.blocks != 0) add_judgement(judged[i], &device->sites[recorded++].numbers);
    }
    add_owners(parts.leaks->owners(), *parts.tree, device);
    add_holders(*parts.leaks, *parts.tree, device);
  }
  add_live_rows(*parts.samples, sites, device);
  add_stays(parts.ledger->stays(), parts.ledger->bounds(), sites, *parts.scale, parts.end_ticks, device);
}

std::vector<uint64_t> moments_of(const LiveSamples& samples, uint64_t end_ticks, const TickScale& scale) {
  std::vector<uint64_t> moments_ns;
  for (const uint64_t ticks : samples.moments()) moments_ns.push_back(scale.since_start_ns(std::min(ticks, end_ticks)));
  return moments_ns;
}

// Replaces all sites by one without a stack, because memory ran out. The times of its leaks are no longer known.
void sum_up_sites(const RecordingParts& parts, const SiteBook& sites, RecordedDevice* device) {
  std::vector<RecordedSite>().swap(device->sites);
  std::vector<SizeCounts>().swap(device->sizes);
  std::vector<RecordedStep>().swap(device->steps);
  std::vector<RecordedStay>().swap(device->stays);
  std::vector<uint64_t>().swap(device->bounds_ns);
  Site sum;
  for (uint32_t i = 1; i < sites.size(); ++i) {
    Site site;
    set_numbers(sites, i, {}, *parts.scale, &site.numbers);
    site.numbers.sizes = sites.sizes(i);
    merge_site(&sum, site, device->totals.peak_bytes);
  }
  sum.numbers.max_bytes = device->totals.peak_bytes;
  sum.numbers.max_blocks = device->totals.peak_blocks;
  record_only(sum, device);
}

Fragmentation fragmentation_of(const RecordingParts& parts) {
  Fragmentation fragmentation;
  if (!parts.fragmentation) return fragmentation;
  const HeapPages& pages = parts.fragmentation->pages;
  const auto since_start_ns = [&parts](uint64_t at_ns) { return at_ns - std::min(at_ns, parts.scale->start_ns()); };
  const uint64_t end_ns = parts.scale->since_start_ns(parts.end_ticks);
  fragmentation.seen_ns = std::min(end_ns, since_start_ns(parts.fragmentation->at_ns));
  fragmentation.from_ns = std::min(fragmentation.seen_ns, since_start_ns(parts.fragmentation->since_ns));
  fragmentation.resident_bytes = pages.resident_bytes;
  fragmentation.empty_bytes = pages.empty_bytes;
  fragmentation.empty_pieces = pages.empty_pieces;
  fragmentation.sparse_bytes = pages.sparse_bytes;
  for (const LostPart& part : pages.pinning)
    fragmentation.pinning.push_back({parts.tree->sites()[part.site].stack, part.bytes, part.blocks});
  return fragmentation;
}

Untouched untouched_of(const RecordingParts& parts) {
  constexpr size_t kMostParts = 8;
  Untouched untouched;
  if (!parts.untouched) return untouched;
  const uint64_t end_ns = parts.scale->since_start_ns(parts.end_ticks);
  const uint64_t at_ns = parts.untouched->at_ns;
  untouched.seen_ns = std::min(end_ns, at_ns - std::min(at_ns, parts.scale->start_ns()));
  std::unordered_map<uint32_t, UntouchedPart> by_site;
  for (const BlockPages& block : parts.untouched->blocks) {
    UntouchedPart& part = by_site[block.site];
    part.node = parts.tree->sites()[block.site].stack;
    part.untouched_bytes += block.untouched_bytes;
    part.bytes += block.size_bytes;
    ++part.blocks;
    untouched.bytes += block.size_bytes;
    untouched.untouched_bytes += block.untouched_bytes;
  }
  for (const auto& [site, part] : by_site) {
    if (part.untouched_bytes != 0) untouched.parts.push_back(part);
  }
  settle_parts(&untouched.parts);
  if (untouched.parts.size() > kMostParts) untouched.parts.resize(kMostParts);
  return untouched;
}

DeviceTotals totals_of(const SiteBook& sites, const TickScale& scale, const ResidentSamples& resident) {
  const SiteBook::Totals& totals = sites.totals();
  const Amount total = sites.total();
  DeviceTotals device;
  device.total_bytes = total.bytes;
  device.total_blocks = total.blocks;
  device.peak_bytes = totals.peak.bytes;
  device.peak_blocks = totals.peak.blocks;
  device.peak_ns = scale.since_start_ns(totals.peak_ticks);
  device.max_blocks = totals.max_blocks;
  device.max_blocks_ns = scale.since_start_ns(totals.max_blocks_ticks);
  device.leaked_bytes = totals.live.bytes;
  device.leaked_blocks = totals.live.blocks;
  device.temporary_blocks = totals.temporary_blocks;
  device.resident_at_peak_bytes = resident.at_peak_bytes;
  device.resident_max_bytes = resident.max_bytes;
  device.live_at_resident_max_bytes = resident.live_at_max_bytes;
  device.mapped_at_resident_max_bytes = resident.mapped_at_max_bytes;
  return device;
}

Timeline timeline_of(LiveTimeline& live, uint64_t end_ticks, const TickScale& scale) {
  Timeline timeline;
  for (const LiveTimeline::Bucket& bucket : live.buckets(end_ticks)) {
    timeline.buckets.push_back({bucket.min_bytes, bucket.max_bytes});
  }
  timeline.bucket_ns = std::max<uint64_t>(1, scale.to_ns(live.width_ticks(), 0));
  return timeline;
}

// The timeline was recorded independently of the sites, so the two must have the same maximum.
void check_timeline(const RecordedDevice& device, Recording* recording) {
  uint64_t highest_bytes = 0;
  for (const Timeline::Bucket& bucket : device.timeline.buckets)
    highest_bytes = std::max(highest_bytes, bucket.max_bytes);
  if (highest_bytes == device.totals.peak_bytes) return;
  recording->consistency_errors.push_back("the timeline's maximum of " + device.name + " is " +
                                          std::to_string(highest_bytes) + ", the peak is " +
                                          std::to_string(device.totals.peak_bytes));
}

// Books with wire's numbers of their devices.
using NumberedBooks = std::vector<std::pair<uint32_t, DeviceBook*>>;

// Every device but the host, in the order in which they are shown.
NumberedBooks books_of(Ledger* ledger) {
  NumberedBooks books;
  for (const auto& [number, book] : ledger->devices().books()) books.emplace_back(number, book.get());
  for (uint32_t number = wire::kMappedDevice; number <= wire::kReservedDevice; ++number) {
    if (DeviceBook* book = ledger->mappings().book(number)) books.emplace_back(number, book);
  }
  return books;
}

void add_device_sites(const RecordingParts& parts, uint32_t number, const DeviceBook& book, RecordedDevice* device) {
  GrowingArray<LeakTimes> leaks;
  find_leaks(
      book.sites,
      [&](const auto& note) {
        const auto note_block = [&](const auto& block) { note(block.site, block.birth); };
        if (wire::is_mapping(number)) {
          parts.ledger->mappings().for_each_live(number, note_block);
        } else {
          parts.ledger->devices().for_each_live(number, note_block);
        }
      },
      &leaks);
  add_sites(parts, book.sites, leaks, device);
  add_stays(book.stays, parts.ledger->bounds(), book.sites, *parts.scale, parts.end_ticks, device);
}

Refusal refusal_of(const RecordingParts& parts, const RefusedSite& refused) {
  const auto stack_of = [&parts](uint32_t site) { return parts.tree->sites()[site].stack; };
  Refusal refusal;
  refusal.node = stack_of(refused.site);
  refusal.count = refused.count;
  refusal.by_limit_count = refused.by_limit_count;
  refusal.first_ns = parts.scale->since_start_ns(refused.first_ticks);
  refusal.last_ns = parts.scale->since_start_ns(refused.last_ticks);
  refusal.size_bytes = refused.size_bytes;
  if (refused.free_bytes != wire::kFreeUnknown) refusal.free_bytes = refused.free_bytes;
  refusal.live_bytes = refused.live.bytes;
  refusal.live_blocks = refused.live.blocks;
  for (const auto& [site, live] : refused.live_sites)
    refusal.live_sites.push_back({stack_of(site), live.bytes, live.blocks});
  return refusal;
}

void add_unseen_memory(const RecordingParts& parts, const DeviceBook& book, UnseenMemory* unseen) {
  unseen->runtime_bytes = book.unseen.bytes;
  unseen->runtime_blocks = book.unseen.blocks;
  for (const auto& [key, sum] : book.estimates) {
    const char* what = key.first == wire::EstimateKind::kContext ? "context" : "modules";
    unseen->estimates.push_back(
        {what, parts.tree->sites()[key.second].stack, sum.count, sum.size_bytes, sum.bound_count});
  }
}

// Moves refusals with the same time a nanosecond apart, so that their order survives writing the file and merging.
void separate_times(const std::vector<RefusedSite>& sites, std::vector<Refusal>* refusals) {
  std::map<uint64_t, uint64_t*> moments;  // by number
  for (size_t i = 0; i < sites.size(); ++i) {
    moments[sites[i].first_number] = &(*refusals)[i].first_ns;
    if (sites[i].count > 1) moments[sites[i].last_number] = &(*refusals)[i].last_ns;
  }
  uint64_t next_ns = 0;
  for (const auto& [number, ns] : moments) {
    *ns = std::max(*ns, next_ns);
    next_ns = *ns + 1;
  }
  for (Refusal& refusal : *refusals) {
    if (refusal.count == 1) refusal.last_ns = refusal.first_ns;
  }
}

void add_refusals(const RecordingParts& parts, const Refusals& refused, RecordedDevice* device) {
  for (const RefusedSite& site : refused.sites) device->refusals.push_back(refusal_of(parts, site));
  separate_times(refused.sites, &device->refusals);
  if (refused.elsewhere == 0) return;
  Refusal others;
  others.count = refused.elsewhere;
  device->refusals.push_back(others);
}

SegmentsUse segments_in_time(SegmentsUse use, const TickScale& scale) {
  for (SegmentsMoment* moment : {&use.at_peak, &use.at_end, &use.at_refusal}) {
    if (moment->at_ns != 0) moment->at_ns = scale.since_start_ns(moment->at_ns);
  }
  return use;
}

void add_device_facts(const RecordingParts& parts, uint32_t number, const DeviceBook& book, RecordedDevice* device) {
  if (const auto known = parts.identities->find(number); known != parts.identities->end()) {
    device->identity = known->second;
    if (const auto use = parts.uses->find(number); use != parts.uses->end()) device->use = use->second;
    if (!has_any(device->use)) device->use.missing = kNothingSaid;
  }
  device->held = book.holdings.memory();
  if (number >= wire::kFirstCudaDevice && number - wire::kFirstCudaDevice < parts.limits->cuda.size())
    device->limit_bytes = parts.limits->cuda[number - wire::kFirstCudaDevice];
  if (is_inner(number) && number != wire::kPythonDevice)
    device->segments = segments_in_time(parts.ledger->devices().segments_of(number - kInnerOfCuda), *parts.scale);
  add_refusals(parts, book.refused, device);
  add_unseen_memory(parts, book, &device->unseen);
}

void add_api(const RecordingParts& parts, DeviceApi* api) {
  const auto call_of = [](uint64_t key) { return wire::device_call_name(static_cast<uint32_t>(key >> 32)); };
  for (const auto& [key, sum] : parts.ledger->devices().calls_by_site()) {
    const uint32_t stack = parts.tree->sites()[static_cast<uint32_t>(key)].stack;
    api->calls.push_back({call_of(key), stack, sum.count, parts.scale->to_ns(sum.duration_ticks, 0), sum.size_bytes});
  }
  for (const auto& [key, sum] : parts.ledger->devices().calls_by_thread())
    api->threads.push_back(
        {call_of(key), static_cast<uint32_t>(key), sum.count, parts.scale->to_ns(sum.duration_ticks, 0)});
  merge_api(api);
}

void add_names(const RecordingParts& parts, const NumberedBooks& books, std::vector<RecordedDevice>* devices) {
  (*devices)[0].names = recorded_names(parts.ledger->names(), *parts.tree, parts.names.names);
  for (size_t i = 0; i < books.size(); ++i)
    (*devices)[i + 1].names = recorded_names(books[i].second->names, *parts.tree, parts.names.names);
}

}  // namespace

void build_recording(const RecordingParts& parts, Recording* recording) {
  Ledger& ledger = *parts.ledger;
  const SiteBook& sites = ledger.sites();
  recording->consistency_errors = ledger.check();
  recording->locations = parts.modules->take_locations();
  recording->modules = parts.modules->take_modules();

  // Fills in everything about the devices except their sites, for which there may be no memory.
  std::vector<RecordedDevice>& devices = recording->devices;
  devices.resize(1);
  devices[0].totals = totals_of(sites, *parts.scale, parts.resident);
  devices[0].timeline = timeline_of(ledger.timeline(), parts.end_ticks, *parts.scale);
  devices[0].limit_bytes = parts.limits->host_bytes;
  devices[0].fragmentation = fragmentation_of(parts);
  devices[0].untouched = untouched_of(parts);
  add_refusals(parts, ledger.refused(), &devices[0]);
  devices[0].moments_ns = moments_of(*parts.samples, parts.end_ticks, *parts.scale);
  const NumberedBooks books = books_of(&ledger);
  for (const auto& [number, book] : books) {
    RecordedDevice& device = devices.emplace_back();
    device.name = device_name(number);
    device.totals = totals_of(book->sites, *parts.scale, {});
    device.timeline = timeline_of(book->timeline, parts.end_ticks, *parts.scale);
    add_device_facts(parts, number, *book, &device);
  }
  try {
    recording->scopes =
        recorded_scopes({&ledger.scopes(), &ledger.launches(), &ledger.gpu_times()}, parts.names, *parts.scale);
    if (ledger.snapshots().is_on()) recording->snapshots = recorded_snapshots(parts);
    recording->trace = recorded_trace({&ledger, parts.tree, parts.names.names, parts.scale});
    add_names(parts, books, &devices);
    add_host_sites(parts, &devices[0]);
    size_t i = 1;
    for (const auto& [number, book] : books) add_device_sites(parts, number, *book, &devices[i++]);
    if (ledger.snapshots().is_on()) add_site_steps(parts, &devices);
    add_api(parts, &recording->api);
    recording->stacks = parts.tree->folder().recorded_stacks(*parts.tree, &recording->locations);
  } catch (const std::bad_alloc&) {
    recording->trace = lost_trace(ledger);
    recording->scopes = {};
    recording->scopes.lost = ledger.scopes().lost() + ledger.scopes().begun();
    recording->scopes.lost_marks = ledger.scopes().lost_marks() + ledger.scopes().marks().size();
    if (ledger.snapshots().is_on()) recording->snapshots = lost_snapshots(parts);
    sum_up_sites(parts, sites, &devices[0]);
    if (parts.leaks != nullptr) drop_judgement("out of memory", recording);
    std::vector<uint64_t>().swap(devices[0].live_bytes);
    size_t i = 1;
    for (const auto& [number, book] : books) {
      sum_up_sites(parts, book->sites, &devices[i]);
      ++i;
    }
    forget_other_stacks(recording);
    recording->stacks.assign(1, {});
    recording->locations.clear();
    note_dropped_stacks(&recording->run);
  }
  for (const RecordedDevice& device : devices) check_timeline(device, recording);
}

}  // namespace heapprof::cli
