// cli/collect/rings/second_thread.cc: the two threads meet many times in a round, so they spin before they sleep.
//
// One word says whose turn it is. A thread that waits for it spins for 20-40 µs first, about as long as the work of a
// round takes, and only then waits in the kernel. When one thread has changed the word, the other sees everything that
// the first wrote before (release and acquire), so no lock is needed.
#include "cli/collect/rings/second_thread.h"

#include "cli/arch/arch.h"

#include <system_error>
#include <utility>

namespace heapprof::cli {

namespace {

// Sleeping and waking up take 20-50 µs in a virtual machine, as long as the work itself.
constexpr int kSpins = 1000;  // of 20-40 ns

void await_change(const std::atomic<uint32_t>& state, uint32_t old) {
  for (int i = 0; i < kSpins && state.load(std::memory_order_acquire) == old; ++i) pause_processor();
  state.wait(old, std::memory_order_acquire);
}

}  // namespace

SecondThread::~SecondThread() {
  if (!thread_.joinable()) return;
  state_.wait(kWorking, std::memory_order_acquire);
  state_.store(kEnding, std::memory_order_release);
  state_.notify_all();
  thread_.join();
}

void SecondThread::start(std::function<void()> work) {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { work_until_end(); });
    } catch (const std::system_error&) {
      return work();
    }
  }
  work_ = std::move(work);
  state_.store(kWorking, std::memory_order_release);
  state_.notify_all();
}

void SecondThread::wait() {
  await_change(state_, kWorking);
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void SecondThread::work_until_end() {
  for (;;) {
    await_change(state_, kIdle);
    if (state_.load(std::memory_order_acquire) == kEnding) return;
    try {
      work_();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    state_.store(kIdle, std::memory_order_release);
    state_.notify_all();
  }
}

}  // namespace heapprof::cli
