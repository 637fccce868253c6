// agent/start/start.cc: a process image is examined once and has a session in each process that runs it.
//
// The started program has the first session; each forked child has one of its own. A child's session begins at its
// first allocation: pthread_atfork handlers do not run for _Fork and raw system calls, but the kernel wipes the state
// page in every such child.
#include "agent/start/start.h"

#include "agent/cuda/gpu_time.h"
#include "agent/cuda/kernels.h"
#include "agent/cuda/routes.h"
#include "agent/cuda/tensors.h"
#include "agent/hooks/allocator_names.h"
#include "agent/hooks/alternate_stack.h"
#include "agent/hooks/exec.h"
#include "agent/hooks/fork.h"
#include "agent/hooks/host_limit.h"
#include "agent/hooks/inner.h"
#include "agent/hooks/jumped.h"
#include "agent/hooks/mapping.h"
#include "agent/hooks/operator_new.h"
#include "agent/hooks/own_calls.h"
#include "agent/hooks/python_objects.h"
#include "agent/hooks/real.h"
#include "agent/libc/own_file_table.h"
#include "agent/libc/raw.h"
#include "agent/nvtx/tables.h"
#include "agent/process/arena.h"
#include "agent/process/environment.h"
#include "agent/process/generation.h"
#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"
#include "agent/process/loader_lock.h"
#include "agent/process/lock.h"
#include "agent/process/modules.h"
#include "agent/process/own_pages.h"
#include "agent/process/own_variables.h"
#include "agent/process/state.h"
#include "agent/process/thread_stacks.h"
#include "agent/python/codes.h"
#include "agent/python/interpreter.h"
#include "agent/record/clock.h"
#include "agent/record/context.h"
#include "agent/record/reference.h"
#include "agent/start/end.h"
#include "agent/start/handshake.h"
#include "agent/start/registered_frames.h"
#include "agent/start/self_test.h"
#include "agent/torch/operators.h"
#include "agent/unwind/unwind.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/prctl.h>

namespace heapprof::agent {

namespace {

std::atomic<uint32_t> g_resolved{0};           // 0: not yet, 1: a thread is resolving, 2: done
std::atomic<const void*> g_resolver{nullptr};  // that thread, by the address of its flags
const link_map* g_malloc_object = nullptr;
uint32_t g_self_test_failures = 0;
bool g_is_tested = false;  // the allocator was tried
bool g_fork_safe = false;
bool g_has_barrier = false;  // the kernel makes this process's stores visible to others on request

// What the first look at the image found, and every session in it reports to the collector. A forked child does not
// look again: if another thread of its parent was unloading an object, the loader's list may still name objects that
// are no longer mapped.
struct ImageFacts {
  // libc's flag, looked for from the main program on: there may be a copy relocation. nullptr: libc has none (before
  // glibc 2.32).
  const char* single_threaded;
  wire::Hello hello;
};
ImageFacts g_image;

void copy_text(char* to, size_t size, const char* from) {
  strncpy(to, from, size - 1);
  to[size - 1] = 0;
}

void look_at_image() {
  // If there are several definitions, glibc writes the first: a program may have a copy (copy relocation).
  g_image.single_threaded = static_cast<const char*>(find_in_process("__libc_single_threaded").address);
  wire::Hello& hello = g_image.hello;
  hello.magic = wire::kMagic;
  hello.version = wire::kProtocolVersion;
  hello.page_bytes = wire::kPageBytes;
  if (g_image.single_threaded != nullptr) hello.flags |= wire::kHelloSingleThreadedFlag;
  if (find_reference_unwinder()) hello.flags |= wire::kHelloReferenceUnwinder;
  if (can_tell_loaded()) hello.flags |= wire::kHelloFindObject;
  copy_text(hello.agent_version, sizeof hello.agent_version, HEAPPROF_VERSION);
  if (void* version = find_in_glibc("gnu_get_libc_version").address) {
    copy_text(hello.libc_version, sizeof hello.libc_version, reinterpret_cast<const char* (*)()>(version)());
  }
  if (g_malloc_object != nullptr) copy_text(hello.malloc_object, sizeof hello.malloc_object, g_malloc_object->l_name);
  const link_map* new_object = find_in_process("_Znwm").object;
  if (new_object != nullptr) copy_text(hello.new_object, sizeof hello.new_object, new_object->l_name);
}

bool register_membarrier() {
  return !is_error(raw_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0));
}

// How a session begins: with the image, in a forked child, or while the program runs (attach.h).
enum class SessionKind { kFirst, kForked, kLate };

void fill_hello(wire::Hello* hello, SessionKind session) {
  *hello = g_image.hello;
  g_has_barrier = register_membarrier();
  if (g_has_barrier) hello->flags |= wire::kHelloMembarrierRegistered;
  if (session == SessionKind::kForked) hello->flags |= wire::kHelloForked;
  if (session == SessionKind::kLate) hello->flags |= wire::kHelloAttached;
  if (is_new_recorded()) hello->flags |= wire::kHelloNewRecorded;
  if (is_counter_forbidden()) hello->flags |= wire::kHelloWithoutCounter;
  if (is_malloc_replaced()) hello->flags |= wire::kHelloMallocReplaced;
  hello->self_test_failures = g_self_test_failures;
  hello->events_before = g_fork_page.events_before.load(std::memory_order_relaxed);
}

// Reports a forked child without an arena of its own to the parent's collector, by a note in the parent's arena, which
// the child still has. Nothing is reported if the collector itself refused the child, or is dead.
void note_lost_child() {
  if (g_control == nullptr || is_collector_dead()) return;
  char path[sizeof wire::Note::text] = "a forked child";
  if (!is_filtered()) {
    const long length = raw_syscall(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>("/proc/thread-self/exe"),
                                    reinterpret_cast<long>(path), sizeof path - 1);
    if (!is_error(length)) path[length] = 0;
  }
  const auto obstacle = is_filtered() ? wire::ImageObstacle::kChildFiltered : wire::ImageObstacle::kChildCutOff;
  add_note(wire::NoteKind::kImage, static_cast<uint32_t>(obstacle), path, false);
}

// For a child that was forked under a filter: it makes no system call, not even to unmap its parent's arena, but never
// writes there. It is not recorded. Returns false.
bool stay_out() {
  mark_filtered();
  if (g_fork_page.state != AgentState::kUnknown) return false;
  note_lost_child();
  if (is_in_event()) divert_event();
  t_context = nullptr;
  g_fork_page.state = AgentState::kOff;
  return false;
}

// A program may have been started under filters that its collector is not under. The agent looks for them before any
// system call for which a filter might kill the process; it opens a file, as the loader does. In its first session the
// process has one thread, as making others allocates: so no other thread uses the file descriptor table. Signals are
// not blocked, as a filter may kill for that, too: a signal handler that interrupts this function looks for filters
// itself.
void look_for_filters() {
  static bool is_known = false;
  if (is_known) return;
  const Invitation invitation = find_invitation();
  if (invitation.socket_path != nullptr && count_own_filters() > invitation.collector_filters) {
    mark_filtered();
    if (is_loaded_late()) unmark_filtered();  // heapprof has checked before it attached
  }
  is_known = true;
}

// Whether there is a collector to be asked.
bool is_invited(const Invitation& invitation, SessionKind session) {
  return invitation.socket_path != nullptr && (session != SessionKind::kForked || invitation.follow);
}

void leave_parent() {
  forget_contexts();
  forget_arena();
  forget_kernel_names();
  forget_gpu_times();
}

// Asks for an arena and maps it. Leaves no descriptor open.
bool ask_and_map(const Invitation& invitation, SessionKind session) {
  const bool forked = session == SessionKind::kForked;
  int fd = -1;
  wire::Answer answer = kNoAnswer;
  if (!is_filtered()) {  // socket() may be what kills
    wire::Hello hello{};
    fill_hello(&hello, session);
    fd = ask_collector(invitation.socket_path, hello, &answer);
  }
  if (forked && (fd < 0 ? answer == kNoAnswer || answer == wire::Answer::kRecord : !has_room_for_arena(fd)))
    note_lost_child();
  if (forked) leave_parent();
  if (fd < 0) return false;
  const bool mapped = map_arena(fd);
  sys_close(fd);
  return mapped;
}

// As ask_and_map, with descriptors that no other thread can see (own_file_table.h); if the kernel refuses that, with
// ordinary ones.
bool ask_and_map_unseen(const Invitation& invitation, SessionKind session) {
  if (is_filtered()) return ask_and_map(invitation, session);
  bool has_asked = false;
  bool mapped = false;
  run_unseen(FileTable::kUnseen, -1, [&] {
    if (!has_descriptors()) return false;
    has_asked = true;
    mapped = ask_and_map(invitation, session);
    return true;
  });
  return has_asked ? mapped : ask_and_map(invitation, session);
}

}  // namespace

void try_allocator_once() {
  if (g_is_tested) return redirect_allocator_calls_again();  // an attach after a detach
  g_is_tested = true;
  g_self_test_failures = try_allocator(g_malloc_object);
}

namespace {

// Reports the signal that the process gets when its parent dies. An exec keeps it, so a program that ran before this
// image may have set it.
void tell_death_signal() {
  int number = 0;
  if (is_filtered() || is_error(raw_syscall(SYS_prctl, PR_GET_PDEATHSIG, reinterpret_cast<long>(&number)))) return;
  g_control->death_signal.store(static_cast<uint32_t>(number) + 1, std::memory_order_relaxed);
}

// Gets an arena, and what it says of how to record. pre: the lock is held, signals are blocked.
bool join_collector(SessionKind session) {
  const Invitation invitation = find_invitation();
  const bool forked = session == SessionKind::kForked;
  if (!is_invited(invitation, session)) {
    if (forked) leave_parent();
    return false;
  }
  if (!forked && !is_filtered()) try_allocator_once();
  if (!ask_and_map_unseen(invitation, session)) return false;
  if (g_control->magic != wire::kMagic || g_control->version != wire::kProtocolVersion) return false;
  g_control->attached.store(1, std::memory_order_relaxed);
  g_use_tsc = g_control->clock_mode == wire::ClockMode::kTsc;
  g_fences = (g_control->fence_mode == wire::FenceMode::kProducerFence ? kFenceProducer : 0) |
             (session != SessionKind::kFirst && g_use_tsc ? kFenceOrder : 0);
  if (g_image.single_threaded != nullptr) g_single_threaded = g_image.single_threaded;
  g_control->generation.store(g_session, std::memory_order_relaxed);
  tell_death_signal();
  g_control->python_version.store(python_version(), std::memory_order_relaxed);
  settle_python_objects();
  settle_operators();
  forget_codes();
  set_max_frames(g_control->max_frames);
  if (!init_unwinder()) {
    turn_off(wire::StopReason::kNoMemory);
    return false;
  }
  if (g_malloc_object == nullptr) {
    turn_off(wire::StopReason::kNoRealFunctions);
    return false;
  }
  if (!g_fork_safe) {
    turn_off(wire::StopReason::kNoWipeOnFork);
    return false;
  }
  note_doubted_names();
  if (session == SessionKind::kFirst) hook_inner_allocators();
  // Functions that could not be tried by malloc's names are hooked in their code now, so forked children report no
  // failures.
  if (g_control->inner_functions.load(std::memory_order_relaxed) != 0) g_self_test_failures = 0;
  if (session == SessionKind::kFirst && g_control->host_limit_bytes != 0) {
    if (g_control->inner_functions.load(std::memory_order_relaxed) != 0) {  // these hooks cannot enforce it
      turn_off(wire::StopReason::kNoUsableSize);
      return false;
    }
    if (is_new_recorded() || !start_host_limit(g_control->host_limit_bytes, g_malloc_object)) {
      turn_off(wire::StopReason::kNoUsableSize);
      return false;
    }
  }
  return true;
}

// Examines this process image; g_resolved admits one thread. Under a filter, signals are not blocked: a handler of that
// thread may enter, too, and does all of it again, with the same results.
void resolve_once() {
  settle_own_variables();
  if (!is_filtered()) {
    const LargeVariables large = uncount_large_variables();
    note_own_pages(large.start, large.size_bytes);
    g_fork_safe =
        !is_error(raw_syscall(SYS_madvise, reinterpret_cast<long>(&g_fork_page), sizeof g_fork_page, MADV_WIPEONFORK));
  }
  const TablesKept kept(!is_filtered());
  const bool has_malloc = find_real_functions(&g_malloc_object);
  init_find_object();
  look_at_image();
  if (!has_malloc) return;
  settle_mapping_hooks();
  settle_exec_hooks();
  settle_fork_hooks();
  settle_jumped_hooks();
  settle_alternate_stack_hook();
  if (!is_filtered()) settle_thread_stacks();
  settle_cuda_routes();
  nvtx::settle_variable();
  look_for_python();
  find_new_functions(g_malloc_object);
  if (!is_filtered() && !is_loaded_late()) withdraw_new_functions();
}

// With an invitation the agent starts before main even if nothing has been allocated: the collector learns that it is
// loaded.
__attribute__((constructor)) void start_agent() {
  look_for_filters();
  if (is_loaded_late()) return note_loader_lock();  // attach.h says when recording begins
  if (g_fork_page.state == AgentState::kUnknown) start_session();
  settle_end();
  settle_gpu_times();
  const Invitation invitation = find_invitation();
  if (invitation.socket_path != nullptr && !invitation.follow) clean_environment();
}

}  // namespace

void resolve_real_functions() {
  if (g_resolved.load(std::memory_order_acquire) == 2) return;
  look_for_filters();
  const SignalsBlocked blocked(!is_filtered());  // a program may have handlers before it allocates
  uint32_t expected = 0;
  if (g_resolved.compare_exchange_strong(expected, 1, std::memory_order_acquire)) {
    g_resolver.store(&t_flags, std::memory_order_relaxed);
    resolve_once();
    g_resolved.store(2, std::memory_order_release);
    return;
  }
  if (is_filtered() && g_resolver.load(std::memory_order_relaxed) == &t_flags) return resolve_once();
  for (uint32_t round = 0; g_resolved.load(std::memory_order_acquire) != 2; ++round) let_others_run(round);
}

namespace {

// pre: the lock is held; signals are blocked, unless the thread is filtered.
void begin_session(SessionKind session) {
  t_flags |= kThreadStarting;
  g_session = end_what_is_known(kEverything);
  if (!is_filtered()) g_pid = sys_getpid();
  if (session == SessionKind::kForked) forbid_reference_unwinder();
  if (join_collector(session)) {
    g_fork_page.state = AgentState::kOn;
    g_fork_page.generation.store(g_session, std::memory_order_relaxed);
  } else {
    g_fork_page.state = AgentState::kOff;
  }
  t_flags &= ~kThreadStarting;
}

// True in a vfork child whose parent is a forked child that has allocated nothing yet.
bool is_vforked_before_session() { return g_fork_page.forked_pid != 0 && sys_getpid() != g_fork_page.forked_pid; }

// Counts an event that is in no ring; the next session reports the count. Returns false.
bool pass_before_session() {
  g_fork_page.events_before.fetch_add(1, std::memory_order_relaxed);
  return false;
}

}  // namespace

bool start_session() {
  const bool forked = g_session != 0;
  if (forked && is_filtered()) return stay_out();
  if (forked && is_vforked_before_session()) return pass_before_session();
  if (!forked) look_for_filters();
  SignalsBlocked blocked(!is_filtered());
  resolve_real_functions();
  // heapprof has loaded the agent, and no session begins before heapprof's attach
  if (!forked && is_loaded_late()) {
    g_fork_page.state = AgentState::kOff;
    return false;
  }
  if (!is_filtered()) {
    lock(g_fork_page.lock);
  } else if (!try_lock(g_fork_page.lock)) {
    return pass_before_session();  // this thread may hold it, if this is a handler that interrupted it
  }
  if (g_fork_page.state == AgentState::kUnknown) begin_session(forked ? SessionKind::kForked : SessionKind::kFirst);
  unlock(g_fork_page.lock);
  return g_fork_page.state == AgentState::kOn;
}

bool start_late_session() {
  SignalsBlocked blocked;
  lock(g_fork_page.lock);
  if (g_fork_page.state != AgentState::kOn) begin_session(SessionKind::kLate);
  unlock(g_fork_page.lock);
  return g_fork_page.state == AgentState::kOn;
}

bool end_session() {
  constexpr uint32_t kMostRounds = 20'000;  // of let_others_run, 50 µs each: a second
  constexpr uint32_t kUnseenRounds = 300;   // 12 ms: three ticks of the slowest kernel's clock
  SignalsBlocked blocked;
  lock(g_fork_page.lock);
  g_fork_page.generation.store(0, std::memory_order_relaxed);
  g_fork_page.state = AgentState::kOff;
  // An event sets its guard before it checks the state (begin_event_fast). So an event that began before its thread saw
  // these stores has set its guard. If the kernel refuses to make every thread's stores visible (membarrier), wait: a
  // processor delays a store at most until its next interrupt.
  if (!g_has_barrier || is_error(raw_syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0))) {
    for (uint32_t round = 0; round < kUnseenRounds; ++round) let_others_run(round);
  }
  bool is_quiet = !has_events_in_progress();
  for (uint32_t round = 0; !is_quiet && round < kMostRounds; ++round) {
    let_others_run(round);
    is_quiet = !has_events_in_progress();
  }
  uint32_t none = 0;
  const auto reason = is_quiet ? wire::StopReason::kLeft : wire::StopReason::kDetached;  // an event may be half written
  if (g_control != nullptr)  // (S): what was written is seen before
    g_control->stop_reason.compare_exchange_strong(none, static_cast<uint32_t>(reason), std::memory_order_release);
  if (is_quiet) {
    retire_contexts();
    release_arena();
  } else {
    forget_contexts();
    forget_arena();
  }
  forget_kernel_names();
  forget_gpu_times();
  unlock(g_fork_page.lock);
  return is_quiet;
}

const link_map* malloc_object() { return g_malloc_object; }

void note_forked() {
  if (!is_filtered()) g_fork_page.forked_pid = sys_getpid();
  if (g_fork_page.state == AgentState::kUnknown && g_session != 0 && is_in_event()) start_session();
}

FilterNotice expect_filter(FilterReach reach) {
  bool is_leader = has_own_variables() && described_thread_id() == static_cast<uint32_t>(g_pid);
  if (g_fork_page.state == AgentState::kOn) {
    if (!is_filtered()) {
      is_leader = sys_gettid() == g_pid;
      prepare_contexts();
    }
  }
  return note_filter(reach, is_leader);
}

void note_unloading() {
  forget_new_functions();
  forget_cuda();
  forget_tensors();
  forget_operators();
  forget_unloaded_python();
  forget_unloaded_objects();
  forget_frame_functions();
  if (g_fork_page.state != AgentState::kOn) return;  // nothing is recorded
  end_unloaded_modules();
}

}  // namespace heapprof::agent
