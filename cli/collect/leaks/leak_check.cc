// cli/collect/leaks/leak_check.cc: one thread makes the whole check, because only the thread that stopped the others is
// their tracer. When it ends, they run again.
#include "cli/collect/leaks/leak_check.h"

#include "cli/base/clock.h"
#include "cli/collect/leaks/leak_marks.h"
#include "cli/collect/leaks/stopped_threads.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <exception>
#include <new>
#include <span>
#include <system_error>

namespace heapprof::cli {

namespace {

constexpr char kEndedMeanwhile[] = "the process ended during the check";
constexpr uint64_t kHoldNs = 100'000'000;  // how long threads stay stopped after the process was allowed to end
constexpr uint64_t kHelpIntervalNs = 5'000'000;
constexpr timespec kPauseOfProcess{0, 500'000};

// The number of windows that contain blocks. All of them are needed at once, because any block may point to any other.
size_t windows_of(const BlockTable& blocks) {
  size_t windows = 0;
  uint64_t next = 0;
  for (const LeakBlock& block : blocks.blocks()) {
    const uint64_t window = block.start / TargetMemory::kWindowBytes;
    if (window < next) continue;
    ++windows;
    next = window + 1;
  }
  return windows;
}

}  // namespace

LeakCheck::LeakCheck(const LeakQuestion& question) : question_(question), start_ns_(monotonic_ns()) {
  // Blocks signals in the new thread, so that the collector's first thread gets them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    result_.problem = "no thread could be created for it";
    enter(Phase::kEnded);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LeakCheck::~LeakCheck() {
  abandon();
  if (!thread_.joinable()) return;
  while (phase() != Phase::kEnded) {
    if (phase() == Phase::kStopped) give({});
    help();
    ::nanosleep(&kPauseOfProcess, nullptr);
  }
  thread_.join();
}

void LeakCheck::enter(Phase phase) {
  phase_.store(phase, std::memory_order_release);
  phase_.notify_all();
}

void LeakCheck::give(LeakScene scene) {
  scene_ = std::move(scene);
  enter(Phase::kSearching);
}

void LeakCheck::help() {
  const uint64_t now_ns = monotonic_ns();
  if (now_ns < next_help_ns_) return;
  next_help_ns_ = now_ns + kHelpIntervalNs;
  StoppedThreads::bury_dead(question_.pid);
}

bool LeakCheck::is_overdue() const { return monotonic_ns() - start_ns_ > kMostNs + kOverdueNs; }

bool LeakCheck::has_to_stop() const {
  return is_abandoned_.load(std::memory_order_relaxed) || monotonic_ns() - start_ns_ > kMostNs;
}

void LeakCheck::work() {
  StoppedThreads others;
  try {
    std::string problem = others.stop(question_.pid, question_.exiting_id, [this] { return has_to_stop(); });
    result_.stopped_threads = others.threads().size();
    if (problem.empty()) {
      enter(Phase::kStopped);
      phase_.wait(Phase::kStopped, std::memory_order_acquire);
      BlockTable blocks(std::move(scene_.blocks));
      TargetMemory memory(others.exiting(), windows_of(blocks));
      memory.set_interrupt([this] { return has_to_stop(); });
      RootFacts facts;
      facts.threads.push_back(question_.exiting);
      for (const StoppedThreads::Thread& thread : others.threads())
        facts.threads.push_back({thread.stack_avma, thread.thread_avma});
      facts.own_pages = read_own_pages(question_.own_pages_avma, question_.own_pages_count, &memory);
      facts.mapped = std::move(scene_.mapped);
      facts.arena_inode = question_.arena_inode;
      facts.allocator = question_.allocator;
      facts.inherits = question_.inherits;
      problem = memory.try_at(question_.exiting.stack_avma);
      if (memory.is_gone()) problem = kEndedMeanwhile;
      if (problem.empty() && memory.mappings().empty()) problem = "/proc/PID/maps cannot be read";
      if (problem.empty()) {
        LeakMarks marks(&blocks, &memory);
        marks.set_interrupt([&memory] { return memory.is_stopped(); });
        RootHolders holders;
        std::vector<std::span<const uint64_t>> registers;
        for (const StoppedThreads::Thread& thread : others.threads()) registers.emplace_back(thread.words);
        holders.mark(
            find_roots(&memory, blocks, facts), registers,
            [&memory](const LeakRoot& root) { return read_mapped_variables(root, &memory); }, &marks);
        marks.finish();
        if (memory.is_gone() || !memory.try_at(question_.exiting.stack_avma).empty()) {
          problem = kEndedMeanwhile;
        } else if (marks.is_interrupted() || memory.is_stopped()) {
          problem = kTooLong;
        }
        result_.read_bytes = memory.read_bytes();
        result_.unread_bytes = memory.unread_bytes();
        if (problem.empty()) {
          result_.blocks = blocks.blocks();
          result_.owners = marks.lost_owners();
          result_.holders = std::move(holders);
        }
      }
    }
    result_.problem = std::move(problem);
  } catch (const std::bad_alloc&) {
    result_.problem = "out of memory";
    result_.blocks = {};
    result_.owners = {};
  } catch (const std::exception& error) {
    result_.problem = error.what();
    result_.blocks = {};
    result_.owners = {};
  }
  result_.duration_ns = monotonic_ns() - start_ns_;
  const bool is_held = !others.threads().empty();
  enter(Phase::kDone);
  if (is_held) others.await_end(kHoldNs);
  others.renew_calls();
  enter(Phase::kEnded);
}

}  // namespace heapprof::cli
