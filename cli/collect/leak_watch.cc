// cli/collect/leak_watch.cc: goes from the question to the answer in small steps, because the thread has other rings to
// read as well.
//
// The live blocks are known when every published event is in the books. Stopped threads publish no events, but a thread
// that was stopped inside an event holds the watermark back for a while (watermark.h).
#include "cli/collect/leak_watch.h"

#include "cli/base/clock.h"

#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <new>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostSettlingNs = 5'000'000'000;

// The file itself, as /proc/PID/maps names it.
std::string real_path(const std::string& path) {
  char buffer[PATH_MAX];
  return path.empty() || ::realpath(path.c_str(), buffer) == nullptr ? path : std::string(buffer);
}

LeakScene scene_of(Ledger* ledger) {
  LeakScene scene;
  scene.blocks.reserve(ledger->live_blocks());
  const auto add = [&](const Block& block) { scene.blocks.push_back({block.address, block.size_bytes, block.site}); };
  ledger->for_each_live(add);
  ledger->for_each_begun(add);
  ledger->for_each_left_out([&](uint64_t address, uint64_t size_bytes) {  // they may point to others
    scene.blocks.push_back({address, size_bytes, 0});
  });
  ledger->mappings().for_each_range([&](const PagePiece& piece) { scene.mapped.push_back({piece.start, piece.end}); });
  return scene;
}

}  // namespace

void LeakWatch::ask() {
  const wire::Control& control = arena_.control();
  LeakQuestion question;
  question.pid = pid_;
  question.exiting_id = control.end_thread_id;
  question.exiting = {control.end_stack_avma, control.end_thread_avma};
  question.own_pages_avma = control.own_pages_avma;
  question.own_pages_count = control.own_pages_count;
  question.arena_inode = arena_.inode();
  question.allocator = real_path(allocator_);
  question.inherits = inherits_;
  check_ = std::make_unique<LeakCheck>(question);
}

void LeakWatch::answer() {
  if (is_answered_) return;
  is_answered_ = true;
  std::atomic<uint32_t>& word = arena_.control().end_answer;
  word.store(1, std::memory_order_release);  // (I)
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void LeakWatch::give(Ledger* ledger) {
  LeakScene scene;
  try {
    scene = scene_of(ledger);
    ledger->for_each_begun([this](const Block& block) { moving_.push_back(block.address); });
  } catch (const std::bad_alloc&) {
    problem_ = "out of memory";
    check_->abandon();
  }
  check_->give(std::move(scene));
}

void LeakWatch::step(Drain* drain, Ledger* ledger) {
  if (check_ != nullptr) check_->help();
  if (is_answered_) {
    if (check_ != nullptr && check_->phase() == LeakCheck::Phase::kEnded) check_.reset();
    return;
  }
  const wire::EndQuestion question = arena_.control().end_question.load(std::memory_order_acquire);  // (H)
  if (check_ == nullptr) {
    if (question == wire::EndQuestion::kAsked) ask();
    return;
  }
  if (question != wire::EndQuestion::kAsked) check_->abandon();
  if (check_->phase() == LeakCheck::Phase::kStopped) {
    const uint64_t now_ns = monotonic_ns();
    if (stopped_ns_ == 0) stopped_ns_ = now_ns;
    const bool is_late = now_ns - stopped_ns_ > kMostSettlingNs;
    if (!drain->is_quiet() && !is_late) return;
    if (is_late) {
      problem_ = "some of its events had not arrived";
      check_->abandon();
    }
    give(ledger);
  } else if (check_->phase() >= LeakCheck::Phase::kDone) {
    result_ = check_->take();
    leave_out_moving();
    if (!problem_.empty()) result_.problem = problem_;
    if (question != wire::EndQuestion::kAsked) result_.problem = "the program did not wait for it";
    answer();
  } else if (check_->is_overdue()) {
    check_->abandon();
    result_.problem = kTooLong;
    answer();
  }
}

void LeakWatch::leave_out_moving() {
  for (LeakBlock& block : result_.blocks) {
    if (std::find(moving_.begin(), moving_.end(), block.start) != moving_.end()) block.kind = LeakKind::kUnjudged;
  }
}

LeakJudgement LeakWatch::end(bool is_complete) {
  if (check_ != nullptr && !is_answered_) result_.problem = "the process ended before it was done";
  check_.reset();
  LeakJudgement judgement;
  judgement.is_asked = true;
  judgement.searched_bytes = result_.read_bytes;
  judgement.unread_bytes = result_.unread_bytes;
  judgement.stopped_threads = result_.stopped_threads;
  judgement.duration_ns = result_.duration_ns;
  judgement.reason = result_.problem;
  if (!is_answered_ && judgement.reason.empty()) {
    const wire::EndQuestion question = arena_.control().end_question.load(std::memory_order_acquire);
    judgement.reason = question == wire::EndQuestion::kFiltered
                           ? "the program may run under a seccomp filter, where heapprof makes no system calls"
                           : "the program did not end by exit() or by a return from main";
  }
  if (judgement.reason.empty() && !is_complete) judgement.reason = "the profile is incomplete";
  judgement.is_made = judgement.reason.empty();
  return judgement;
}

LeakKind LeakWatch::judgement_of(const Block& block) const {
  const auto at = std::lower_bound(result_.blocks.begin(), result_.blocks.end(), block.address,
                                   [](const LeakBlock& judged, uint64_t address) { return judged.start < address; });
  const bool is_it = at != result_.blocks.end() && at->start == block.address && at->size_bytes == block.size_bytes &&
                     at->site == block.site;
  return is_it ? at->kind : LeakKind::kUnjudged;
}

}  // namespace heapprof::cli
