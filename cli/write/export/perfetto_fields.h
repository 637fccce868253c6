// cli/write/export/perfetto_fields.h: the field numbers of the written Perfetto messages (protos/perfetto/trace/ of its
// source: trace_packet, clock_snapshot, interned_data/, profiling/, track_event/).
#pragma once

#include <protozero/types.hpp>

namespace heapprof::cli::perfetto {

using Tag = protozero::pbf_tag_type;

namespace trace {
inline constexpr Tag kPacket = 1;
}
namespace packet {
enum : Tag {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kProfilePacket = 37,
  kTimestampClock = 58,
  kTrackDescriptor = 60
};
inline constexpr uint32_t kBeginsState = 1;  // of kSequenceFlags: earlier interned data is invalid
inline constexpr uint32_t kNeedsState = 2;   // the names it refers to were interned before
}  // namespace packet
namespace clocks {
enum : Tag { kClock = 1, kPrimary };
enum : Tag { kId = 1, kTime };
inline constexpr uint32_t kRealtime = 1;
inline constexpr uint32_t kMonotonicCoarse = 4;  // the clock of heap profiles
inline constexpr uint32_t kBoottime = 6;         // readers use it to relate the files of an archive
}  // namespace clocks
namespace interned {
enum : Tag {
  kCategory = 1,
  kEventName,
  kAnnotationName,
  kFunctionName = 5,
  kFrame,
  kCallstack,
  kBuildId = 16,
  kModulePath,
  kSourcePath,
  kMapping
};
enum : Tag { kId = 1, kText };  // of all interned texts
}  // namespace interned
namespace mapping {
enum : Tag { kId = 1, kBuildId, kPath = 7 };
}
namespace frame {
enum : Tag { kId = 1, kFunctionName, kMapping, kAddress, kSourcePath, kLine };
}
namespace callstack {
enum : Tag { kId = 1, kFrame };
}
namespace profile {
enum : Tag { kDump = 5, kIsContinued, kIndex };
}
namespace dump {
enum : Tag { kPid = 1, kSample, kFromStart, kTime = 9, kHeap = 11, kSamplingInterval };
}
namespace sample {
enum : Tag { kCallstack = 1, kAllocated, kFreed, kAllocatedCount = 5, kFreedCount };
}
namespace track {
enum : Tag { kId = 1, kName, kProcess, kThread, kParent, kCounter = 8 };
}
namespace process {
enum : Tag { kPid = 1, kCommand, kName = 6 };
}
namespace thread {
enum : Tag { kPid = 1, kId, kName = 5 };
}
namespace counter {
enum : Tag { kUnit = 3 };
inline constexpr int kBytes = 3;
}  // namespace counter
namespace event {
enum : Tag { kCategory = 3, kAnnotation, kType = 9, kName, kTrack, kCounterValue = 30 };
enum Type { kBegin = 1, kEnd, kInstant, kCounter };
}  // namespace event
namespace annotation {
enum : Tag { kName = 1, kUnsigned = 3, kSigned };
}

}  // namespace heapprof::cli::perfetto
