// cli/run/processes.cc: one pid may belong to several processes in turn, and one process may run several programs.
//
// Three changes can happen under one pid. First, a process can exec a program with an agent, which says hello again.
// Second, the process can end, and another process gets its pid. Third, the process can exec a program without an
// agent, which never says hello. Each ends the image's profile: the first and the third by exec, the second with an
// unknown end. So they have to be told apart: by pidfd, by the start time in /proc, and by the identity of the program
// image (process_identity.h).
//
// While an agent waits for its answer, its program waits too. So admit() answers first, if possible with an arena that
// was made ahead. It finishes the previous image afterwards, which may take long. To finish a process takes 0.2 to 1
// ms, and a program that forks a thousand times a second leaves sixteen ended processes from one reap() to the next. So
// while an agent waits, only one of them is finished before the agent is answered. (The profiles are written elsewhere:
// finisher.h.)
//
// Slow work is limited, because even with a thousand processes a drain pass must end before a ring is full. reap()
// checks eight processes at a time in /proc (50 µs each), and drain() checks the memory every 5 ms.
#include "cli/run/processes.h"

#include "cli/base/clock.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/units.h"
#include "cli/collect/clock.h"
#include "cli/collect/coverage.h"
#include "cli/run/run_description.h"
#include "cli/target/loader_command.h"
#include "cli/target/process_facts.h"
#include "cli/target/process_names.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <new>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMemoryIntervalNs = 5'000'000;
constexpr uint64_t kWorthStopping = 1 << 20;  // bytes; if all collectors have less, stopping one would free nothing

constexpr uint64_t kTitledNs = 20'000'000;  // a process of this age is first checked for a title

constexpr size_t kWatchedPerReap = 8;  // checks of /proc, 50 µs each
constexpr size_t kMostEnded = 64;      // up to so many ended processes may wait while agents are answered
constexpr int kMostGenerations = 16;   // generations of processes without an agent between two with one

// Makes the arena, and the collector that reads it. A problem: out of memory.
Result<std::unique_ptr<ProcessCollector>> make_collector(const CollectorOptions& options, const wire::Hello& hello,
                                                         const ProcessIdentity& identity, SpareCollector* spare) {
  try {
    Result<std::unique_ptr<ProcessCollector>> collector = spare->take(options);
    if (collector) (*collector)->start(hello, identity);
    return collector;
  } catch (const std::bad_alloc&) {
    return memory_refused("profile it");
  }
}

}  // namespace

struct Processes::Process {
  ProcessHandle handle;
  bool is_root = false;
  ImageIdentity image;
  std::unique_ptr<ProcessCollector> collector;
  RunInfo run;  // what is known at the start
  std::string program;
  std::string comm;
  bool is_loaded = false;    // by a loader that the user started: /proc/PID/exe is the loader
  bool is_emulated = false;  // that loader is Valgrind or an emulator
  bool is_malloc_replaced = false;
  uint32_t entry = ProcessTree::kNone;
  ProcessNumber number = kRootNumber;
  wire::FilterState filter = wire::FilterState::kNone;
  // Its agent has detached, after it had published all its events.
  bool has_left() const { return collector != nullptr && collector->agent_stop() == wire::StopReason::kLeft; }

  std::string first_word;                     // of its first command line; empty once TitleWatch has it
  std::shared_ptr<const WatchedTitle> title;  // may be nullptr
  void take_title() {
    if (title != nullptr) run.title = title->get();
  }

  std::optional<Recording> stopped;  // set if memory ran short: all that was recorded
};

Processes::Processes(ProcessPlan plan, ProcessTree* tree, OnEnd on_end)
    : plan_(std::move(plan)), tree_(tree), on_end_(std::move(on_end)), budget_(plan_.max_memory_bytes) {
  if (plan_.has_second_thread) plan_.collector.second = &second_;
}
Processes::~Processes() = default;

// Called when the process that had this pid has ended.
void Processes::forget(pid_t pid) {
  seen_.erase(pid);
  if (!is_number_of_root(pid)) return;
  is_root_over_ = true;
  tree_->end_root();
}

// The caller's index in the tree. If the caller's parent never asked for an arena, the nearest ancestor that did counts
// as its parent.
uint32_t Processes::enter(pid_t pid, const ProcessLook& look) {
  const uint32_t known = tree_->find(pid, look.start_ticks);
  const bool has_no_room = seen_.count(pid) != 0;  // an exec by a process for which the tree had no room
  if (known != ProcessTree::kNone || has_no_room) return known;
  pid_t parent = look.parent;
  for (int i = 0; i < kMostGenerations && parent > 1 && tree_->find(parent) == ProcessTree::kNone; ++i)
    parent = look_at(parent).parent;
  return tree_->add(pid, look.start_ticks, tree_->find(parent));
}

bool Processes::is_wanted(const Process& process) const {
  if (!plan_.follow) return false;
  if (plan_.follow_only.empty()) return true;
  std::vector<std::string> names = {process.program, process.comm, base_name(process.run.executable)};
  if (!process.run.command.empty()) names.push_back(base_name(process.run.command[0]));
  for (const std::string& glob : plan_.follow_only) {
    for (const std::string& name : names) {
      if (fnmatch(glob.c_str(), name.c_str(), 0) == 0) return true;
    }
  }
  return false;
}

void Processes::describe(const Caller& caller, bool is_root, Process* process) {
  const pid_t pid = caller.pid;
  process->comm = process_comm(pid);
  RunInfo& run = process->run;
  run.pid = static_cast<uint64_t>(pid);
  run.executable = process_executable(pid);
  run.is_fork = (caller.hello.flags & wire::kHelloForked) != 0;
  run.is_attached = (caller.hello.flags & wire::kHelloAttached) != 0;
  process->is_malloc_replaced = (caller.hello.flags & wire::kHelloMallocReplaced) != 0;
  const std::vector<std::string> words = process_command(pid);
  process->first_word = words.empty() ? "" : words[0];
  run.command = is_root && seen_.count(pid) == 0 ? plan_.root_command : words;
  if (const std::optional<LoadedProgram> loaded = find_loaded_program(pid, run.command)) {
    process->is_loaded = true;
    process->is_emulated = loaded->is_emulated;
    run.executable = loaded->path;
    run.command.erase(run.command.begin(), run.command.begin() + static_cast<ptrdiff_t>(loaded->argument));
  }
  run.start_unix_ns = unix_ns();
  run.job = is_root ? process_job(pid) : process_job(pid, look_at(pid).parent);
  run.machine = plan_.machine;
  if (caller.hello.libc_version[0] != 0) run.machine.libc = fmt::format("glibc {}", caller.hello.libc_version);
  process->program = program_name(run.executable, run.command, process->comm);
}

// Makes the arena and answers. False: the kernel refuses it, or the caller is gone.
bool Processes::start(const Caller& caller, Process* process) {
  CollectorOptions options = plan_.collector;
  if ((caller.hello.flags & wire::kHelloWithoutCounter) != 0) options.clock_mode = wire::ClockMode::kSequence;
  if (!plan_.fence_forced) {
    const bool is_registered = (caller.hello.flags & wire::kHelloMembarrierRegistered) != 0;
    options.fence_mode = is_registered ? wire::FenceMode::kMembarrierExpedited : wire::FenceMode::kMembarrierGlobal;
  }
  std::string left_because = plan_.leaves_inner_allocators ? "--no-inner-allocators" : "";
  if (process->run.is_attached) left_because = "it is hooked when a program starts: heapprof run";
  if (process->is_emulated) left_because = "Valgrind or an emulator runs the program, by code of its own";
  std::shared_ptr<const InnerProgram> inner;  // not for a forked child, which has its parent's hooks
  const std::string& executable = process->run.executable;
  const std::string file = process->is_loaded ? fmt::format("/proc/{}/root{}", caller.pid, executable)
                                              : fmt::format("/proc/{}/exe", caller.pid);
  if (!process->run.is_fork) inner = inner_programs_.of(file, left_because);
  const bool inherits = process->run.is_fork || process->run.is_attached;
  Result<std::unique_ptr<ProcessCollector>> collector =
      make_collector(options, caller.hello, {caller.pid, inherits, executable, inner, process->is_loaded}, &spare_);
  if (!collector) {
    Server::answer(caller, wire::Answer::kStayOut, -1);
    tree_->set_fate(process->entry, Fate::kRefused);
    if (process->is_root) {
      root_problem_ = collector.problem();
    } else {
      ++refusals_[collector.problem().what];
    }
    return false;
  }
  process->collector = std::move(*collector);
  RunInfo& run = process->run;
  const auto [seen, is_new] = seen_.try_emplace(caller.pid);
  if (is_new && !process->is_root) seen->second.number = ++last_number_;
  process->number = seen->second.number;
  run.image = seen->second.images++;
  run.coverage = coverage_of(caller.hello, options, run.executable);
  return Server::answer(caller, wire::Answer::kRecord, process->collector->arena_fd());
}

void Processes::admit(Caller caller) {
  if (caller.hello.magic != wire::kMagic || caller.hello.version != wire::kProtocolVersion) {
    ++wrong_version_;
    Server::answer(caller, wire::Answer::kWrongVersion, -1);
    return;
  }
  const auto is_caller = [&caller](const Process& process) { return process.handle.pid == caller.pid; };
  const Iterator before = std::find_if(processes_.begin(), processes_.end(), is_caller);
  const auto unseen = std::find_if(unseen_.begin(), unseen_.end(),
                                   [&caller](const ProcessHandle& handle) { return handle.pid == caller.pid; });
  // Checked now, because the caller waits and is alive. So if the process known under its pid has ended, that was
  // another process.
  const bool is_reused_pid =
      (before != processes_.end() && has_ended(before->handle)) || (unseen != unseen_.end() && has_ended(*unseen));
  if (unseen != unseen_.end()) unseen_.erase(unseen);
  if (is_reused_pid) forget(caller.pid);
  const bool is_root = is_number_of_root(caller.pid);
  if (!is_root && plan_.max_memory_bytes == 0) spare_.expect();

  bool is_recorded = false;
  Process process;
  const ProcessLook look = look_at(caller.pid);
  process.handle = {caller.pid, std::move(caller.pidfd), look.start_ticks};
  process.is_root = is_root;
  process.image = look.image;
  process.run.parent_pid = static_cast<uint64_t>(look.parent);
  process.entry = enter(caller.pid, look);
  describe(caller, is_root, &process);
  tree_->set_program(process.entry, process.program);
  if (is_root) root_became_.clear();
  if (!is_root && !is_wanted(process)) {
    tree_->set_fate(process.entry, Fate::kLeftOut);
    Server::answer(caller, wire::Answer::kStayOut, -1);
  } else if (start(caller, &process)) {
    processes_.push_back(std::move(process));
    is_recorded = true;
  }
  if (!is_recorded && seen_.count(caller.pid) != 0) unseen_.push_back(std::move(process.handle));
  // If the pid is known, the previous image ended by exec, or the process ended and the pid is reused. The previous
  // image is finished only now, after the agent has its answer.
  if (before == processes_.end()) return;
  if (is_reused_pid) {
    finish(before, {EndKind::kUnknown, 0}, true);
  } else {
    finish(before, {EndKind::kExec, 0}, false);
  }
}

uint64_t Processes::drain(RoundKind kind) {
  uint64_t next_ns = Pace::kNever;
  for (Iterator process = processes_.begin(); process != processes_.end();) {
    const Iterator next = std::next(process);
    if (ProcessCollector* collector = process->collector.get()) {
      try {
        collector->drain(kind);
        next_ns = std::min(next_ns, collector->next_drain_ns());
      } catch (const std::bad_alloc&) {
        stop(process, std::nullopt);
      }
    }
    process = next;
  }
  watch_memory();
  return next_ns;
}

Processes::Iterator Processes::largest() {
  Iterator largest = processes_.end();
  uint64_t most_bytes = 0;
  for (Iterator process = processes_.begin(); process != processes_.end(); ++process) {
    if (process->collector == nullptr) continue;
    const uint64_t freeable_bytes = process->collector->memory_need().freeable_bytes;
    if (freeable_bytes >= most_bytes) {
      largest = process;
      most_bytes = freeable_bytes;
    }
  }
  return largest;
}

// Processes are finished one after the other. So the memory left must be enough for the largest of them, not for all.
void Processes::watch_memory() {
  const uint64_t now_ns = monotonic_ns();
  if (now_ns < next_memory_ns_) return;
  next_memory_ns_ = now_ns + kMemoryIntervalNs;
  MemoryNeed need;
  for_each([&need](pid_t, ProcessCollector& collector) {
    const MemoryNeed one = collector.memory_need();
    need.freeable_bytes += one.freeable_bytes;
    need.finish_bytes = std::max(need.finish_bytes, one.finish_bytes);
  });
  if (need.freeable_bytes < kWorthStopping) return;
  const std::optional<MemoryShortage> shortage = budget_.shortage(need);
  bool is_eased = !shortage;
  if (shortage) for_each([&](pid_t, ProcessCollector& collector) { is_eased |= collector.give_up_snapshots(); });
  if (!is_eased) stop(largest(), shortage);
}

// Tells the agent to stop recording; the program runs on. The process's profile is written now, which frees most of its
// memory. The root's profile is written when the root has ended, with the summary.
void Processes::stop(Iterator process, const std::optional<MemoryShortage>& shortage) {
  const std::string limit =
      shortage ? fmt::format(" of {} ({})", format_bytes(shortage->limit_bytes), shortage->limit) : "";
  process->collector->stop(
      fmt::format("{}{} at {}", kMemoryLimitReason, limit, format_time(process->collector->age_ns())));
  if (process->is_root) {
    process->stopped = take_recording(&*process);
    process->collector.reset();
  } else {
    tree_->set_running(process->entry);
    ProcessHandle& handle = process->handle;
    unseen_.push_back({handle.pid, std::move(handle.pidfd), handle.start_ticks});
    finish(process, {EndKind::kDetached, 0}, true);
  }
}

// Always returns a recording. Parts for which there is no memory are left out, and the recording says so.
Recording Processes::take_recording(Process* process) {
  if (process->stopped) return std::move(*process->stopped);
  return process->collector->finish();
}

// Checks one process in /proc. If it has set a seccomp filter, its agent must from now on wait without system calls. If
// it has exec'ed a program without an agent, the image is finished.
void Processes::watch(Iterator process) {
  const pid_t pid = process->handle.pid;
  if (process->filter != wire::FilterState::kCertain && process->collector != nullptr) {
    process->filter = process_filter(pid);
    if (process->filter != wire::FilterState::kNone) process->collector->set_filter(process->filter);
  }
  // Not earlier: most processes of a build have ended before this age, and so cost nothing.
  if (!process->first_word.empty() && process->collector != nullptr && process->collector->age_ns() >= kTitledNs) {
    const ProcessLook look{0, process->handle.start_ticks, process->run.is_fork, process->image};
    if (!is_memory_limited()) process->title = titles_.add(pid, look, process->run.is_fork, process->first_word);
    process->first_word.clear();
  }
  process->take_title();  // forked copies of heapprof use this, and must not call TitleWatch
  if (!is_other_image(process->image, look_at(pid).image) || has_ended(process->handle)) return;
  if (process->is_root) root_became_ = process_executable(pid);
  unseen_.push_back({pid, std::move(process->handle.pidfd), process->handle.start_ticks});
  finish(process, {EndKind::kExec, 0}, false);
}

bool Processes::reap(const std::function<bool()>& is_asked) {
  std::erase_if(unseen_, [this](const ProcessHandle& handle) {
    if (!has_ended(handle)) return false;
    forget(handle.pid);
    return true;
  });
  std::vector<Iterator> ended;
  for (Iterator process = processes_.begin(); process != processes_.end(); ++process) {
    if (!process->is_root && has_ended(process->handle)) ended.push_back(process);
  }
  for (size_t i = 0; i < ended.size(); ++i) {
    if (i != 0 && ended.size() - i <= kMostEnded && is_asked()) return true;
    const pid_t pid = ended[i]->handle.pid;
    finish(ended[i], end_of(ended[i]->handle), true);
    forget(pid);
  }
  size_t position = 0;
  const size_t count = processes_.size();
  for (Iterator process = processes_.begin(); process != processes_.end(); ++position) {
    const Iterator next = std::next(process);
    if ((position + count - watched_ % count) % count < kWatchedPerReap) watch(process);
    process = next;
  }
  watched_ = count == 0 ? 0 : (watched_ + kWatchedPerReap) % count;
  return false;
}

void Processes::end_root(const RunEnd& end) {
  if (!is_root_over_) forget(plan_.root_pid);
  const Iterator root =
      std::find_if(processes_.begin(), processes_.end(), [](const Process& process) { return process.is_root; });
  if (root != processes_.end()) finish(root, end, true);
}

void Processes::detach_all(const RunEnd& root_end) {
  while (!processes_.empty()) {
    const Iterator process = processes_.begin();
    const bool is_root = process->is_root;
    const bool ended = has_ended(process->handle);
    if (!ended) {
      if (process->collector != nullptr && !process->has_left()) process->collector->detach();
      tree_->set_running(process->entry);
    }
    const RunEnd other_end = ended ? end_of(process->handle) : RunEnd{EndKind::kDetached, 0};
    finish(process, is_root ? root_end : other_end, true);
  }
}

void Processes::for_each(const std::function<void(pid_t, ProcessCollector&)>& visit) {
  for (const Process& process : processes_) {
    if (process.collector != nullptr) visit(process.handle.pid, *process.collector);
  }
}

void Processes::for_each_image(const std::function<void(const RunningImage&)>& visit) {
  for (const Process& process : processes_) {
    if (process.collector == nullptr || process.collector->has_stopped()) continue;
    const RunInfo& run = process.run;
    visit({process.handle.pid,
           process.number,
           process.collector.get(),
           {process.is_root, true, run.image, {run.pid, process.program, rank_text(run.job), run.start_unix_ns}}});
  }
}

wire::StopReason Processes::root_stop() const {
  const auto root = std::find_if(processes_.begin(), processes_.end(), [](const Process& one) { return one.is_root; });
  const bool is_there = root != processes_.end() && root->collector != nullptr;
  return is_there ? root->collector->agent_stop() : wire::StopReason::kNone;
}

bool Processes::has(pid_t pid) const {
  return std::any_of(processes_.begin(), processes_.end(), [pid](const Process& one) { return one.handle.pid == pid; });
}

bool Processes::is_known(pid_t pid) const { return tree_->find(pid, look_at(pid).start_ticks) != ProcessTree::kNone; }

Recording Processes::snapshot(pid_t pid) {
  const Iterator process = std::find_if(processes_.begin(), processes_.end(),
                                        [pid](const Process& known) { return known.handle.pid == pid; });
  if (process == processes_.end()) return {};
  const bool has_collector = process->collector != nullptr && !process->collector->has_stopped();
  Recording recording = has_collector ? process->collector->finish_copy() : take_recording(&*process);
  describe_run(&process->run, &recording.run);
  recording.run.end = {EndKind::kRunning, 0};
  return recording;
}

void Processes::finish(Iterator process, RunEnd end, bool is_last) {
  try {
    if (process->collector == nullptr || process->collector->has_stopped()) {
      // nothing is left to be drained
    } else if (end.kind == EndKind::kDetached && !process->has_left() && !has_ended(process->handle)) {
      process->collector->drain();
    } else {
      process->collector->drain_to_end();
    }
  } catch (const std::bad_alloc&) {
    process->collector->stop(fmt::format("{} at {}", kMemoryLimitReason, format_time(process->collector->age_ns())));
  }
  process->take_title();
  EndedImage image;
  const bool is_whole = process->has_left();
  if (is_whole) end = {EndKind::kDetached, 0};  // what the process did after that was not recorded
  image.recording = take_recording(&*process);
  image.is_root = process->is_root;
  image.is_last = is_last;
  image.program = std::move(process->program);
  image.entry = process->entry;
  image.number = process->number;
  RunInfo& run = image.recording.run;
  describe_run(&process->run, &run);
  run.end = end;
  // If the process exec'ed an unprofiled program, the exit status is that program's, and the image ended by exec.
  const std::vector<UnprofiledProgram>& unprofiled = run.coverage.unprofiled_programs;
  if (std::any_of(unprofiled.begin(), unprofiled.end(), [](const auto& program) { return program.replaced_process; }))
    run.end = {EndKind::kExec, 0};
  image.is_lost = run.counters.allocations == 0 && !run.complete && end.kind != EndKind::kDetached;
  if (end.kind == EndKind::kDetached && run.complete && !is_whole) {
    run.complete = false;
    run.incomplete_reason = has_ended(process->handle) ? "the process ended while heapprof was leaving it"
                                                       : "the process was still running when heapprof stopped watching";
  }
  if (process->is_malloc_replaced && run.complete) {
    run.complete = false;
    run.incomplete_reason = kMallocReplacedReason;
  }
  processes_.erase(process);
  on_end_(std::move(image));
}

}  // namespace heapprof::cli
