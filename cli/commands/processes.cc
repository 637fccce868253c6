// cli/commands/processes.cc: see processes.h.
#include "cli/commands/processes.h"

#include "cli/target/process_facts.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <iterator>

namespace heapprof::cli {

namespace {

// Bits of wire::Hello::self_test_failures; the places are those of shared/hooks.def.
constexpr const char* kHookNames[] = {
#define X(result, name, params, args) #name,
#include "shared/hooks.def"
#undef X
};
constexpr uint32_t kNewBit = 31;

int64_t unix_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000ll + now.tv_nsec;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

Coverage describe_coverage(const wire::Hello& hello, const CollectorOptions& options, const std::string& executable) {
  Coverage coverage;
  coverage.agent_version = hello.agent_version;
  coverage.allocator = hello.malloc_object[0] != 0 ? file_name(hello.malloc_object) : file_name(executable);
  coverage.new_recorded = (hello.flags & wire::kHelloNewRecorded) != 0;
  coverage.clock = options.clock_mode == wire::ClockMode::kTsc ? "tsc" : "sequence";
  coverage.unwinder = options.unwinder == wire::UnwinderKind::kLibunwind ? "libunwind" : "heapprof";
  for (size_t bit = 0; bit < std::size(kHookNames); ++bit) {
    if ((hello.self_test_failures >> bit & 1) != 0) coverage.self_test_failures.emplace_back(kHookNames[bit]);
  }
  if ((hello.self_test_failures >> kNewBit & 1) != 0) coverage.self_test_failures.emplace_back("operator new");
  return coverage;
}

bool has_ended(int pidfd) {
  pollfd waiting{pidfd, POLLIN, 0};
  return poll(&waiting, 1, 0) == 1;
}

}  // namespace

struct Processes::Process {
  pid_t pid = 0;
  UniqueFd pidfd;
  std::unique_ptr<ProcessCollector> collector;
  RunInfo run;  // what is known at the start
  wire::FilterState filter = wire::FilterState::kNone;
};

Processes::Processes(ProcessPlan plan, OnEnd on_end) : plan_(std::move(plan)), on_end_(std::move(on_end)) {}
Processes::~Processes() = default;

void Processes::admit(Caller caller) {
  const bool is_root = caller.pid == plan_.root_pid;
  if (caller.hello.magic != wire::kMagic || caller.hello.version != wire::kProtocolVersion) {
    ++wrong_version_;
    Server::answer(caller, wire::Verdict::kWrongVersion, -1);
    return;
  }
  if (!plan_.follow && !is_root) {
    ++refused_;
    Server::answer(caller, wire::Verdict::kStayOut, -1);
    return;
  }
  const auto is_caller = [&caller](const Process& process) { return process.pid == caller.pid; };
  const Iterator before = std::find_if(processes_.begin(), processes_.end(), is_caller);
  // Asked now, while the caller waits and so lives: if the process that had its number has ended, it was another one.
  const bool is_reused_pid = before != processes_.end() && before->pidfd.is_open() && has_ended(before->pidfd.get());
  if (is_reused_pid) images_.erase(caller.pid);

  CollectorOptions options = plan_.collector;
  if (!plan_.fence_forced) {
    options.fence_mode = (caller.hello.flags & wire::kHelloMembarrierRegistered) != 0
                             ? wire::FenceMode::kMembarrierExpedited
                             : wire::FenceMode::kMembarrierGlobal;
  }
  Result<std::unique_ptr<ProcessCollector>> collector = ProcessCollector::create(options);
  if (!collector) {
    problems_.push_back(collector.problem());
    Server::answer(caller, wire::Verdict::kStayOut, -1);
    return;
  }
  Process process;
  process.pid = caller.pid;
  process.collector = std::move(*collector);
  RunInfo& run = process.run;
  run.pid = static_cast<uint64_t>(caller.pid);
  run.parent_pid = process_parent(caller.pid);
  run.executable = process_executable(caller.pid);
  run.is_fork = (caller.hello.flags & wire::kHelloForked) != 0;
  run.image = images_[caller.pid]++;
  run.command = is_root && run.image == 0 ? plan_.root_command : process_command(caller.pid);
  run.start_unix_ns = unix_now_ns();
  run.machine = plan_.machine;
  if (caller.hello.libc_version[0] != 0) run.machine.libc = fmt::format("glibc {}", caller.hello.libc_version);
  run.coverage = describe_coverage(caller.hello, options, run.executable);
  process.collector->start(caller.hello, {caller.pid, run.is_fork, run.executable});
  if (Server::answer(caller, wire::Verdict::kRecord, process.collector->arena_fd())) {
    process.pidfd = std::move(caller.pidfd);
    processes_.push_back(std::move(process));
    if (is_root) root_connected_ = true;
  }
  // The same pid again: the image before it ended with exec, or the process had ended and its number is used again. Its numbers
  // are taken only now: the agent waits for its answer no longer than a second.
  if (before == processes_.end()) return;
  if (is_reused_pid) {
    finish(before, {EndKind::kUnknown, 0}, true);
  } else {
    finish(before, {EndKind::kExec, 0}, false);
  }
}

size_t Processes::drain() {
  size_t records = 0;
  for (Process& process : processes_) records += process.collector->drain();
  return records;
}

// A program may put itself under a filter at any time; from then on its agent must wait without system calls.
void Processes::watch_restrictions(Process* process) {
  if (process->filter == wire::FilterState::kCertain) return;
  process->filter = process_filter(process->pid);
  if (process->filter != wire::FilterState::kNone) process->collector->set_filter(process->filter);
}

void Processes::reap() {
  for (Iterator process = processes_.begin(); process != processes_.end();) {
    const Iterator next = std::next(process);
    watch_restrictions(&*process);
    if (process->pid != plan_.root_pid && process->pidfd.is_open() && has_ended(process->pidfd.get())) {
      const pid_t pid = process->pid;
      finish(process, {EndKind::kUnknown, 0}, true);
      images_.erase(pid);
    }
    process = next;
  }
}

void Processes::end_root(const RunEnd& end) {
  for (Iterator process = processes_.begin(); process != processes_.end(); ++process) {
    if (process->pid == plan_.root_pid) {
      finish(process, end, true);
      return;
    }
  }
}

void Processes::detach_all(const RunEnd& root_end) {
  while (!processes_.empty()) {
    const Iterator process = processes_.begin();
    const bool ended = process->pidfd.is_open() && has_ended(process->pidfd.get());
    if (!ended) process->collector->detach();
    const RunEnd end =
        process->pid == plan_.root_pid ? root_end : RunEnd{ended ? EndKind::kUnknown : EndKind::kDetached, 0};
    finish(process, end, true);
  }
}

void Processes::finish(Iterator process, const RunEnd& end, bool is_last) {
  if (end.kind == EndKind::kDetached) {
    process->collector->drain();
  } else {
    process->collector->drain_to_end();
  }
  EndedImage image;
  image.recording = process->collector->finish();
  image.is_root = process->pid == plan_.root_pid;
  image.is_last = is_last;
  RunInfo& run = image.recording.run;
  RunInfo& known = process->run;
  run.command = std::move(known.command);
  run.executable = std::move(known.executable);
  run.pid = known.pid;
  run.parent_pid = known.parent_pid;
  run.image = known.image;
  run.is_fork = known.is_fork;
  run.start_unix_ns = known.start_unix_ns;
  run.machine = std::move(known.machine);
  known.coverage.unprofiled_programs = std::move(run.coverage.unprofiled_programs);
  known.coverage.bypassing_modules = std::move(run.coverage.bypassing_modules);
  run.coverage = std::move(known.coverage);
  run.end = end;
  // Whatever status came later was that of a program which we did not see.
  const std::vector<UnprofiledProgram>& unprofiled = run.coverage.unprofiled_programs;
  if (std::any_of(unprofiled.begin(), unprofiled.end(), [](const auto& program) { return program.replaced_process; }))
    run.end = {EndKind::kExec, 0};
  if (end.kind == EndKind::kDetached && run.complete) {
    run.complete = false;
    run.incomplete_reason = "the process was still running when heapprof stopped watching";
  }
  processes_.erase(process);
  on_end_(std::move(image));
}

}  // namespace heapprof::cli
