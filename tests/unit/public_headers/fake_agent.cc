// tests/unit/public_headers/fake_agent.cc: the books behind the fake agent. As the real one it has one phase a device,
// and answers any thread.
#include "tests/unit/public_headers/fake_agent.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace heapprof {
namespace {

struct Books {
  std::mutex mutex;
  bool is_active = false;
  int result = HEAPPROF_OK;
  std::map<std::string, heapprof_stats> devices;
  std::map<std::thread::id, heapprof_thread_stats> threads;
  uint64_t questions = 0;
  uint64_t phases = 0;
  uint64_t open_scopes = 0;
  uint64_t last_items = 0;
  std::string last_scope;
  std::string last_category;
  uint64_t measurements = 0;
  std::set<uint64_t> open_measurements;
};
Books g_books;

int is_recording() { return g_books.is_active ? 1 : 0; }
const char* version() { return "0.0.0"; }

int ask(const char* device, heapprof_stats* stats, bool is_phase) {
  const std::lock_guard lock(g_books.mutex);
  if (!g_books.is_active) return HEAPPROF_INACTIVE;
  ++g_books.questions;
  if (g_books.result != HEAPPROF_OK) return g_books.result;
  const std::string name = device == nullptr ? "host" : device;
  if (name != "host" && name != "mapped" && name.substr(0, 5) != "cuda:") return HEAPPROF_UNKNOWN_DEVICE;
  heapprof_stats& of = g_books.devices[name];
  if (stats != nullptr) *stats = of;
  if (is_phase) {
    ++g_books.phases;
    of.phase_peak_bytes = of.live_bytes;
  }
  return HEAPPROF_OK;
}

int get_stats(const char* device, heapprof_stats* stats) { return ask(device, stats, false); }
int begin_phase(const char* device, heapprof_stats* stats) { return ask(device, stats, true); }

int get_thread_stats(heapprof_thread_stats* stats) {
  const std::lock_guard lock(g_books.mutex);
  if (!g_books.is_active) return HEAPPROF_INACTIVE;
  if (g_books.result != HEAPPROF_OK) return g_books.result;
  *stats = g_books.threads[std::this_thread::get_id()];
  return HEAPPROF_OK;
}

void begin_scope(heapprof_scope* scope, heapprof_name* name) {
  const std::lock_guard lock(g_books.mutex);
  scope->id = 1;
  ++g_books.open_scopes;
  g_books.last_scope = name->text;
  g_books.last_category = name->category == nullptr ? "" : name->category;
}
void end_scope(const heapprof_scope* scope) {
  const std::lock_guard lock(g_books.mutex);
  --g_books.open_scopes;
  g_books.last_items = scope->items;
}
void leave_scope(const heapprof_scope*) {
  const std::lock_guard lock(g_books.mutex);
  --g_books.open_scopes;
}
void enter_scope(const heapprof_scope*) {
  const std::lock_guard lock(g_books.mutex);
  ++g_books.open_scopes;
}
void mark(heapprof_name*) {}

void name_block(const void*, heapprof_name*) {}
void do_nothing() {}

// Measurements are numbered; those that have ended are explained by their numbers.
int begin_measurement(const char* device, int begins_phase, heapprof_stats* stats, uint64_t* measurement) {
  const int result = ask(device, stats, begins_phase != 0);
  const std::lock_guard lock(g_books.mutex);
  if (result == HEAPPROF_OK) {
    *measurement = ++g_books.measurements;
    g_books.open_measurements.insert(*measurement);
  }
  return result;
}
int end_measurement(const char* device, uint64_t measurement, heapprof_stats* stats) {
  const int result = ask(device, stats, false);
  const std::lock_guard lock(g_books.mutex);
  g_books.open_measurements.erase(measurement);
  return result;
}
int explain_measurement(uint64_t measurement, int measure, char* text, uint64_t text_bytes) {
  const std::lock_guard lock(g_books.mutex);
  if (measurement == 0 || g_books.open_measurements.count(measurement) != 0) return HEAPPROF_UNAVAILABLE;
  std::snprintf(text, text_bytes, "measure %d\n  f  a.cc:1\n", measure);
  return HEAPPROF_OK;
}

void tell_tensor(const void*, uint32_t, heapprof_name*) {}
void snapshot(heapprof_name* name, int) { mark(name); }

constexpr heapprof_functions kFunctions = {HEAPPROF_FUNCTIONS_COUNT,
                                           is_recording,
                                           version,
                                           get_stats,
                                           begin_phase,
                                           get_thread_stats,
                                           begin_scope,
                                           end_scope,
                                           leave_scope,
                                           enter_scope,
                                           mark,
                                           begin_measurement,
                                           end_measurement,
                                           explain_measurement,
                                           name_block,
                                           do_nothing,
                                           do_nothing,
                                           tell_tensor,
                                           snapshot};

}  // namespace

FakeAgent::FakeAgent() {
  const std::lock_guard lock(g_books.mutex);
  g_books.devices.clear();
  g_books.threads.clear();
  g_books.result = HEAPPROF_OK;
  g_books.measurements = 0;
  g_books.open_measurements.clear();
  g_books.questions = g_books.phases = g_books.open_scopes = 0;
  g_books.is_active = true;
}

FakeAgent::~FakeAgent() {
  const std::lock_guard lock(g_books.mutex);
  g_books.is_active = false;
}

void FakeAgent::allocate(uint64_t bytes, const char* device) {
  const std::lock_guard lock(g_books.mutex);
  heapprof_stats& of = g_books.devices[device];
  of.live_bytes += bytes;
  ++of.live_blocks;
  of.total_bytes += bytes;
  ++of.total_blocks;
  of.peak_bytes = std::max(of.peak_bytes, of.live_bytes);
  of.phase_peak_bytes = std::max(of.phase_peak_bytes, of.live_bytes);
  heapprof_thread_stats& mine = g_books.threads[std::this_thread::get_id()];
  mine.total_bytes += bytes;
  ++mine.total_blocks;
}

void FakeAgent::release(uint64_t bytes, const char* device) {
  const std::lock_guard lock(g_books.mutex);
  heapprof_stats& of = g_books.devices[device];
  of.live_bytes -= bytes;
  --of.live_blocks;
  ++g_books.threads[std::this_thread::get_id()].freed_blocks;
}

void FakeAgent::answer(int result) {
  const std::lock_guard lock(g_books.mutex);
  g_books.result = result;
}

uint64_t FakeAgent::questions() const { return g_books.questions; }
uint64_t FakeAgent::phases() const { return g_books.phases; }
uint64_t FakeAgent::open_measurements() const { return g_books.open_measurements.size(); }
uint64_t FakeAgent::open_scopes() const { return g_books.open_scopes; }
const char* FakeAgent::last_scope() const { return g_books.last_scope.c_str(); }
const char* FakeAgent::last_category() const { return g_books.last_category.c_str(); }
uint64_t FakeAgent::last_items() const { return g_books.last_items; }

}  // namespace heapprof

extern "C" const heapprof_functions* heapprof_agent_functions() { return &heapprof::kFunctions; }
