// cli/read/extension_reader.h: the object under the key "heapprof": everything that has no DHAT field.
//
// The object may come before or after the program points (jq -S sorts names). So it is kept, and applied once both are
// read.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/model/profile/site_fields.h"
#include "cli/read/extension_parts.h"
#include "cli/read/json_pull.h"
#include "cli/read/point_reader.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kExtensionVersion = 1;

// Per site, in the order of the device's program points. A missing column is empty.
struct SiteColumns {
  std::array<std::vector<uint64_t>, kSiteFields.size()> numbers;  // by field; a field of a list has one number for each
                                                                  // site in the list
  std::array<std::vector<uint64_t>, kSiteLists.size()> lists;     // the sites in each list, by their numbers
  std::array<bool, kSiteLists.size()> has_list{};
  std::array<std::vector<uint64_t>, kSiteFlags.size()> flags;  // by flag: the numbers of the sites that have it
  std::vector<uint32_t> sizes_end;                             // end of each site's pairs in `sizes`
  std::vector<uint64_t> sizes;                                 // pairs of size class and blocks
  bool has_coarse_sizes = false;                               // the size classes are those of older profiles
  std::vector<uint64_t> grouped;
  std::vector<uint64_t> grouped_stacks;  // one for each in `grouped`
  std::vector<uint64_t> beyond_doubles;
  std::vector<uint64_t> exact_numbers;  // a program point's numbers for each in `beyond_doubles`
  std::vector<uint64_t> sampled;
  std::vector<size_t> live_end;  // end of the numbers of each in `sampled`, in `live_bytes`
  std::vector<uint64_t> live_bytes;
  std::vector<uint64_t> stepped;
  std::vector<size_t> steps_end;  // end of the numbers of each in `stepped`, in `steps`
  std::vector<uint64_t> steps;    // repeated: snapshot, bytes, blocks
  std::vector<uint64_t> stayed;
  std::vector<size_t> stays_end;  // end of the numbers of each in `stayed`, in `stays`
  std::vector<uint64_t> stays;    // repeated: begin, end, bytes, blocks
  SpreadColumns spread;
};

struct ExactFrame {
  uint32_t frame = 0;
  Frame parts;  // without module and inlined
};

struct Extension {
  uint64_t version = 0;
  Dialect dialect = Dialect::kHeapprof;
  std::string time_unit = "ns";
  RunInfo run;
  std::vector<ProfileModule> modules;
  std::vector<MergedPart> merged;
  DeviceApi api;
  Scopes scopes;
  Snapshots snapshots;
  DeviceTrace trace;
  bool has_frame_modules = false;
  std::vector<int64_t> frame_modules;  // -1: no module
  std::vector<uint64_t> inlined_frames;
  std::vector<uint64_t> inferred_frames;
  std::vector<ExactFrame> exact_frames;
  std::vector<Device> devices;       // the host's sites are DHAT's own points
  std::vector<SiteColumns> columns;  // one for each device
};

// Errors stay in `json`. Reading stops at once for a newer version, with extension->version set.
void read_extension(JsonPull* json, PointReader* points, Extension* extension);

// Whether the file has the number's column.
bool has_column(const SiteColumns& columns, uint64_t SiteNumbers::*number);

// Puts the columns into the device's sites; false with the reason if they do not fit.
bool apply_columns(const SiteColumns& columns, Device* device, std::string* reason);

}  // namespace heapprof::cli
