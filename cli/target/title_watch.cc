// cli/target/title_watch.cc: one thread looks at all watched processes, at each in growing intervals.
//
// The kernel does not report that a title was written, because that only changes the program's memory. Some servers
// write their title within milliseconds of a fork and keep it; others change it with each request. So the first looks
// come soon, and the intervals grow.
//
// The thread is detached, because it may still be in a system call when the TitleWatch is destroyed. Therefore both
// share the ownership of what the thread uses.
#include "cli/target/title_watch.h"

#include "cli/target/process_facts.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace heapprof::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr Clock::duration kFirst = std::chrono::milliseconds(20);
constexpr Clock::duration kLongest = std::chrono::seconds(10);

}  // namespace

std::string title_of(const std::string& first_word, const std::string& before) {
  if (before.empty() || before.starts_with(first_word)) return "";
  std::string title = first_word.substr(0, first_word.find_last_not_of(' ') + 1);
  size_t bytes = std::min(title.size(), WatchedTitle::kMostBytes);
  const auto is_inside_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  while (bytes > 0 && bytes < title.size() && is_inside_character(title[bytes])) --bytes;
  title.resize(bytes);
  return title;
}

std::string WatchedTitle::get() const {
  const std::lock_guard guard(lock_);
  return title_;
}

bool WatchedTitle::is_same(const ProcessLook& now) const {
  if (now.start_ticks != look_.start_ticks) return false;
  if (is_fork_) return now.is_forked;
  return now.image.inode != 0 && now.image.stack_start_avma != 0 && !is_other_image(look_.image, now.image);
}

void WatchedTitle::look() {
  const std::string word = process_first_word(pid_);
  // The image is checked after the word was read, so that it is not another image's word. The word is read twice,
  // because a title that is just being written changes.
  if (word.empty() || !is_same(look_at(pid_)) || process_first_word(pid_) != word) return;
  std::string title = title_of(word, before_);
  const std::lock_guard guard(lock_);
  title_ = std::move(title);
}

struct TitleWatch::Shared {
  struct Entry {
    std::weak_ptr<WatchedTitle> watched;
    Clock::time_point due;
    Clock::duration distance = kFirst;
  };
  std::mutex lock;
  std::condition_variable changed;
  std::vector<Entry> entries;
  bool is_over = false;
  bool has_thread = false;

  void work();
};

void TitleWatch::Shared::work() {
  std::unique_lock guard(lock);
  while (!is_over) {
    std::erase_if(entries, [](const Entry& entry) { return entry.watched.expired(); });
    const auto next =
        std::min_element(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.due < b.due; });
    if (next == entries.end()) {
      changed.wait(guard);
      continue;
    }
    const Clock::time_point due = next->due;
    if (due > Clock::now()) {
      changed.wait_until(guard, due);
      continue;
    }
    const std::shared_ptr<WatchedTitle> watched = next->watched.lock();
    next->due = Clock::now() + next->distance;
    next->distance = std::min(2 * next->distance, kLongest);
    if (watched == nullptr) continue;
    guard.unlock();
    try {
      watched->look();
    } catch (const std::bad_alloc&) {
      // the title stays unchanged
    }
    guard.lock();
  }
}

TitleWatch::TitleWatch() : shared_(std::make_shared<Shared>()) {}

TitleWatch::~TitleWatch() {
  const std::lock_guard guard(shared_->lock);
  shared_->is_over = true;
  shared_->changed.notify_one();
}

std::shared_ptr<const WatchedTitle> TitleWatch::add(pid_t pid, const ProcessLook& look, bool is_fork,
                                                    std::string first_word) {
  try {
    auto watched = std::make_shared<WatchedTitle>(pid, look, is_fork, std::move(first_word));
    const std::lock_guard guard(shared_->lock);
    shared_->entries.push_back({watched, Clock::now()});
    shared_->changed.notify_one();
    if (!shared_->has_thread) {
      std::thread([shared = shared_] { shared->work(); }).detach();
      shared_->has_thread = true;
    }
    return watched;
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {  // no thread can be started
  }
  return nullptr;
}

}  // namespace heapprof::cli
