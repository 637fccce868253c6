// shared/wire.h: layout of the arena that an agent and the collector share, and of the messages that set it up. (The
// file is long because it is one layout.)
//
// One sparse memfd per process, created, sized and sealed by the collector:
//   [control page][module table][notes][names][texts][kernels' names][sampling][ring headers][ring 0][ring 1] … [code
//   objects] (shared/README.md has the tables)
//
// Guarantees
//  - Every structure has a fixed size, checked here; a change of any of them changes kProtocolVersion.
// Trust:    the collector treats every byte of the arena as hostile; the agent trusts the collector.
// Order:    each atomic names its partner below; the letters are those of shared/README.md.
#pragma once

#include "shared/image_obstacle.h"
#include "shared/inner.h"
#include "shared/objects_state.h"
#include "shared/operators_state.h"
#include "shared/sampling.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapprof::wire {

inline constexpr uint32_t kMagic = 0x46505048;  // "HPPF", little endian
inline constexpr uint32_t kProtocolVersion = 25;

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kControlBytes = kPageBytes;
inline constexpr uint64_t kModuleTableBytes = 1u << 20;
inline constexpr uint32_t kMaxNotes = 256;
inline constexpr uint64_t kNoteBytes = 256;
inline constexpr uint32_t kMaxNames = 4096;  // names of scopes and marks
inline constexpr uint64_t kNameBytes = 128;
inline constexpr uint64_t kTextBytes = 4096;   // most bytes of the text that answers a question
inline constexpr uint32_t kMaxKernels = 4096;  // names of kernels
inline constexpr uint64_t kKernelNameBytes = 1024;
inline constexpr uint32_t kMaxRings = 4096;
inline constexpr uint64_t kRingHeaderBytes = 256;
inline constexpr uint32_t kDeviceLimits = 16;  // devices cuda:0 … that can have a limit
inline constexpr uint32_t kLargeRings = 64;    // rings below this index are large
inline constexpr uint64_t kLargeRingBytes = 1u << 20;
inline constexpr uint64_t kSmallRingBytes = 256u << 10;
inline constexpr uint64_t kChunkBytes = 32u << 10;         // a ring is filled chunk by chunk (shared/README.md)
inline constexpr uint32_t kSmallChunks = 2;                // a ring may have so many, however many the others have
inline constexpr uint32_t kMostCalmChunks = 192;           // of all rings: from here on, a ring waits before it grows
inline constexpr uint64_t kQuestionsOff = 1024;            // in the control page: where the questions begin
inline constexpr uint32_t kQuestions = 24;                 // most questions that threads may have open at one time
inline constexpr uint64_t kMostAskingNs = 20'000'000'000;  // longest wait for an answer, while drain passes go on

inline constexpr uint64_t kModuleTableOff = kControlBytes;
inline constexpr uint64_t kNotesOff = kModuleTableOff + kModuleTableBytes;
inline constexpr uint64_t kNamesOff = kNotesOff + kMaxNotes * kNoteBytes;
inline constexpr uint64_t kTextsOff = kNamesOff + kMaxNames * kNameBytes;
inline constexpr uint64_t kKernelsOff = kTextsOff + kQuestions * kTextBytes;
inline constexpr uint64_t kSamplingOff = kKernelsOff + kMaxKernels * kKernelNameBytes;
inline constexpr uint64_t kRingHeadersOff = kSamplingOff + sizeof(SamplingPage);
inline constexpr uint64_t kRingDataOff = kRingHeadersOff + kMaxRings * kRingHeaderBytes;

constexpr uint64_t ring_bytes(uint32_t ring) { return ring < kLargeRings ? kLargeRingBytes : kSmallRingBytes; }
constexpr uint64_t ring_data_off(uint32_t ring) {
  return ring < kLargeRings ? kRingDataOff + ring * kLargeRingBytes
                            : kRingDataOff + kLargeRings * kLargeRingBytes + (ring - kLargeRings) * kSmallRingBytes;
}

// Python code objects (shared/python.h): an index by their number, from 1, says where each one's text is in the texts
// after it.
inline constexpr uint32_t kMaxCodes = 1u << 17;
inline constexpr uint64_t kCodeTextBytes = 64u << 20;
inline constexpr uint64_t kCodesOff = ring_data_off(kMaxRings);
inline constexpr uint64_t kCodeTextsOff = kCodesOff + kMaxCodes * sizeof(uint64_t);
inline constexpr uint64_t kCodesBytes = kMaxCodes * sizeof(uint64_t) + kCodeTextBytes;
inline constexpr uint32_t kPythonUnknown = 1u << 31;  // bit of Control::python_version: its frames cannot be read
inline constexpr uint32_t kMaxPythonFrames = 4096;    // most of a stack, in addition to max_frames

inline constexpr uint64_t kInnerPlanOff = kCodesOff + kCodesBytes;  // shared/inner.h
inline constexpr uint64_t kArenaBytes = kInnerPlanOff + kInnerPlanBytes;

// A mask with a bit for each chunk of the ring.
constexpr uint32_t ring_chunks(uint32_t ring) {
  return static_cast<uint32_t>((uint64_t{1} << ring_bytes(ring) / kChunkBytes) - 1);
}
static_assert(kLargeRingBytes / kChunkBytes == 32);

// Whether the agent is to stop recording: Control::detach.
enum class Detach : uint32_t {
  kNo = 0,
  kSession = 1,  // stop recording, because heapprof detaches
  kProcess = 2,  // this process has ended; processes that share its memory and live on record nothing
};

// The state of the question that a process asks at its end (--leak-check): Control::end_question.
enum class EndQuestion : uint32_t {
  kNone = 0,      // the program has not come to the end of exit() yet
  kAsked = 1,     // the program is there, and waits for Control::end_answer
  kFiltered = 2,  // the program is there, and does not wait, because it may be under a seccomp filter
  kGaveUp = 3,    // the program has waited, and goes on without an answer
};

// How producers stamp their events.
enum class ClockMode : uint32_t {
  kTsc = 1,       // the processor's counter (rdtsc, cntvct_el0), which the kernel trusts as a clock
  kSequence = 2,  // a shared counter (Control::sequence): order without time
};

// Which side makes a producer's `in_event` visible before the collector reads it.
enum class FenceMode : uint32_t {
  kMembarrierExpedited = 1,  // the collector calls membarrier(GLOBAL_EXPEDITED); the agent has registered
  kMembarrierGlobal = 2,     // the collector calls membarrier(GLOBAL): slow, needs no registration
  kProducerFence = 3,        // each producer executes a full fence per event
};

enum class FullPolicy : uint32_t {
  kWait = 0,  // wait while the collector lives and makes progress
  kDrop = 1,  // count the event as lost at once
};

// Whether the target may run under a seccomp filter. If it does, a system call of the agent could kill the target.
enum class FilterState : uint32_t {
  kNone = 0,
  kPossible = 1,  // not known: if a ring is full, the agent waits without system calls; it makes its other ones
  kCertain = 2,   // the first thread is under one: no more system calls, unless the agent saw the filter requested
};

// When the agent reads the CUDA events around kernels, which show how long kernels take on the device, by scope
// (--gpu-time).
enum class GpuTimeMode : uint32_t {
  kOff = 0,        // no CUDA events are recorded around kernels
  kDeferred = 1,   // when the program waits for the device, and when it ends
  kScope = 2,      // when a scope ends: its end waits for the events
  kImmediate = 3,  // after each launch: the launch waits for the events
};

enum class UnwinderKind : uint32_t {
  kHeapprof = 0,       // cached rules over .eh_frame
  kLibunwind = 1,      // unw_step in libheapprof-verify.so
  kVerify = 2,         // kHeapprof, compared with kLibunwind at every event
  kFramePointers = 3,  // stacks are whole only if all code is compiled with frame pointers
};

// Why an agent has stopped recording. Numbers are part of the protocol: append only.
#define HEAPPROF_STOP_REASONS(X)                                                   \
  X(kNone, 0, "recording")                                                         \
  X(kCollectorDied, 1, "the collector died")                                       \
  X(kNoMemory, 2, "the agent could not map its memory")                            \
  X(kProtocolMismatch, 3, "agent and collector speak different protocol versions") \
  X(kNoWipeOnFork, 4, "the kernel refuses MADV_WIPEONFORK (Linux 4.14 or newer)")  \
  X(kNoRealFunctions, 5, "no malloc was found after the agent")                    \
  X(kDetached, 6, "the collector detached")                                        \
  X(kCorruptRing, 7, "a ring held a record that no agent writes")                  \
  X(kNoClock, 8, "the program forbade itself the time stamp counter")              \
  X(kNoUsableSize, 9, "--limit host cannot be kept with this allocator")           \
  X(kLeft, 10, "the agent was asked to stop, and has written all its events")

enum class StopReason : uint32_t {
#define X(name, number, text) name = number,
  HEAPPROF_STOP_REASONS(X)
#undef X
};

constexpr const char* stop_reason_text(StopReason reason) {
  switch (reason) {
#define X(name, number, text) \
  case StopReason::name: return text;
    HEAPPROF_STOP_REASONS(X)
#undef X
  }
  return "an unknown reason";
}

// The first page of the arena. The collector writes a field before the agent maps the page, unless the field's line
// names another writer. shared/README.md has each field's offset and memory order.
struct Control {
  uint32_t magic;
  uint32_t version;
  uint64_t arena_bytes;
  ClockMode clock_mode;
  FenceMode fence_mode;
  FullPolicy full_policy;
  UnwinderKind unwinder;
  uint32_t stall_timeout_ms;
  uint32_t max_frames;                         // deeper stacks are truncated
  std::atomic<FilterState> filter;             // collector, only rising: is the target under a seccomp filter?
  std::atomic<Detach> detach;                  // collector
  std::atomic<uint32_t> rings_claimed;         // agent: rings [0, n) have been used; pairs with (C)
  std::atomic<uint32_t> stop_reason;           // agent: StopReason
  std::atomic<uint32_t> module_bytes;          // agent: bytes ever written to the module table; pairs with (D)
  std::atomic<uint32_t> modules_lost;          // agent: modules that found no room in the table
  std::atomic<uint32_t> generation;            // agent: generation of its cached facts (agent/process/generation.h)
  std::atomic<uint32_t> attached;              // agent: 1 once it has mapped the arena
  std::atomic<uint64_t> events_lost;           // agent: events that found no ring at all
  std::atomic<uint64_t> events_abandoned;      // agent: events abandoned by siglongjmp or a dying thread
  std::atomic<uint64_t> verify_checked;        // agent, --verify-stacks: events compared with unw_step
  std::atomic<uint64_t> verify_mismatched;     // agent, --verify-stacks: events that differed
  std::atomic<uint64_t> verify_skipped;        // agent, --verify-stacks: events that were not compared
  std::atomic<uint64_t> kernel_launches;       // agent: CUDA kernels launched by threads without a ring of their own
  std::atomic<uint64_t> heartbeat;             // collector: grows with every drain pass
  std::atomic<uint32_t> notes_claimed;         // agent: notes [0, n) are or were being written; above kMaxNotes: lost
  uint32_t has_device_limits;                  // 1: an entry of device_limits is not 0
  uint32_t hooks_deep_bind;                    // 1: dlopen is called without RTLD_DEEPBIND
  std::atomic<uint32_t> resident_chunks;       // both sides: number of bits set in resident of all rings
  uint64_t device_limits[kDeviceLimits];       // most bytes that the process may have on cuda:0 …; 0: no limit
  alignas(64) std::atomic<uint64_t> sequence;  // agent, ClockMode::kSequence: the last stamp given
  // A robust futex that the collector's thread holds: the first 32-bit word has kFutexOwnerDied once that thread is
  // dead. It is not a pthread_mutex_t, because the target could overwrite the links in a mutex
  // (cli/collect/liveness.h).
  alignas(64) unsigned char liveness[64];
  uint32_t estimates_gpu;              // 1: the agent queries free memory before and after a context or module is made
  uint64_t host_limit_bytes;           // most usable bytes that the process may have on the heap; 0: no limit
  std::atomic<uint32_t> modules_read;  // collector: bytes of the module table that may be overwritten; pairs with (G)
  uint32_t leak_check;                 // 1: the agent asks at the end of exit(), and waits for the answer
  std::atomic<EndQuestion> end_question;    // agent: pairs with (H)
  std::atomic<uint32_t> end_answer;         // collector: 1: the program may go on; a futex word, pairs with (I)
  uint64_t end_stack_avma;                  // agent, before it asks: the exiting thread's stack pointer …
  uint64_t end_thread_avma;                 // … its thread pointer …
  uint32_t end_thread_id;                   // … and its id, in its own pid namespace
  uint32_t own_pages_count;                 // agent: number of entries in the table of its private mappings, so far …
  uint64_t own_pages_avma;                  // … and that table's address: pairs of address and bytes
  std::atomic<uint32_t> questions_asked;    // agent: how many questions were ever asked; pairs with (J)
  std::atomic<uint32_t> names_lost;         // agent, adding: times that a scope's or mark's name found no room
  uint32_t nvtx;                            // 1: ranges and marks of NVTX become scopes and marks
  std::atomic<uint32_t> nvtx_left;          // agent, adding: objects whose NVTX was left to another tool
  std::atomic<uint32_t> kernel_names_lost;  // agent, adding: times that a kernel's name found no room
  GpuTimeMode gpu_time;
  std::atomic<uint64_t> gpu_captured;       // agent, adding: launches without a time: a stream was being captured
  std::atomic<uint64_t> gpu_untimed;        // agent, adding: launches without a time: no event was available
  std::atomic<uint64_t> gpu_waits;          // agent, adding: how often it waited for the device …
  std::atomic<uint64_t> gpu_wait_ticks;     // … and how long
  std::atomic<uint64_t> code_bytes;         // agent, adding: bytes claimed for code objects' texts, room or not
  std::atomic<uint32_t> codes_lost;         // agent, adding: times that a code object found no room
  std::atomic<uint32_t> python_broken;      // agent, adding: Python stacks that ended at something that is not a frame
  std::atomic<uint32_t> python_version;     // agent: the interpreter's, as PY_VERSION_HEX >> 16; 0: no interpreter
  uint32_t python_objects;                  // 1: blocks of Python's own allocator are recorded
  std::atomic<ObjectsState> objects_state;  // agent: whether they are recorded, or why not
  std::atomic<uint32_t> objects_found_again;    // agent, adding: times that Python restored its allocator before it ran
  std::atomic<uint32_t> tensors_refused;        // agent, adding: reports of tensors without an address
  uint32_t python;                              // 1: stacks include Python frames
  uint32_t torch_operators;                     // 1: operators of PyTorch become scopes
  std::atomic<OperatorsState> operators_state;  // agent: whether operators become scopes, or why not
  std::atomic<uint32_t> operators_lost;         // agent, adding: operators that began without becoming a scope
  uint32_t inner_plan_bytes;                    // bytes of the plan for an allocator inside the executable; 0: no plan
  std::atomic<InnerState> inner_state;          // agent: whether the plan was carried out, or why not
  std::atomic<uint32_t> inner_functions;        // agent: how many functions were hooked
  std::atomic<uint32_t> inner_passed;   // agent: bit i: group i gets its memory from functions that are hooked anyway
  std::atomic<uint32_t> inner_doubted;  // agent, adding: bit i: group i does not behave like an allocator
  std::atomic<uint32_t> death_signal;   // agent: 1 more than the signal of PR_SET_PDEATHSIG; 0: not known
};
static_assert(sizeof(Control) == 704 && sizeof(Control) <= kQuestionsOff);
static_assert(offsetof(Control, filter) == 40 && offsetof(Control, events_lost) == 72 &&
              offsetof(Control, notes_claimed) == 128 && offsetof(Control, device_limits) == 144 &&
              offsetof(Control, sequence) == 320 && offsetof(Control, liveness) == 384 &&
              offsetof(Control, estimates_gpu) == 448 && offsetof(Control, host_limit_bytes) == 456 &&
              offsetof(Control, modules_read) == 464 && offsetof(Control, end_question) == 472 &&
              offsetof(Control, end_stack_avma) == 480 && offsetof(Control, own_pages_avma) == 504 &&
              offsetof(Control, questions_asked) == 512 && offsetof(Control, death_signal) == 640);

// The kernel sets this bit of the liveness word when the collector's thread dies.
inline constexpr uint32_t kFutexOwnerDied = 0x40000000;

// How often the events of a ring left the fast path of unwinding, by cause (agent/unwind/README.md). One writer:
// relaxed loads and stores.
struct UnwindCounters {
  std::atomic<uint64_t> changed_stacks;   // stacks with frames that the event before did not have
  std::atomic<uint64_t> second_walks;     // walks begun again without reused frames: a frame after them needed rbp
  std::atomic<uint64_t> whole_walks;      // stacks walked from end to end, because a frame is special or not described
  std::atomic<uint64_t> register_walks;   // of those: stacks walked once more, with every register
  std::atomic<uint64_t> special_frames;   // frames that the interpreter stepped over
  std::atomic<uint64_t> guessed_frames;   // frames that frame pointers stepped over
  std::atomic<uint64_t> shared_rules;     // rules that this thread did not have, but the process did
  std::atomic<uint64_t> made_rules;       // rules that were made from call frame information
  std::atomic<uint64_t> unkept_rules;     // of those: rules that could not be kept: no object contains their address
  std::atomic<uint64_t> forgotten_rules;  // times that unloaded code invalidated all rules of a thread
};
static_assert(sizeof(UnwindCounters) == 80);

// A ring: `head` and `tail` count bytes and are never reset. The offset in the data is the count modulo the ring's size
// until the first kChunk record; each kChunk record gives the offset from then on.
struct alignas(128) RingHeader {
  // The producer's cache lines.
  std::atomic<uint64_t> head;         // (A) published bytes: release by the producer, acquire by the collector
  std::atomic<uint32_t> in_event;     // (B) 1 while an event is being stamped and written
  std::atomic<uint32_t> thread_id;    // kernel thread id of the owner in its own pid namespace
  std::atomic<uint64_t> events_lost;  // events dropped because the ring was full
  std::atomic<uint32_t> shared;       // 1: several threads take turns in this ring behind a lock of the agent
  uint32_t reserved0;
  UnwindCounters unwind;
  std::atomic<uint64_t> kernel_launches;  // CUDA kernels launched by the ring's owners
  uint32_t reserved1[2];
  // The consumer's cache line.
  std::atomic<uint64_t> tail;           // consumed bytes: shows the producer that the collector makes progress
  std::atomic<uint32_t> waiting;        // 1: the producer sleeps on wake_sequence
  std::atomic<uint32_t> wake_sequence;  // futex word
  // (E) Low half: the producer's chunks: it sets a bit before it writes there, the collector clears the bit when it has
  //     read the chunk. High half: chunks that the collector is giving back to the system.
  std::atomic<uint64_t> chunks;
  std::atomic<uint32_t> resident;  // chunks that may have memory: set by the producer, cleared by the collector
  uint32_t reserved2[9];
  // The producer's cache line.
  Countdown countdown;
  uint32_t reserved3[8];
};
static_assert(sizeof(RingHeader) == kRingHeaderBytes);
static_assert(offsetof(RingHeader, unwind) == 32 && offsetof(RingHeader, kernel_launches) == 112 &&
              offsetof(RingHeader, tail) == 128 && offsetof(RingHeader, wake_sequence) == 140 &&
              offsetof(RingHeader, chunks) == 144 && offsetof(RingHeader, resident) == 152 &&
              offsetof(RingHeader, countdown) == 192);

// One loaded object, appended to the module table before any of its addresses is in a published record. The table is
// circular: if an entry does not fit before the table's end, a word of 0 says so, and the entry begins at the table's
// start.
// Followed by path_bytes of path and build_id_bytes of build id, padded to a multiple of 8.
struct ModuleEntry {
  uint32_t entry_bytes;  // size of the whole entry, a multiple of 8
  uint32_t generation;   // the entry is valid from this generation on
  uint64_t start_avma;   // first mapped address
  uint64_t end_avma;     // one past the last
  uint64_t load_bias;    // avma − svma
  uint16_t path_bytes;
  uint16_t build_id_bytes;
  uint32_t reserved;
};
static_assert(sizeof(ModuleEntry) == 40);

// A note reports what the agent saw and the profile cannot show: it is not an event. Any thread, a signal handler, a
// vfork child, or a fork child before its first allocation may add one; equal notes are counted, not repeated.
enum class NoteKind : uint32_t {
  // A program that cannot load the agent, and that the process started or became; reason: ImageObstacle.
  kImage = 1,
  // An object with functions that are not hooked; reason: BypassReason.
  kBypass = 2,
  // What a device is; reason: its number; text: DEVICE_UUID PCI_ID BYTES NAME, with a blank after each but the last.
  kDevice = 3,
  // A CUDA driver function that gives out memory and has no hook; reason: CUDA's version.
  kUnknownFunction = 4,
};

enum class BypassReason : uint32_t {
  kDeepBind = 1,   // dlopen with RTLD_DEEPBIND
  kNamespace = 2,  // dlmopen into a namespace of its own
  kNames = 3,      // it has functions with an allocator's names, which do not behave like the allocator's
};

struct Note {
  std::atomic<uint32_t> ready;  // 1: kind, reason and text are written (F)
  NoteKind kind;
  uint32_t reason;
  std::atomic<uint32_t> count;  // how often this was seen; a failed exec is subtracted again
  std::atomic<uint32_t> own;    // of those, how often the process itself became the program (kImage)
  uint32_t text_bytes;
  char text[kNoteBytes - 24];  // see NoteKind; of a longer path only the end is kept
};
static_assert(sizeof(Note) == kNoteBytes);

// ---- The handshake, over a SOCK_SEQPACKET socket whose name is in the environment (shared/env.h) ----

enum HelloFlags : uint32_t {
  kHelloMembarrierRegistered = 1u << 0,
  kHelloForked = 1u << 1,              // a fork child of a process that had an agent
  kHelloNewRecorded = 1u << 2,         // operator new and malloc come from one object: new and delete record
  kHelloSingleThreadedFlag = 1u << 3,  // libc has __libc_single_threaded
  kHelloReferenceUnwinder = 1u << 4,   // libheapprof-verify.so is loaded
  kHelloFindObject = 1u << 5,          // libc has _dl_find_object
  kHelloAttached = 1u << 6,            // the agent was loaded later: it did not see every block begin
  kHelloWithoutCounter = 1u << 7,      // the time stamp counter is forbidden (PR_SET_TSC): stamps are sequence numbers
  kHelloMallocReplaced = 1u << 8,      // Valgrind's tool serves malloc itself: the program's calls reach no hook
};

// Agent → collector, one packet. Strings end with a zero byte.
struct Hello {
  uint32_t magic;
  uint32_t version;
  uint32_t flags;               // HelloFlags
  uint32_t self_test_failures;  // bit i: hook i of shared/hooks.def gave a wrong number of events
  uint64_t page_bytes;
  uint64_t events_before;  // heap events before the agent could connect: a vfork child's, in its parent's memory
  char agent_version[32];
  char libc_version[32];
  char malloc_object[256];  // path of the object that serves malloc; empty: the main program
  char new_object[256];     // path of the object with operator new; empty: no such object is loaded
};
static_assert(sizeof(Hello) == 32 + 64 + 512);

enum class Answer : uint32_t {
  kRecord = 1,   // a memfd comes with this packet: map it and record
  kStayOut = 2,  // the process is not profiled: it runs on without recording
  kWrongVersion = 3,
};

// Collector → agent, one packet; with Answer::kRecord the arena's memfd travels by SCM_RIGHTS.
struct Welcome {
  uint32_t magic;
  uint32_t version;
  Answer answer;
  uint32_t reserved;
  uint64_t arena_bytes;
};
static_assert(sizeof(Welcome) == 24);

}  // namespace heapprof::wire
