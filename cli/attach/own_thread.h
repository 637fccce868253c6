// cli/attach/own_thread.h: a thread of heapprof in another process, driven by ptrace from one function to the next.
//
// heapprof stops one thread of the program (the lender) for some 0.1 ms, and makes it execute two system calls, mmap
// and clone. The new thread gets thread-local storage that the loader itself fills (_dl_allocate_tls_init, on
// heapprof's memory). It calls dlopen and the agent like any thread of the program: it waits for the loader's and the
// allocator's locks while the program's threads run on. Each function returns to the instructions that end a thread: if
// heapprof is killed, the thread finishes that function and ends.
//
// While a program has one thread, glibc takes no locks. So heapprof keeps that thread stopped until its own thread has
// ended. It lets the program's thread continue earlier if its own thread waits for a lock, or after 50 ms. In all that
// time libc's flags say that there are two threads. The program's thread is stopped only outside the functions of libc,
// the loader and allocators (attach.cc): inside them it would hold no lock for which heapprof's thread could wait.
//
// Guarantees
//  - No code is written into the program, and no function runs on one of its threads.
//  - heapprof ends its thread early only if the thread holds no lock of the loader, and has consumed no wake-up.
//    Otherwise the thread continues without heapprof, and ends by itself.
//  - If a function faults, the thread releases the loader's locks that it holds before it ends. The data that the
//    function was changing stays as it was at the fault, and an allocator's lock stays taken.
//  - A process may send a signal with the number of a fault (SIGSEGV, …). If heapprof's thread takes it, the thread
//    sends it to its process again before it ends, with all the signal's information. Several pending signals of one
//    number merge into one.
// Not provided: musl, static programs, shadow stacks, a seccomp filter, or glibc before 2.34 without libpthread:
//               attach.cc refuses these. If heapprof is killed, a signal that the thread took is lost. If the thread
//               continues without heapprof, heapprof sends the signal again. If that signal came from kill or tgkill,
//               heapprof is then named as its sender.
// Context:  the thread of heapprof that holds `lender`.
#pragma once

#include "cli/attach/traced_thread.h"
#include "shared/attach.h"

#include <signal.h>
#include <sys/ptrace.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// What the thread needs from the program's glibc.
struct Libc {
  LibcCode code;
  uint64_t dlopen_avma = 0;
  uint64_t dlerror_avma = 0;                    // 0: unknown
  uint64_t init_tls_avma = 0;                   // _dl_allocate_tls_init
  uint64_t tls_size_avma = 0;                   // _dl_get_tls_static_info
  uint64_t init_ctype_avma = 0;                 // __ctype_init; 0: unknown
  uint64_t unlock_avma = 0;                     // pthread_mutex_unlock; 0: unknown
  RemoteSymbol loader_state;                    // _rtld_global, which contains the loader's locks
  uint32_t descriptor_bytes = 0;                // of struct pthread
  uint32_t thread_id_off = 0;                   // of its tid
  uint64_t rseq_off_avma = 0;                   // __rseq_offset; 0: this glibc lacks it
  std::vector<uint64_t> single_threaded_avmas;  // each __libc_single_threaded: libc's, and the program's copy
};

enum class CallEnd {
  kReturned,
  kGivenUp,  // the thread waited for a lock for too long, and was ended
  kLeft,     // the thread waited or ran for too long, or heapprof has to leave, but the thread may hold a lock: it
             // continues without heapprof, and ends by itself
  kFault,    // the thread faulted
  kEnded     // the process has ended
};

enum class Turn { kOneOfMany, kLast };

class OwnThread {
 public:
  // has_to_leave: set by another thread when a call's result is no longer needed; the flag outlives this object.
  OwnThread(pid_t pid, const Libc& libc, const std::atomic<bool>& has_to_leave)
      : pid_(pid), libc_(libc), has_to_leave_(has_to_leave) {}
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
  ~OwnThread() { end(); }

  // Starts the thread. pre: lender is stopped. is_only: the program has no other thread. kept: memory of an earlier own
  // thread. Returns why it failed; empty: the thread exists, and lender runs again unless it is the only one.
  std::string start(TracedThread* lender, bool is_only, wire::AttachThread kept);
  // Writes text into the process, for use as an argument; returns its address there.
  uint64_t put(size_t slot, const std::string& text);
  uint64_t slot_avma(size_t slot) const;
  // Calls a function with up to 3 arguments and waits. result: what it returned. The thread stops twice at each system
  // call of the function. In the last call (Turn::kLast) it runs freely, and ends when the function returns.
  CallEnd call(uint64_t function_avma, std::initializer_list<uint64_t> arguments, uint64_t* result,
               std::chrono::milliseconds most, Turn turn = Turn::kOneOfMany);
  // Ends the thread. If the program's only thread is still stopped, restores libc's flags and lets that thread
  // continue.
  void end();
  // True if libc's flags still have to be restored. The caller then stops the program's thread, and calls
  // put_flags_back().
  bool has_changed_flags() const { return !flags_.empty(); }
  void put_flags_back();

  wire::AttachThread memory() const { return memory_; }
  // True if the thread continues without heapprof, on that memory.
  bool was_left() const { return was_left_; }
  // What failed in the last call, for a message.
  const std::string& failure() const { return failure_; }

  static constexpr size_t kSlots = 4;
  static constexpr size_t kSlotBytes = 8192;

 private:
  struct Flag {
    uint64_t avma;
    uint32_t old;
    size_t bytes;
  };
  std::string make_region();
  std::string make_storage();
  void claim_threads();
  int64_t system_call(uint64_t number, const std::array<uint64_t, 6>& arguments);
  std::optional<int> resume(__ptrace_request how);
  bool keep_sent(int status);
  void send_again();
  bool skip_call();
  bool is_lock_of_loader(uint64_t avma) const {
    return avma - libc_.loader_state.start_avma < libc_.loader_state.size_bytes;
  }
  bool holds_lock_of_loader() const;
  bool has_returned(const user_regs_struct& registers) const;
  uint64_t frame_avma() const;
  CallEnd end_at_fault(int signal, user_regs_struct registers);
  CallEnd give_up();
  CallEnd leave();
  void finish();

  pid_t pid_;
  const Libc& libc_;
  const std::atomic<bool>& has_to_leave_;
  TracedThread* lender_ = nullptr;
  bool was_let_go_ = false;  // the only other thread continued before heapprof's thread had ended
  bool was_left_ = false;
  pid_t id_ = 0;                // 0: no thread
  pid_t inner_id_ = 0;          // its id in its process's pid namespace
  uint64_t held_since_ns_ = 0;  // since when the lender is stopped
  bool is_unlocking_ = false;
  user_regs_struct registers_{};
  wire::AttachThread memory_{};
  uint64_t guards_[2] = {};  // stack guard and pointer guard: words 5 and 6 of a thread control block
  std::vector<Flag> flags_;
  std::vector<siginfo_t> sent_;  // signals from other processes that the thread took
  std::string failure_;
};

// The thread of the process that holds a lock of the loader, according to the loader's memory; 0: none.
pid_t owner_of_loader(pid_t pid, const Libc& libc);

}  // namespace heapprof::cli
