// cli/write/export/perfetto_parts.h: the parts of a trace in Perfetto's format, other than its packets.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/model/profile/scopes.h"
#include "cli/write/export/perfetto_packets.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

// ---- perfetto_heap.cc ----

// A device's sites as heap profiles of a trace: exports.h lists them.
void write_heaps(const Profile& profile, const Device& device, perfetto::PacketStream* packets);

// ---- perfetto_tracks.cc ----

// Assigns each run of a scope to a track of its thread. Slices of one track must be nested or disjoint, but runs need
// not be.
//
// Guarantees
//  - Any two runs on one track are disjoint or nested; its events are in time order, and an end comes before a begin of
//    the same time.
//  - A thread's first track has the runs of the thread's own scope stack, as far as they nest.
// Cost:     n log n for n runs; for each run, at most all tracks of its thread (at most 1000) are tried.
inline constexpr size_t kMostScopeTracks = 1000;  // of a thread

struct ScopeTrackEvent {
  uint64_t at_ns = 0;
  bool is_begin = false;
  uint32_t scope = 0;     // index in Scopes::scopes
  uint32_t instance = 0;  // index in Scope::instances
};

struct ScopeTrack {
  uint32_t thread = 0;
  uint32_t number = 0;  // 0: the thread's own
  std::vector<ScopeTrackEvent> events;
};

struct ScopeTracks {
  std::vector<ScopeTrack> tracks;  // by thread, then by number
  uint64_t left_out = 0;           // runs that found no track
};

ScopeTracks find_scope_tracks(const Scopes& scopes);

}  // namespace heapprof::cli
