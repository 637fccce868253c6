// cli/write/export/dhat_export.cc: see exports.h.
#include "cli/model/profile/canonical.h"
#include "cli/write/export/exports.h"
#include "cli/write/profile/dhat.h"

#include <vector>

namespace heapprof::cli {

void write_dhat_export(const Profile& profile, const ExportView& view, ByteSink* sink) {
  if (view.device.empty() || profile.devices.size() == 1) {
    write_dhat(profile, sink);
    return;
  }
  Profile one = profile;
  std::erase_if(one.devices, [&](const Device& device) { return device.name != view.device; });
  std::erase_if(one.merged, [&](const MergedPart& part) { return part.device != view.device; });
  one.api = {};        // covers all devices
  one.scopes = {};     // likewise
  one.snapshots = {};  // likewise
  for (Device& device : one.devices) {
    for (Site& site : device.sites) site.steps.clear();
  }
  canonicalize(&one);  // removes the frames that only other devices' sites have
  write_dhat(one, sink);
}

}  // namespace heapprof::cli
