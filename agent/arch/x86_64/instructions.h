// agent/arch/x86_64/instructions.h: the instructions that C++ has no words for.
//
// Context:  anywhere in the agent, signal handlers and forked children included. Nothing here uses a vector register.
#pragma once

#include <asm/prctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

// What begins a comment in assembly.
#define HEAPPROF_COMMENT "#"

// ---- System calls ----

// Returns the kernel's value; an error is a negative errno.
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

// Makes a task that runs function(argument) on the caller's stack, below the caller's frame, and ends. Returns the
// task's id, or a negative errno. pre: by `flags` the two share memory (CLONE_VM), and the caller waits for the task
// (CLONE_VFORK).
[[gnu::noinline]] inline long run_task_on_own_stack(long flags, void (*function)(void*), void* argument) {
  long result = SYS_clone;
  register void (*called)(void*) asm("r12") = function;
  register void* given asm("r13") = argument;
  register long no_child_word asm("r10") = 0;
  register long no_storage asm("r8") = 0;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "lea -256(%%rsp), %%rsp\n\t"  // the caller's frame, and its red zone
      "and $-16, %%rsp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "xor %%edi, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(flags), "S"(0l), "d"(0l), "r"(no_child_word), "r"(no_storage), "r"(called), "r"(given), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory");
  return result;
}

// True if the processor checks return addresses against a shadow stack.
inline bool has_shadow_stack() {
  constexpr long kShadowStackStatus = 0x5005;  // ARCH_SHSTK_STATUS, of newer headers
  constexpr uint64_t kIsOn = 1;                // ARCH_SHSTK_SHSTK
  uint64_t features = 0;
  const long result = raw_syscall(SYS_arch_prctl, kShadowStackStatus, reinterpret_cast<long>(&features));
  return result >= 0 && (features & kIsOn) != 0;
}

// ---- The stack ----

[[gnu::always_inline]] inline uint64_t stack_pointer() {
  uint64_t sp;
  asm volatile("movq %%rsp, %0" : "=r"(sp));
  return sp;
}

// Reads the byte that lies kBytes below the stack pointer.
template <int kBytes>
[[gnu::always_inline]] inline void read_below_stack() {
  asm volatile("cmpb $0, %c0(%%rsp)" : : "i"(-kBytes) : "cc");
}

// ---- The thread's storage (glibc's tcbhead_t: its address, the vector of the libraries' storage, its address) ----

// True if the kernel lets programs read the storage register by an instruction (HWCAP2_FSGSBASE, since Linux 5.9).
// flags: AT_HWCAP2
inline bool has_storage_instruction(uint64_t flags) { return (flags & 2) != 0; }

// pre: has_storage_instruction()
[[gnu::always_inline]] inline uint64_t storage_register() {
  uint64_t storage_avma;
  asm volatile("rdfsbase %0" : "=r"(storage_avma));
  return storage_avma;
}

// With which libc sets and reads the storage register.
inline constexpr uint32_t kStorageSystemCall = SYS_arch_prctl;

// The same by a system call; `otherwise` if the kernel refuses.
inline uint64_t ask_storage_register(uint64_t otherwise) {
  uint64_t avma = otherwise;
  return raw_syscall(SYS_arch_prctl, ARCH_GET_FS, reinterpret_cast<long>(&avma)) < 0 ? otherwise : avma;
}

// True if the storage is as libc makes it for a thread. pre: the thread has storage.
[[gnu::always_inline]] inline bool is_storage_of_libc() {
  uint64_t tcb;
  uint64_t vector;
  uint64_t self;
  asm volatile("movq %%fs:0, %0\n\tmovq %%fs:8, %1\n\tmovq %%fs:16, %2"
               : "=r"(tcb), "=r"(vector), "=r"(self)
               :
               : "memory");
  return tcb == self && tcb != 0 && vector != 0;
}

// The address of libc's thread descriptor, whose size is that: the storage begins with it.
inline uint64_t descriptor_avma(uint64_t /*descriptor_bytes*/) {
  uint64_t avma;
  asm("movq %%fs:16, %0" : "=r"(avma));
  return avma;
}

// Bytes of a thread's stack that may lie behind the descriptor: thread-local storage may ask for a large alignment.
inline constexpr uint64_t kMostBehindDescriptor = 16384;

inline uint64_t thread_pointer() {
  uint64_t avma;
  asm("movq %%fs:0, %0" : "=r"(avma));
  return avma;
}

// ---- Time and order ----

// The time stamp counter. A thread can be forbidden to read it (is_counter_forbidden): it faults there.
[[gnu::always_inline]] inline uint64_t read_counter() { return __builtin_ia32_rdtsc(); }

// Of a counter of 1 GHz, the slowest expected: for threads that may read no clock.
inline uint64_t ticks_per_ms() { return 1'000'000; }

// True if the kernel forbids the calling thread to read the counter: a read would fault. Threads, forked children and
// programs inherit this from the process that started them. pre: the kernel may be asked.
inline bool is_counter_forbidden() {
  int mode = PR_TSC_ENABLE;
  return raw_syscall(SYS_prctl, PR_GET_TSC, reinterpret_cast<long>(&mode)) >= 0 && mode == PR_TSC_SIGSEGV;
}

inline void pause_processor() { __builtin_ia32_pause(); }

// The counter is not read before this has been reached, and all loads before it are done.
[[gnu::always_inline]] inline void order_counter() { asm volatile("lfence" ::: "memory"); }

// ---- Steps that a signal handler of this thread finds done or not begun; other threads are not considered ----

// True if the difference is negative.
template <typename Word>
[[gnu::always_inline]] inline bool subtract_in_one_step(Word* word, uint64_t amount) {
  static_assert(sizeof *word == 8);
  bool is_negative;
  asm volatile("subq %2, %0" : "+m"(*word), "=@ccs"(is_negative) : "r"(amount));
  return is_negative;
}
template <typename Word>
[[gnu::always_inline]] inline void add_in_one_step(Word* word, uint64_t amount) {
  static_assert(sizeof *word == 8);
  asm volatile("addq %1, %0" : "+m"(*word) : "r"(amount) : "cc");
}
template <typename Word>
[[gnu::always_inline]] inline void increment_in_one_step(Word* word) {
  static_assert(sizeof *word == 8);
  asm volatile("incq %0" : "+m"(*word) : : "cc");
}

// Replaces the first two words of an object that is aligned to 16 bytes, if they are what the caller read; else reads
// them anew and returns false.
template <typename Object>
[[gnu::always_inline]] inline bool replace_pair_in_one_step(Object* object, uint64_t* first, uint64_t* second,
                                                            uint64_t new_first, uint64_t new_second) {
  static_assert(alignof(Object) >= 16);
  bool is_replaced;
  asm volatile("cmpxchg16b %0"
               : "+m"(*object), "+a"(*first), "+d"(*second), "=@ccz"(is_replaced)
               : "b"(new_first), "c"(new_second));
  return is_replaced;
}

// ---- Words that are compared where they are: a compiler would load them early, and keep them for later ----

template <typename Word>
[[gnu::always_inline]] inline bool is_zero_in_memory(const Word* word) {
  static_assert(sizeof *word == 8);
  asm goto("cmpq $0, %0\n\tje %l1" : : "m"(*word) : "cc" : zero);
  return false;
zero:
  return true;
}
// If the word is 0, no jump is taken.
template <typename Word>
[[gnu::always_inline]] inline bool is_set_in_memory(const Word* word) {
  static_assert(sizeof *word == 4);
  asm goto("cmpl $0, %0\n\tjne %l1" : : "m"(*word) : "cc" : set);
  return false;
set:
  return true;
}

// ---- Bytes, without a call ----

[[gnu::always_inline]] inline void copy_bytes(void* to, const void* from, size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
[[gnu::always_inline]] inline void fill_bytes(void* to, int byte, size_t bytes) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
}

// ---- Valgrind ----

// A client request: instructions that do nothing on a processor. Returns `otherwise` outside Valgrind.
// Source: Valgrind's manual, "The Client Request mechanism", and its valgrind.h.
inline uint64_t ask_valgrind(const volatile uint64_t (&request)[6], uint64_t otherwise) {
  uint64_t answer = otherwise;
  asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
               : "+d"(answer)
               : "a"(request)
               : "cc", "memory");
  return answer;
}

}  // namespace heapprof::agent
