// cli/collect/background_look.h: inspects a process's memory in a thread of its own, so that the rings are read all the
// time.
//
// Context:  one thread creates, polls and destroys it. In a forked copy of the collector the look's thread does not
//           run: there do not destroy it, but leak it (std::unique_ptr::release()).
#pragma once

#include "cli/base/clock.h"

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace heapprof::cli {

template <typename Result>
class BackgroundLook {
 public:
  // The look calls it now and then; true: the result is not wanted any more.
  using HasToStop = std::function<bool()>;

  // look: returns nullopt, or throws, if there is no result. May throw std::bad_alloc.
  explicit BackgroundLook(std::function<std::optional<Result>(const HasToStop&)> look) : begun_ns_(monotonic_ns()) {
    const SignalsOff signals;
    try {
      thread_ = std::thread([this, look = std::move(look)] {
        try {
          result_ = look([this] { return has_to_stop_.load(std::memory_order_relaxed); });
        } catch (const std::exception&) {  // then there is no result
        }
        took_ns_ = monotonic_ns() - begun_ns_;
        is_done_.store(true, std::memory_order_release);
      });
    } catch (const std::system_error&) {
      is_done_ = true;
    }
  }
  // Tells it to stop, and waits for it.
  ~BackgroundLook() {
    has_to_stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
  }
  BackgroundLook(const BackgroundLook&) = delete;
  BackgroundLook& operator=(const BackgroundLook&) = delete;

  bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  // pre of both: is_done()
  std::optional<Result> take() { return std::move(result_); }
  uint64_t took_ns() const { return took_ns_; }

 private:
  // Blocks signals in the new thread, so that the collector's first thread gets them.
  class SignalsOff {
   public:
    SignalsOff() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsOff() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsOff(const SignalsOff&) = delete;
    SignalsOff& operator=(const SignalsOff&) = delete;

   private:
    sigset_t before_;
  };

  const uint64_t begun_ns_;
  uint64_t took_ns_ = 0;
  std::optional<Result> result_;
  std::atomic<bool> is_done_ = false;
  std::atomic<bool> has_to_stop_ = false;
  std::thread thread_;
};

}  // namespace heapprof::cli
