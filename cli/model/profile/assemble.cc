// cli/model/profile/assemble.cc: see assemble_steps.cc, which has the steps.
#include "cli/model/profile/assemble.h"

#include "cli/model/profile/assemble_steps.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/site_fields.h"
#include "cli/model/profile/site_numbers.h"

#include <utility>

namespace heapprof::cli {

void forget_other_stacks(Recording* recording) {
  for (RecordedDevice& device : recording->devices) {
    for (Refusal& refusal : device.refusals) std::vector<LiveSite>().swap(refusal.live_sites);
    for (NamedMemory& named : device.names) std::vector<NamedSite>().swap(named.sites);
    std::vector<LostOwners>().swap(device.lost_owners);
    std::vector<Holder>().swap(device.held_by);
    std::vector<OwnerPart>().swap(device.fragmentation.pinning);
    std::vector<UntouchedPart>().swap(device.untouched.parts);
  }
  for_each_other_node(*recording, [](uint32_t& node) { node = 0; });
  merge_api(&recording->api);
}

void drop_stacks(Recording* recording) {
  for (RecordedDevice& device : recording->devices) {
    Site sum;
    for (const RecordedSite& recorded : device.sites) {
      merge_site(&sum, make_site(device, recorded), device.totals.peak_bytes);
    }
    // The sum of the sites is the whole device, so its maximum is the device's peak.
    sum.numbers.max_bytes = device.totals.peak_bytes;
    sum.numbers.max_blocks = device.totals.peak_blocks;
    std::vector<uint64_t>().swap(device.live_bytes);
    record_only(sum, &device);
  }
  forget_other_stacks(recording);
  std::vector<StackNode>(1).swap(recording->stacks);
  std::vector<Location>().swap(recording->locations);
  note_dropped_stacks(&recording->run);
}

void note_dropped_stacks(RunInfo* run) {
  std::string reason = run->complete ? std::string(kMemoryLimitReason) : run->incomplete_reason + ";";
  run->incomplete_reason = reason + " and had no room for the stacks";
  run->complete = false;
}

void drop_judgement(const std::string& reason, Recording* recording) {
  recording->run.leak_check.is_made = false;
  recording->run.leak_check.reason = reason;
  for (RecordedDevice& device : recording->devices) {
    device.lost_owners.clear();
    device.held_by.clear();
    for (RecordedSite& site : device.sites) {
      for (const SiteField& field : kSiteFields) {
        if (field.needs == SiteField::Needs::kJudgement) site.numbers.*field.number = 0;
      }
    }
  }
}

void settle_judgement(Recording* recording) {
  if (!recording->run.leak_check.is_asked) return;
  switch (recording->run.end.kind) {
    case EndKind::kExited:
    case EndKind::kUnknown: return;
    case EndKind::kSignaled: return drop_judgement("the program was killed, and might have freed them", recording);
    case EndKind::kExec: return drop_judgement("the process went on as another program", recording);
    case EndKind::kDetached: return drop_judgement("heapprof stopped watching before the end", recording);
    case EndKind::kRunning: return drop_judgement("the program is still running", recording);
  }
}

Profile assemble(const Recording& recording, const SymbolTable& symbols) {
  Profile profile;
  profile.run = recording.run;
  const std::vector<uint32_t> frame_start = add_frames(recording, symbols, &profile);
  const std::vector<uint32_t> node_of = add_nodes(recording, frame_start, nullptr, &profile);
  for (const RecordedDevice& recorded : recording.devices) {
    Device& device = profile.devices.emplace_back(make_device_without_sites(recorded));
    device.sites.reserve(recorded.sites.size());
    for (const RecordedSite& from : recorded.sites) {
      device.sites.push_back(make_site(recorded, from));
      device.sites.back().node = from.stack < node_of.size() ? node_of[from.stack] : 0;
    }
  }
  profile.api = recording.api;
  profile.scopes = recording.scopes;
  profile.snapshots = recording.snapshots;
  profile.trace = recording.trace;
  for_each_other_node(profile, [&](uint32_t& node) { node = node < node_of.size() ? node_of[node] : 0; });
  canonicalize(&profile);
  return profile;
}

}  // namespace heapprof::cli
