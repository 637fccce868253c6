// agent/arch/aarch64/instructions.h: the instructions that C++ has no words for.
//
// Context:  anywhere in the agent, signal handlers and forked children included. Nothing here uses a vector register.
#pragma once

#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

// What begins a comment in assembly.
#define HEAPPROF_COMMENT "//"

// ---- System calls ----

// Returns the kernel's value; an error is a negative errno.
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
}

// Makes a task that runs function(argument) on the caller's stack, below the caller's frame, and ends. Returns the
// task's id, or a negative errno. pre: by `flags` the two share memory (CLONE_VM), and the caller waits for the task
// (CLONE_VFORK).
[[gnu::noinline]] inline long run_task_on_own_stack(long flags, void (*function)(void*), void* argument) {
  register long x8 asm("x8") = SYS_clone;
  register long x0 asm("x0") = flags;
  register long same_stack asm("x1") = 0;
  register long no_parent_word asm("x2") = 0;
  register long no_storage asm("x3") = 0;
  register long no_child_word asm("x4") = 0;
  register void (*called)(void*) asm("x19") = function;
  register void* given asm("x20") = argument;
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "sub sp, sp, #256\n\t"  // the caller's frame
      "mov x0, x20\n\t"
      "blr x19\n\t"
      "mov x0, #0\n\t"
      "mov x8, %[exit]\n\t"
      "svc #0\n\t"
      "brk #1\n"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(same_stack), "r"(no_parent_word), "r"(no_storage), "r"(no_child_word), "r"(called),
        "r"(given), [exit] "i"(SYS_exit)
      : "x30", "memory", "cc");
  return x0;
}

// ---- The stack ----

[[gnu::always_inline]] inline uint64_t stack_pointer() {
  uint64_t sp;
  asm volatile("mov %0, sp" : "=r"(sp));
  return sp;
}

// Reads the byte that lies kBytes below the stack pointer.
template <int kBytes>
[[gnu::always_inline]] inline void read_below_stack() {
  asm volatile("ldrb wzr, [%0]" : : "r"(stack_pointer() - kBytes));
}

// ---- The thread's storage (glibc's tcbhead_t: the vector of the libraries' storage, and a word of libc's) ----

// True if programs can read the storage register by an instruction. flags: AT_HWCAP2
inline bool has_storage_instruction(uint64_t /*flags*/) { return true; }

[[gnu::always_inline]] inline uint64_t storage_register() {
  uint64_t storage_avma;
  asm volatile("mrs %0, tpidr_el0" : "=r"(storage_avma));
  return storage_avma;
}

// No system call is needed: another one that libc may make.
inline constexpr uint32_t kStorageSystemCall = SYS_gettid;
inline uint64_t ask_storage_register(uint64_t /*otherwise*/) { return storage_register(); }

// True if the storage is as libc makes it for a thread. pre: the thread has storage.
[[gnu::always_inline]] inline bool is_storage_of_libc() {
  return *reinterpret_cast<const volatile uint64_t*>(storage_register()) != 0;
}

inline uint64_t thread_pointer() { return storage_register(); }

// Bytes of a thread's stack that may lie behind the descriptor: all thread-local storage.
inline constexpr uint64_t kMostBehindDescriptor = 16u << 20;

// The address of libc's thread descriptor, whose size is that. It ends where the storage begins.
inline uint64_t descriptor_avma(uint64_t descriptor_bytes) { return thread_pointer() - descriptor_bytes; }

// ---- Time and order ----

// The virtual counter. It is not read before all that comes first is done: its value would be too old.
[[gnu::always_inline]] inline uint64_t read_counter() {
  uint64_t value;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
  return value;
}

// By the frequency that the firmware tells; it may leave it out. pre: the counter may be read
inline uint64_t ticks_per_ms() {
  uint64_t ticks_per_s;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(ticks_per_s));
  return ticks_per_s < 1'000'000 ? 1'000'000 : ticks_per_s / 1000;
}

// True if the kernel forbids the calling thread to read the counter: a read would fault. Threads, forked children and
// programs inherit this from the process that started them. pre: the kernel may be asked.
inline bool is_counter_forbidden() {
  int mode = PR_TSC_ENABLE;
  return raw_syscall(SYS_prctl, PR_GET_TSC, reinterpret_cast<long>(&mode)) >= 0 && mode == PR_TSC_SIGSEGV;
}

inline void pause_processor() { asm volatile("yield"); }

// The counter is not read before all loads and stores before this are done. (A fence of C++ orders memory alone.)
[[gnu::always_inline]] inline void order_counter() { asm volatile("dsb ish" ::: "memory"); }

// ---- Steps that a signal handler of this thread finds done or not begun; other threads are not considered ----
// A pair of a load and a store that fails if the thread was interrupted in between.

// True if the difference is negative.
template <typename Word>
[[gnu::always_inline]] inline bool subtract_in_one_step(Word* word, uint64_t amount) {
  static_assert(sizeof *word == 8);
  auto* const at = reinterpret_cast<uint64_t*>(word);
  return static_cast<int64_t>(__atomic_sub_fetch(at, amount, __ATOMIC_RELAXED)) < 0;
}
template <typename Word>
[[gnu::always_inline]] inline void add_in_one_step(Word* word, uint64_t amount) {
  static_assert(sizeof *word == 8);
  __atomic_add_fetch(reinterpret_cast<uint64_t*>(word), amount, __ATOMIC_RELAXED);
}
template <typename Word>
[[gnu::always_inline]] inline void increment_in_one_step(Word* word) {
  add_in_one_step(word, 1);
}

// Replaces the first two words of an object that is aligned to 16 bytes, if they are what the caller read; else reads
// them anew and returns false.
template <typename Object>
[[gnu::always_inline]] inline bool replace_pair_in_one_step(Object* object, uint64_t* first, uint64_t* second,
                                                            uint64_t new_first, uint64_t new_second) {
  static_assert(alignof(Object) >= 16);
  uint64_t found_first;
  uint64_t found_second;
  uint32_t has_failed;
  asm volatile(
      "1:\tldxp %[found_first], %[found_second], %[object]\n\t"
      "mov %w[failed], #1\n\t"
      "cmp %[found_first], %[first]\n\t"
      "ccmp %[found_second], %[second], #0, eq\n\t"
      "b.ne 2f\n\t"
      "stxp %w[failed], %[new_first], %[new_second], %[object]\n\t"
      "cbnz %w[failed], 1b\n"
      "2:"
      : [object] "+Q"(*object), [found_first] "=&r"(found_first), [found_second] "=&r"(found_second),
        [failed] "=&r"(has_failed)
      : [first] "r"(*first), [second] "r"(*second), [new_first] "r"(new_first), [new_second] "r"(new_second)
      : "cc", "memory");
  *first = found_first;
  *second = found_second;
  return has_failed == 0;
}

// ---- Words that are loaded where they are asked for: a compiler would load them early, and keep them for later ----

template <typename Word>
[[gnu::always_inline]] inline bool is_zero_in_memory(const Word* word) {
  static_assert(sizeof *word == 8);
  uint64_t value;
  asm volatile("ldr %0, %1" : "=r"(value) : "m"(*word));
  return value == 0;
}
template <typename Word>
[[gnu::always_inline]] inline bool is_set_in_memory(const Word* word) {
  static_assert(sizeof *word == 4);
  uint32_t value;
  asm volatile("ldr %w0, %1" : "=r"(value) : "m"(*word));
  return value != 0;
}

// ---- Bytes, without a call ----

[[gnu::always_inline]] inline void copy_bytes(void* to, const void* from, size_t bytes) {
  uint64_t word;
  asm volatile(
      "b 2f\n"
      "1:\tldr %[word], [%[from]], #8\n\t"
      "str %[word], [%[to]], #8\n"
      "2:\tsubs %[bytes], %[bytes], #8\n\t"
      "b.hs 1b\n\t"
      "adds %[bytes], %[bytes], #8\n\t"
      "b.eq 4f\n"
      "3:\tldrb %w[word], [%[from]], #1\n\t"
      "strb %w[word], [%[to]], #1\n\t"
      "subs %[bytes], %[bytes], #1\n\t"
      "b.ne 3b\n"
      "4:"
      : [to] "+r"(to), [from] "+r"(from), [bytes] "+r"(bytes), [word] "=&r"(word)
      :
      : "cc", "memory");
}
[[gnu::always_inline]] inline void fill_bytes(void* to, int byte, size_t bytes) {
  asm volatile(
      "cbz %[bytes], 2f\n"
      "1:\tstrb %w[byte], [%[to]], #1\n\t"
      "subs %[bytes], %[bytes], #1\n\t"
      "b.ne 1b\n"
      "2:"
      : [to] "+r"(to), [bytes] "+r"(bytes)
      : [byte] "r"(byte)
      : "cc", "memory");
}

// ---- Valgrind ----

// A client request: instructions that do nothing on a processor. Returns `otherwise` outside Valgrind.
// Source: Valgrind's manual, "The Client Request mechanism", and its valgrind.h.
inline uint64_t ask_valgrind(const volatile uint64_t (&request)[6], uint64_t otherwise) {
  register uint64_t answer asm("x3") = otherwise;
  register const volatile uint64_t* asked asm("x4") = request;
  asm volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\tror x12, x12, #61\n\torr x10, x10, x10"
               : "+r"(answer)
               : "r"(asked)
               : "cc", "memory", "x12");
  return answer;
}

}  // namespace heapprof::agent
