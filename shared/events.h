// shared/events.h: the records of a ring, as 16-byte units, and how to pack and unpack them.
//
// A record is one unit of two 64-bit words, followed by program counters where its type has them:
//   w0 = type:4 (63…60) | address>>3:45 (59…15) | size:15 (14…0)
//   w1 = stamp delta:32 (63…32) | keep:16 (31…16) | fresh:16 (15…0)
// A record with a stack says: keep the `keep` outermost frames of this ring's previous stack, then push `fresh` program
// counters, which follow outermost first, padded to a whole unit. A prefix belongs to the record after it, and both are
// published by one store of head, in one chunk. A program counter is a return address; for a frame that a signal
// interrupted it is the interrupted address + 1. So pc − 1 always lies inside the instruction that is meant.
//
// Trust:  decoding cannot fail; the collector checks what the fields mean (cli/collect/rings/ring_decoder.h).
// Cost:   packing is a few shifts; static_asserts pin the layout.
#pragma once

#include <cstdint>

namespace heapprof::wire {

inline constexpr uint64_t kUnitBytes = 16;

// clang-format off
#define HEAPPROF_RECORD_TYPES(X)                                                                                       \
  X(kMalloc,         1)  /* a block begins: address, size, stack */                                                    \
  X(kFree,           2)  /* a block ends: address */                                                                   \
  X(kReallocBegin,   3)  /* realloc is about to be called on address: the block is unlinked, but still counts */       \
  X(kReallocEnd,     4)  /* realloc returned: that block ends, a new one begins: address, size and stack */            \
  X(kReallocCancel,  5)  /* realloc failed: that block lives on */                                                     \
  X(kReallocFree,    6)  /* realloc(p, 0) freed that same block */                                                     \
  X(kStack,          7)  /* a part of a stack too long for one record: keep, fresh; the next record carries on */      \
  X(kPrefixSize,     8)  /* prefix: w1 is the size of the next record, whose own size field is kSizeInPrefix */        \
  X(kPrefixAddress,  9)  /* prefix: w1 is the address of the next record, whose own address field is 0 */              \
  X(kPrefixTruncated, 10) /* prefix: the next record's stack could not be walked to its end; w1 = TruncationCause */   \
  X(kPrefixDevice,  11)  /* prefix: the next record, kMalloc or kFree, is of a device; w1: pack_device */              \
  X(kPrefixObject,  12)  /* prefix, after kPrefixDevice: w1 is the operation's context or handle */                    \
  X(kScope,          13) /* a scope begins, ends …, or a mark: shared/scopes.h */ \
  X(kLaunch,         14) /* a kernel or a graph is launched on a CUDA device: shared/kernels.h */ \
  X(kControl,        15) /* w0 low byte: ControlKind, w1: its value */
// clang-format on

enum class RecordType : uint32_t {
#define X(name, number) name = number,
  HEAPPROF_RECORD_TYPES(X)
#undef X
};

// clang-format off
#define HEAPPROF_CONTROL_KINDS(X)                                                                                      \
  X(kTimestamp,  1)  /* w1 = absolute stamp; the deltas that follow count from it */                                   \
  X(kThread,     2)  /* w1 = thread id: the events that follow belong to this thread */                                \
  X(kGeneration, 3)  /* w1 = Control::generation of the events that follow it */                                       \
  X(kReset,      4)  /* w1 = events lost in this ring so far: the previous stack is empty again */                     \
  X(kChunk,      5)  /* w1 = offset in the ring of the record that follows, the beginning of a chunk */                \
  X(kScopeTime,  6)  /* w1 = nanoseconds at the kScope record that follows, where stamps are not times */              \
  X(kLaunches,   7)  /* w1 = kernels that this ring's owners have launched so far; before a kScope record */ \
  X(kInterval,   8)  /* w1 = the sampling interval of blocks that begin from here on; 0: all are recorded */
// clang-format on

enum class ControlKind : uint32_t {
#define X(name, number) name = number,
  HEAPPROF_CONTROL_KINDS(X)
#undef X
};

enum class TruncationCause : uint32_t {
  kDepth = 1,         // deeper than Control::max_frames
  kNoUnwindInfo = 2,  // a frame without call frame information (JIT code, hand-written assembly)
  kBadFrame = 3,      // unwind information gave an address that cannot be a frame
};

// What a record after kPrefixDevice says: X(name, number, record, effect, device, object, range). The collector
// accounts for device memory separately, so it never confuses an address of a device with one of the heap, or with a
// handle. shared/device_operations.h makes a table of this list, against which the collector checks records;
// shared/devices.md shows it.
//   record  kMalloc: it has a size and a stack; kFree: an address only. If the address means nothing, it is 8, because
//           an address is never 0
//   effect  kBegins, kEnds: memory begins or ends; kResumes: the call failed, so memory that was recorded as ended
//           lives on; kNone: none of these
//   device  what its device field must be: kAny, kMemory (a device that has memory), kMemoryOrHost, kPages (pages of a
//           program), kMappedPages (kMappedDevice for usable pages, with or without a file, or kReservedDevice), kCall
//           (a DeviceCall), kInner (has blocks inside: kPythonDevice, or a CUDA device)
//   object  what its object must be: kAny, kSome (not 0), kBytes (a length), kHolding, kEstimate
//   range   kNoRange; kOfSize, kOfObject: the record is about pages at its address, as many bytes as its size or object
// clang-format off
#define HEAPPROF_DEVICE_OPERATIONS(X) \
  /* memory at address, until it is freed or its context (object; 0: none) ends */ \
  X(kAllocate,          1, kMalloc, kBegins,  kMemory,       kAny,      kNoRange) \
  /* the memory at address ends, or what is mapped there, on any device */ \
  X(kRelease,           2, kFree,   kEnds,    kAny,          kAny,      kNoRange) \
  /* physical memory begins; the handle (object) is the first reference to it */ \
  X(kCreateHandle,      3, kMalloc, kBegins,  kMemory,       kSome,     kNoRange) \
  /* one more reference to the handle (object) */ \
  X(kRetainHandle,      4, kFree,   kNone,    kAny,          kSome,     kNoRange) \
  /* one reference to the handle (object) less; without references and mappings the memory ends */ \
  X(kReleaseHandle,     5, kFree,   kEnds,    kAny,          kSome,     kNoRange) \
  /* the handle (object) is mapped at address */ \
  X(kMap,               6, kMalloc, kNone,    kAny,          kSome,     kNoRange) \
  /* the mappings in [address, address + size) end */ \
  X(kUnmap,             7, kMalloc, kEnds,    kAny,          kAny,      kNoRange) \
  /* the context (object) ends, and with it what was allocated in it; device: ContextEnd */ \
  X(kEndContext,        8, kFree,   kEnds,    kAny,          kSome,     kNoRange) \
  /* this thread's last kRelease failed: the memory at address lives on */ \
  X(kKeep,              9, kFree,   kResumes, kAny,          kAny,      kNoRange) \
  /* the device had no memory of that size; address: pack_free, object: pack_refusal */ \
  X(kRefuse,           10, kMalloc, kNone,    kMemoryOrHost, kSome,     kNoRange) \
  /* a call that took time of the host, and moved or set size bytes; object: pack_duration */ \
  X(kCall,             11, kMalloc, kNone,    kCall,         kSome,     kNoRange) \
  /* as kAllocate, from a pool of the driver, whose memory no context ends */ \
  X(kAllocateFromPool, 12, kMalloc, kBegins,  kMemory,       kAny,      kNoRange) \
  /* address is memory of a graph: its kRelease ends nothing */ \
  X(kGraphAddress,     13, kFree,   kNone,    kAny,          kAny,      kNoRange) \
  /* what the driver holds on the device; object: pack_holding, address: pack_free of the most so far */ \
  X(kHold,             14, kFree,   kNone,    kMemory,       kHolding,  kNoRange) \
  /* this thread's last kUnmap failed: the mappings live on */ \
  X(kKeepMappings,     15, kFree,   kResumes, kAny,          kAny,      kNoRange) \
  /* as kAllocate, by a CUDA runtime call in which no driver call was seen */ \
  X(kAllocateUnseen,   16, kMalloc, kBegins,  kMemory,       kAny,      kNoRange) \
  /* the memory at address ends if it began by kAllocateUnseen */ \
  X(kReleaseUnseen,    17, kFree,   kEnds,    kAny,          kAny,      kNoRange) \
  /* this thread begins an operation that takes memory implicitly; object: pack_free before it */ \
  X(kBeginEstimate,    18, kFree,   kNone,    kMemory,       kSome,     kNoRange) \
  /* that operation is done; address: pack_free after it, object: EstimateKind, size: the device's memory */ \
  X(kEndEstimate,      19, kMalloc, kNone,    kMemory,       kEstimate, kNoRange) \
  /* pages at address begin (object: MapFlags); what was mapped there before ends */ \
  X(kMapRange,         20, kMalloc, kBegins,  kPages,        kAny,      kOfSize) \
  /* pages at address, `object` bytes of them, end */ \
  X(kUnmapRange,       21, kFree,   kEnds,    kAny,          kBytes,    kOfObject) \
  /* mremap moves these pages: they count until this thread's next kMapRange or kKeepRange */ \
  X(kMoveRange,        22, kFree,   kEnds,    kAny,          kBytes,    kOfObject) \
  /* this thread's last kUnmapRange or kMoveRange failed: those pages live on */ \
  X(kKeepRange,        23, kFree,   kResumes, kAny,          kAny,      kNoRange) \
  /* the pages at address become usable (device kMappedDevice), or unusable (kReserved…) */ \
  X(kProtectRange,     24, kMalloc, kNone,    kMappedPages,  kAny,      kOfSize) \
  /* this thread's last kReleaseHandle failed: the reference lives on */ \
  X(kKeepHandle,       25, kFree,   kResumes, kAny,          kSome,     kNoRange) \
  /* a block at address inside memory that counts elsewhere: an object of Python, a tensor in a CUDA device */ \
  X(kBeginInner,       26, kMalloc, kBegins,  kInner,        kAny,      kNoRange) \
  /* the block at address inside such memory ends */ \
  X(kEndInner,         27, kFree,   kEnds,    kInner,        kAny,      kNoRange) \
  /* the block at address is about to be resized: it counts until this thread's next kResizeInner or kKeepInner */ \
  X(kMoveInner,        28, kFree,   kNone,    kInner,        kAny,      kNoRange) \
  /* it was resized: the old block ends, and one begins at address */ \
  X(kResizeInner,      29, kMalloc, kBegins,  kInner,        kAny,      kNoRange) \
  /* this thread's last kMoveInner failed: that block lives on */ \
  X(kKeepInner,        30, kFree,   kResumes, kInner,        kAny,      kNoRange) \
  /* there was no memory for a block of that size; address: pack_free of what its allocator has left, object: 1 */ \
  X(kRefuseInner,      31, kMalloc, kNone,    kInner,        kSome,     kNoRange)
// clang-format on

enum class DeviceOperation : uint32_t {
#define X(name, number, ...) name = number,
  HEAPPROF_DEVICE_OPERATIONS(X)
#undef X
};

// What a kEndContext record means. A call that may end a context has a record before it and one after it: what other
// threads allocate in between belongs to another context, to which the driver gave the same handle.
enum class ContextEnd : uint32_t {
  kHasEnded = 0,  // the context ended, with all that was allocated in it before this thread's kMayEnd, if there was one
  kMayEnd = 1,    // a call that may end the context begins
  kLivesOn = 2,   // the call did not end it
};

// Calls that take the host's time, by what they do.
// clang-format off
#define HEAPPROF_DEVICE_CALLS(X)                                                                                       \
  X(kAllocate,            1, "allocate")            \
  X(kFree,                2, "free")                \
  X(kAllocateAsync,       3, "allocate async")      \
  X(kFreeAsync,           4, "free async")          \
  X(kAllocatePinned,      5, "allocate pinned")     \
  X(kFreePinned,          6, "free pinned")         \
  X(kSynchronizeContext,  7, "synchronize device")  \
  X(kSynchronizeStream,   8, "synchronize stream")  \
  X(kSynchronizeEvent,    9, "synchronize event")   \
  X(kCopyToDevice,       10, "copy to device")      \
  X(kCopyToHost,         11, "copy to host")        \
  X(kCopyOnDevice,       12, "copy on device")      \
  X(kCopy,               13, "copy")                \
  X(kSet,                14, "set")                 \
  X(kWaitForEvent,       15, "wait for event")      \
  X(kRecordEvent,        16, "record event")        \
  X(kLaunchGraph,        17, "launch graph")        \
  X(kAllocateInGraph,    20, "allocate in a graph") \
  X(kRegister,           21, "register")            \
  X(kUnregister,         22, "unregister")
// clang-format on

enum class DeviceCall : uint32_t {
#define X(name, number, text) name = number,
  HEAPPROF_DEVICE_CALLS(X)
#undef X
};
// nullptr: no such call.
constexpr const char* device_call_name(uint32_t call) {
  switch (static_cast<DeviceCall>(call)) {
#define X(name, number, text) \
  case DeviceCall::name: return text;
    HEAPPROF_DEVICE_CALLS(X)
#undef X
  }
  return nullptr;
}
// The object of a kCall is the call's duration + 1, because an object is never 0. The unit is a tick of the time stamp
// counter, or a nanosecond with ClockMode::kSequence.
constexpr uint64_t pack_duration(uint64_t ticks) { return ticks + 1; }
constexpr uint64_t duration_of(uint64_t object) { return object - 1; }

// Device numbers: the kind of memory that a record is about.
inline constexpr uint32_t kHostDevice = 0;          // the heap, only in kRefuse: other records of the heap have none
inline constexpr uint32_t kPinnedDevice = 1;        // page-locked host memory of the CUDA driver
inline constexpr uint32_t kManagedDevice = 2;       // memory that moves between host and devices
inline constexpr uint32_t kImportedDevice = 3;      // memory of another process or interface; adds no bytes to any sum
inline constexpr uint32_t kMappedDevice = 4;        // anonymous pages that the program mapped itself
inline constexpr uint32_t kMappedFileDevice = 5;    // pages of files that the program mapped
inline constexpr uint32_t kReservedDevice = 6;      // pages of either kind with PROT_NONE: addresses without memory
inline constexpr uint32_t kRegisteredDevice = 7;    // the program's own, page-locked later; adds no bytes to any sum
inline constexpr uint32_t kPythonDevice = 8;        // objects of Python, inside the heap and mapped pages
inline constexpr uint32_t kUnknownCudaDevice = 15;  // the driver did not say which device
inline constexpr uint32_t kFirstCudaDevice = 16;    // cuda:0
inline constexpr uint32_t kLastCudaDevice = 255;

constexpr uint64_t pack_device(DeviceOperation operation, uint32_t device) {
  return static_cast<uint64_t>(device) << 8 | static_cast<uint64_t>(operation);
}
constexpr DeviceOperation device_operation(uint64_t w1) { return static_cast<DeviceOperation>(w1 & 0xff); }
constexpr uint32_t device_number(uint64_t w1) { return static_cast<uint32_t>(w1 >> 8 & 0xff); }
constexpr bool is_device(uint32_t device) {
  return (device >= kPinnedDevice && device <= kRegisteredDevice) ||
         (device >= kUnknownCudaDevice && device <= kLastCudaDevice);
}

// The object of a kMapRange.
enum MapFlags : uint64_t {
  kMapIsFile = 1,   // the pages map a file, even if they are only reserved
  kMapIsMoved = 2,  // mremap moved them: their kind is that of the pages that this thread's kMoveRange found
  kMapIsCopy = 4,   // with kMapIsMoved: the old pages stay (object 0), and each new page has the kind of its old page
};
// True if a program can have pages there. The collector keeps no account of other ranges.
constexpr bool is_range(uint64_t address, uint64_t size_bytes) {
  return address < 1ull << 56 && size_bytes <= 1ull << 56;
}

// True for a device with blocks inside its memory: objects of Python, or tensors in a CUDA device. These blocks are
// accounted for separately and add no bytes.
constexpr bool has_inner(uint32_t device) {
  return device == kPythonDevice || (device >= kUnknownCudaDevice && device <= kLastCudaDevice);
}

constexpr bool is_mapping(uint32_t device) { return device >= kMappedDevice && device <= kReservedDevice; }

// The object of a kRefuse: what the driver returned, and whether a limit of heapprof refused the allocation before the
// driver was called.
constexpr uint64_t pack_refusal(int result, bool is_by_limit) {
  return static_cast<uint64_t>(is_by_limit) << 32 | static_cast<uint32_t>(result);
}
constexpr int refusal_result(uint64_t object) { return static_cast<int>(object & 0xffffffff); }
constexpr bool is_refusal_by_limit(uint64_t object) { return (object >> 32 & 1) != 0; }
// The object of a kEndEstimate: what the operation made.
enum class EstimateKind : uint32_t { kContext = 1, kModules = 2 };
constexpr bool is_estimate_kind(uint64_t object) { return object == 1 || object == 2; }
// Packs free bytes into an address or an object: + 1, because neither is ever 0.
inline constexpr uint64_t kFreeUnknown = UINT64_MAX;
constexpr uint64_t pack_free(uint64_t free_bytes) { return free_bytes == kFreeUnknown ? kFreeUnknown : free_bytes + 1; }
constexpr uint64_t free_of(uint64_t address) { return address == kFreeUnknown ? kFreeUnknown : address - 1; }

// The object of a kHold: an amount that the driver reports. Two threads may write their answers in another order than
// they queried; `sequence`, which wraps, is the order of the queries.
enum class Holding : uint32_t {
  kPools = 0,           // bytes that the driver's pools have on the device, in use or not
  kGraphsUsed = 1,      // bytes that graphs use
  kGraphsReserved = 2,  // bytes that the driver keeps for graphs
};
inline constexpr uint32_t kHoldings = 3;
inline constexpr uint64_t kHoldingBits = 48;
inline constexpr uint32_t kHoldingSequences = 1u << 13;
constexpr uint64_t pack_holding(Holding holding, uint32_t sequence, bool is_partial, uint64_t size_bytes) {
  constexpr uint64_t kMost = (1ull << kHoldingBits) - 2;
  return static_cast<uint64_t>(holding) << 62 | static_cast<uint64_t>(is_partial) << 61 |
         static_cast<uint64_t>(sequence % kHoldingSequences) << kHoldingBits |
         ((size_bytes < kMost ? size_bytes : kMost) + 1);
}
constexpr uint32_t holding_of(uint64_t object) { return static_cast<uint32_t>(object >> 62); }
constexpr bool is_partial_holding(uint64_t object) { return (object >> 61 & 1) != 0; }  // some pools were not queried
constexpr uint32_t holding_sequence(uint64_t object) {
  return static_cast<uint32_t>(object >> kHoldingBits) % kHoldingSequences;
}
// 0: there is no amount. No agent writes that.
constexpr uint64_t held_plus_one(uint64_t object) { return object & ((1ull << kHoldingBits) - 1); }
static_assert(held_plus_one(pack_holding(Holding::kGraphsUsed, 9000, true, 12345)) == 12346 &&
              holding_of(pack_holding(Holding::kGraphsReserved, 0, false, 0)) == 2 &&
              holding_sequence(pack_holding(Holding::kPools, 8193, true, 7)) == 1);

inline constexpr uint64_t kSizeBits = 15;
inline constexpr uint64_t kSizeInPrefix = (1u << kSizeBits) - 1;
inline constexpr uint64_t kAddressBits = 45;
inline constexpr uint64_t kMaxFreshFrames = 1024;  // most in one record; longer stacks use kStack

struct Record {
  uint64_t w0;
  uint64_t w1;
};
static_assert(sizeof(Record) == kUnitBytes);

// True if the address fits in w0: 8-byte aligned, below 2^48, not 0.
constexpr bool is_compact_address(uint64_t address) {
  const uint64_t rotated = address >> 3 | address << 61;  // low bits become the highest: if set, too large
  return rotated - 1 < (1ull << kAddressBits) - 1;
}
constexpr bool is_compact_size(uint64_t size_bytes) { return size_bytes < kSizeInPrefix; }

constexpr uint64_t pack_w0(RecordType type, uint64_t address, uint64_t size_bytes) {
  return static_cast<uint64_t>(type) << 60 | (address >> 3) << kSizeBits | size_bytes;
}
constexpr uint64_t pack_w1(uint32_t stamp_delta, uint32_t keep, uint32_t fresh) {
  return static_cast<uint64_t>(stamp_delta) << 32 | static_cast<uint64_t>(keep) << 16 | fresh;
}
constexpr Record pack_control(ControlKind kind, uint64_t value) {
  return {static_cast<uint64_t>(RecordType::kControl) << 60 | static_cast<uint64_t>(kind), value};
}

constexpr RecordType record_type(uint64_t w0) { return static_cast<RecordType>(w0 >> 60); }
constexpr uint64_t record_address(uint64_t w0) { return (w0 >> kSizeBits & ((1ull << kAddressBits) - 1)) << 3; }
constexpr uint64_t record_size(uint64_t w0) { return w0 & kSizeInPrefix; }
constexpr uint32_t record_stamp_delta(uint64_t w1) { return static_cast<uint32_t>(w1 >> 32); }
constexpr uint32_t record_keep(uint64_t w1) { return static_cast<uint32_t>(w1 >> 16 & 0xffff); }
constexpr uint32_t record_fresh(uint64_t w1) { return static_cast<uint32_t>(w1 & 0xffff); }
constexpr ControlKind control_kind(uint64_t w0) { return static_cast<ControlKind>(w0 & 0xff); }

constexpr bool has_stack(RecordType type) {
  return type == RecordType::kMalloc || type == RecordType::kReallocEnd || type == RecordType::kStack;
}
// Bytes that the program counters of a record take in the ring.
constexpr uint64_t payload_bytes(uint32_t fresh) { return (static_cast<uint64_t>(fresh) + 1) / 2 * kUnitBytes; }

static_assert(is_compact_address(8) && is_compact_address(0xfffffffffff8) && !is_compact_address(0) &&
              !is_compact_address(0x1004) && !is_compact_address(0x1000000000000));
static_assert(record_address(pack_w0(RecordType::kFree, 0x7fff12345678, 0)) == 0x7fff12345678);
static_assert(record_size(pack_w0(RecordType::kMalloc, 0xfffffffffff8, 1235)) == 1235);
static_assert(record_type(pack_w0(RecordType::kStack, 0xfffffffffff8, kSizeInPrefix)) == RecordType::kStack);

}  // namespace heapprof::wire
