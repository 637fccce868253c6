// tests/targets/end/leak_races.cc: programs with many threads that do something else at the moment of their exit().
// usage: leak_races HOW [MICROSECONDS]
//   exec     one of 17 threads calls exec that long after the others were started; the new program returns 3
//   signals  threads are sent signals all the time, also while they are held still; returns 4, or 5 if one was lost
//   many     200,000 blocks and 20 threads, half of which allocate; returns 6
//   spawn    threads that start threads without end; returns 7
//   exits    each of 7 threads calls exit(8)
//   calls    threads wait in epoll_wait() and sigwaitinfo(), which only what they wait for may end; returns 10
//   fork     writes "go", waits for a line, and returns 9; SIGALRM forks, and the child goes on from where it was
#include "../keep.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

constexpr int kWorkers = 4;

long g_delay_us;
const char* g_program;
bool g_counts_signals;
int g_event = -1;
int g_poll = -1;  // -1: nobody waits for it
std::atomic<long> g_sent;
std::atomic<long> g_taken;
std::atomic<bool> g_is_over;
std::atomic<bool> g_is_started;
pthread_t g_workers[kWorkers];
pthread_t g_sender;

void sleep_us(long us) {
  timespec time{us / 1'000'000, us % 1'000'000 * 1000};
  while (nanosleep(&time, &time) != 0) {
  }
}

pthread_t start(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, nullptr) != 0) _exit(93);
  return thread;
}

void* sleeper(void*) {
  for (;;) pause();
}
void* churner(void*) {
  for (;;) free(keep(malloc(77)));
}
void* execer(void*) {
  while (!g_is_started) sleep_us(10);  // pthread_create fails while another thread calls exec
  sleep_us(g_delay_us);
  execl(g_program, g_program, "new", nullptr);
  _exit(94);
}
void* ender(void*) {
  sleep_us(g_delay_us);
  exit(8);
}
void* spawner(void*) {
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  const auto nothing = [](void* block) -> void* {
    free(block);
    return nullptr;
  };
  for (;;) {
    pthread_t thread;
    void* const block = malloc(10);
    if (pthread_create(&thread, &detached, nothing, block) != 0) free(block);
  }
}
// What they return: nothing but the one thing that they wait for has come.
void* poller(void*) {
  epoll_event event{};
  return epoll_wait(g_poll, &event, 1, -1) == 1 ? &g_poll : nullptr;
}
void* signal_taker(void*) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR2);
  return sigwaitinfo(&wanted, nullptr) == SIGUSR2 ? &g_poll : nullptr;
}
void* sender(void*) {
  while (!g_is_over) {
    for (const pthread_t worker : g_workers) {
      if (pthread_sigqueue(worker, SIGRTMIN + 1, {}) == 0) ++g_sent;
    }
  }
  return nullptr;
}

// Called last of all by exit(), after the agent has waited, as it was registered before any library's constructors ran.
void count_signals(int, void*) {
  if (g_poll != -1) {
    sleep_us(200'000);  // by then they are let go
    void* poll_result = nullptr;
    void* signal_result = nullptr;
    const uint64_t one = 1;
    if (write(g_event, &one, sizeof one) != sizeof one || pthread_kill(g_workers[1], SIGUSR2) != 0) _exit(95);
    pthread_join(g_workers[0], &poll_result);
    pthread_join(g_workers[1], &signal_result);
    if (poll_result == nullptr || signal_result == nullptr) _exit(5);
  }
  if (!g_counts_signals) return;
  g_is_over = true;
  pthread_join(g_sender, nullptr);  // it may be held still
  for (int i = 0; i < 20'000 && g_taken != g_sent; ++i) sleep_us(1000);
  if (g_taken != g_sent) _exit(5);
}
void register_count(int, char**, char**) { on_exit(count_signals, nullptr); }
[[gnu::used, gnu::section(".preinit_array")]] void (*g_register_count)(int, char**, char**) = register_count;

void send_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { ++g_taken; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN + 1, &action, nullptr);
  for (pthread_t& worker : g_workers) worker = start(sleeper);
  for (int i = 0; i < 20'000; ++i) keep(malloc(40));
  g_sender = start(sender);
  g_counts_signals = true;
}

void wait_in_calls() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  g_event = eventfd(0, 0);
  g_poll = epoll_create1(0);
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  if (epoll_ctl(g_poll, EPOLL_CTL_ADD, g_event, &wanted) != 0) _exit(96);
  g_workers[0] = start(poller);
  g_workers[1] = start(signal_taker);
  sleep_us(50'000);
}

void fork_here(int) {
  if (fork() == 0) keep(malloc(100));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 98;
  const char* how = argv[1];
  g_program = argv[0];
  g_delay_us = argc > 2 ? atol(argv[2]) : 0;
  keep(malloc(1000));
  if (strcmp(how, "new") == 0) return 3;
  if (strcmp(how, "exec") == 0) {
    for (int i = 0; i < 8; ++i) start(sleeper);
    start(execer);
    for (int i = 0; i < 8; ++i) start(sleeper);
    g_is_started = true;
    sleep_us(1000);
    exit(3);
  }
  if (strcmp(how, "signals") == 0) {
    send_signals();
    return 4;
  }
  if (strcmp(how, "many") == 0) {
    for (int i = 0; i < 200'000; ++i) keep(malloc(40));
    for (int i = 0; i < 20; ++i) start(i % 2 == 0 ? sleeper : churner);
    return 6;
  }
  if (strcmp(how, "calls") == 0) {
    wait_in_calls();
    return 10;
  }
  if (strcmp(how, "spawn") == 0) {
    for (int i = 0; i < 4; ++i) start(spawner);
    sleep_us(20'000);
    return 7;
  }
  if (strcmp(how, "exits") == 0) {
    for (int i = 0; i < 6; ++i) start(ender);
    sleep_us(g_delay_us);
    exit(8);
  }
  if (strcmp(how, "fork") == 0) {
    signal(SIGALRM, fork_here);
    char byte;
    return write(1, "go\n", 3) == 3 && read(0, &byte, 1) == 1 ? 9 : 97;
  }
  return 98;
}
