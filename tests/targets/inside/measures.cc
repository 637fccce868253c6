// tests/targets/inside/measures.cc: asks whose memory a measurement found, where the program knows it.
//
//   measures sites      functions of known sizes, around phases of others; says each measure's explanation
//   measures wrong      numbers, measures and buffers that are none
//   measures threads    five threads measure and ask at once; each has to find its own function
//   measures forked     a child has measurements of its own
//   measures most       more measurements than are kept
//   measures loop       asks for as long as it is answered
#include <heapprof/heapprof.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void* volatile g_live_before = nullptr;
void* volatile g_kept = nullptr;

[[gnu::noinline]] void* take_for_the_peak(size_t bytes) {
  void* const block = std::malloc(bytes);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
[[gnu::noinline]] void* keep_for_ever(size_t bytes) {
  void* const block = std::malloc(bytes);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}
[[gnu::noinline]] void take_often(int times) {
  for (int i = 0; i < times; ++i) {
    void* const block = std::malloc(10);
    asm volatile("" : : "r"(block) : "memory");
    std::free(block);
  }
}
[[gnu::noinline]] void* live_from_before(size_t bytes) {
  void* const block = std::malloc(bytes);
  asm volatile("" : : "r"(block) : "memory");
  return block;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::_Exit(1);
}
void expect(bool holds, const char* what) {
  if (!holds) fail(what);
}

std::array<char, 4096> g_text;

void say(const char* name, uint64_t measurement, int measure) {
  const int result = heapprof_explain_measurement(measurement, measure, g_text.data(), g_text.size());
  std::printf("== %s %d\n%s", name, result, g_text.data());
}

void sites() {
  g_live_before = live_from_before(700'000);
  std::printf("sites\n");  // stdio's block is no part of what follows
  heapprof_stats begin;
  heapprof_stats end;
  uint64_t outer = 0;
  uint64_t inner = 0;
  expect(heapprof_begin_measurement("host", 1, &begin, &outer) == HEAPPROF_OK && outer != 0, "no measurement");
  heapprof_begin_measurement("host", 1, nullptr, &inner);  // a phase that goes higher than the last one
  void* const large = take_for_the_peak(5'000'000);
  g_kept = keep_for_ever(1'000'000);
  std::free(large);
  heapprof_end_measurement("host", inner, nullptr);
  heapprof_begin_phase("host", nullptr);
  std::free(take_for_the_peak(2'000'000));
  take_often(1000);
  std::free(g_live_before);
  expect(heapprof_end_measurement("host", outer, &end) == HEAPPROF_OK, "no end");
  std::printf("total %llu in %llu, live %lld\n", static_cast<unsigned long long>(end.total_bytes - begin.total_bytes),
              static_cast<unsigned long long>(end.total_blocks - begin.total_blocks),
              static_cast<long long>(end.live_bytes - begin.live_bytes));
  say("peak", outer, HEAPPROF_PEAK);
  say("bytes", outer, HEAPPROF_TOTAL_BYTES);
  say("blocks", outer, HEAPPROF_TOTAL_BLOCKS);
  say("live", outer, HEAPPROF_LIVE);
  say("inner peak", inner, HEAPPROF_PEAK);
  uint64_t mapped = 0;
  heapprof_begin_measurement("mapped", 1, nullptr, &mapped);
  void* const pages = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages, 1 << 20);
  heapprof_end_measurement("mapped", mapped, nullptr);
  say("mapped", mapped, HEAPPROF_PEAK);
  uint64_t nothing = 0;
  heapprof_begin_measurement("cuda:0", 1, nullptr, &nothing);
  heapprof_end_measurement("cuda:0", nothing, nullptr);
  say("nothing", nothing, HEAPPROF_PEAK);
}

void wrong() {
  uint64_t one = 0;
  expect(heapprof_begin_measurement("teapot", 0, nullptr, &one) == HEAPPROF_UNKNOWN_DEVICE && one == 0, "a teapot");
  expect(heapprof_begin_measurement(nullptr, 0, nullptr, &one) == HEAPPROF_OK && one != 0, "the host");
  char text[64] = "x";
  expect(heapprof_explain_measurement(one, HEAPPROF_TOTAL_BYTES, text, sizeof text) == HEAPPROF_UNAVAILABLE,
         "not ended");
  expect(text[0] == 0, "text without an answer");
  std::free(take_for_the_peak(1'000'000));
  heapprof_stats stats = {};
  expect(heapprof_end_measurement("mapped", one, &stats) == HEAPPROF_OK, "another device");
  expect(heapprof_explain_measurement(one, HEAPPROF_TOTAL_BYTES, text, sizeof text) == HEAPPROF_UNAVAILABLE,
         "not its end");
  expect(heapprof_end_measurement("host", one, &stats) == HEAPPROF_OK && stats.total_bytes >= 1'000'000, "the end");
  expect(heapprof_end_measurement("host", one, &stats) == HEAPPROF_OK, "a second end");
  expect(heapprof_end_measurement("host", 12345, &stats) == HEAPPROF_OK, "an end of nothing");
  expect(heapprof_explain_measurement(0, HEAPPROF_TOTAL_BYTES, text, sizeof text) == HEAPPROF_UNAVAILABLE, "0");
  expect(heapprof_explain_measurement(one + 1, HEAPPROF_TOTAL_BYTES, text, sizeof text) == HEAPPROF_UNAVAILABLE,
         "next");
  std::memset(text, 'x', sizeof text);
  expect(heapprof_explain_measurement(one, HEAPPROF_TOTAL_BYTES, text, 0) == HEAPPROF_UNAVAILABLE, "no room");
  expect(text[0] == 'x', "written without room");
  expect(heapprof_explain_measurement(one, HEAPPROF_TOTAL_BYTES, text, 10) == HEAPPROF_OK, "little room");
  expect(text[0] == 0 && text[10] == 'x', "a part of a line");
  expect(heapprof_explain_measurement(one, HEAPPROF_TOTAL_BYTES, text, 21) == HEAPPROF_OK, "room for a line");
  expect(std::strcmp(text, "977 KiB in 1 block\n") == 0 && text[22] == 'x', "the whole line alone");
  expect(heapprof_explain_measurement(one, 77, text, sizeof text) == HEAPPROF_UNAVAILABLE, "an unknown measure");
  expect(heapprof_explain_measurement(one, HEAPPROF_PEAK, text, sizeof text) == HEAPPROF_UNAVAILABLE,
         "a peak that nobody looked for");
  std::puts("done");
}

template <int kThread>
[[gnu::noinline]] void* take_as_thread(size_t bytes) {
  void* const block = std::malloc(bytes);
  asm volatile("" : : "r"(block), "i"(kThread) : "memory");
  return block;
}

template <int kThread>
void measure_as() {
  for (int round = 0; round < 3; ++round) {
    uint64_t mine = 0;
    expect(heapprof_begin_measurement("host", 0, nullptr, &mine) == HEAPPROF_OK, "no begin");
    std::free(take_as_thread<kThread>(10'000'000));
    expect(heapprof_end_measurement("host", mine, nullptr) == HEAPPROF_OK, "no end");
    std::array<char, 4096> text;
    expect(heapprof_explain_measurement(mine, HEAPPROF_TOTAL_BYTES, text.data(), text.size()) == HEAPPROF_OK,
           "no answer");
    const std::string name = "take_as_thread<" + std::to_string(kThread) + ">";
    if (std::strstr(text.data(), name.c_str()) == nullptr) fail(text.data());
  }
}

void threads() {
  void (*const bodies[])() = {measure_as<0>, measure_as<1>, measure_as<2>, measure_as<3>, measure_as<4>};
  std::vector<std::thread> all;
  for (const auto body : bodies) all.emplace_back(body);
  for (std::thread& thread : all) thread.join();
  std::puts("done");
}

void forked() {
  uint64_t parents = 0;
  heapprof_begin_measurement("host", 0, nullptr, &parents);
  std::free(take_for_the_peak(3'000'000));
  heapprof_end_measurement("host", parents, nullptr);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    uint64_t mine = 0;
    std::free(std::malloc(1));
    if (heapprof_explain_measurement(parents, HEAPPROF_TOTAL_BYTES, g_text.data(), g_text.size()) !=
        HEAPPROF_UNAVAILABLE)
      _exit(2);
    heapprof_begin_measurement("host", 0, nullptr, &mine);
    g_kept = keep_for_ever(4'000'000);
    heapprof_end_measurement("host", mine, nullptr);
    const int result = heapprof_explain_measurement(mine, HEAPPROF_LIVE, g_text.data(), g_text.size());
    _exit(result == HEAPPROF_OK && std::strstr(g_text.data(), "3.81 MiB in 1 block\n  keep_for_ever") != nullptr ? 0
                                                                                                                 : 3);
  }
  int status = 0;
  expect(waitpid(child, &status, 0) == child && status == 0, "the child");
  expect(heapprof_explain_measurement(parents, HEAPPROF_TOTAL_BYTES, g_text.data(), g_text.size()) == HEAPPROF_OK &&
             std::strstr(g_text.data(), "take_for_the_peak") != nullptr,
         "the parent");
  std::puts("done");
}

void most() {
  std::vector<uint64_t> all(65);
  for (uint64_t& one : all) heapprof_begin_measurement("host", 1, nullptr, &one);
  std::free(take_for_the_peak(3'000'000));
  for (const uint64_t one : all) expect(heapprof_end_measurement("host", one, nullptr) == HEAPPROF_OK, "an end");
  const auto result = [](uint64_t one) {
    return heapprof_explain_measurement(one, HEAPPROF_PEAK, g_text.data(), g_text.size());
  };
  expect(result(all[0]) == HEAPPROF_UNAVAILABLE, "the oldest is kept");
  expect(result(all[1]) == HEAPPROF_OK && std::strstr(g_text.data(), "take_for_the_peak") != nullptr, "the second");
  expect(result(all[64]) == HEAPPROF_OK && std::strstr(g_text.data(), "take_for_the_peak") != nullptr, "the last");
  // Left open, as by an exception of a language that knows no destructors.
  uint64_t ignored = 0;
  for (int i = 0; i < 2000; ++i) heapprof_begin_measurement("host", i % 2, nullptr, &ignored);
  expect(result(ignored) == HEAPPROF_UNAVAILABLE, "one that is open");
  std::puts("done");
}

void loop() {
  std::puts("go");
  std::fflush(stdout);
  int result = HEAPPROF_OK;
  for (int i = 0; result == HEAPPROF_OK && i < 100'000; ++i) {
    uint64_t one = 0;
    heapprof_begin_measurement("host", 0, nullptr, &one);
    std::free(take_for_the_peak(1000));
    result = heapprof_end_measurement("host", one, nullptr);
    if (result == HEAPPROF_OK)
      result = heapprof_explain_measurement(one, HEAPPROF_TOTAL_BYTES, g_text.data(), g_text.size());
  }
  std::printf("ended %d\n", result);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "sites") sites();
  if (mode == "wrong") wrong();
  if (mode == "threads") threads();
  if (mode == "forked") forked();
  if (mode == "most") most();
  if (mode == "loop") loop();
  return 0;
}
