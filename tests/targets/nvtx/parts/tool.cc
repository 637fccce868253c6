// tests/targets/nvtx/parts/tool.cc: another tool of NVTX, with handles and ids of its own. It counts its calls, and
// aborts where it is given a handle or an id that it never gave out.
#include "tests/targets/nvtx/parts/own_nvtx.h"

#include <cstdio>

namespace {

using own_nvtx::Any;
using own_nvtx::Event;

std::atomic<unsigned> g_pushes, g_pops, g_starts, g_ends, g_marks, g_domains, g_strings, g_categories;
int g_depth[4];  // per domain; the program of the test has one thread here
char g_handles[64];

void must(bool is_right) {
  if (!is_right) std::abort();
}
unsigned domain_of(void* domain) {
  if (domain == nullptr) return 0;
  const auto place = static_cast<char*>(domain) - g_handles;
  must(place >= 1 && place <= 3);
  return static_cast<unsigned>(place);
}
void check(const Event* event) {
  if (event->message_type != 3) return;
  const auto place = static_cast<const char*>(event->message) - g_handles;
  must(place >= 32 && place < 64);
}

int push(const char*) { return ++g_pushes, g_depth[0]++ + 100; }
int push_wide(const wchar_t*) { return ++g_pushes, g_depth[0]++ + 100; }
int push_in(void* domain, const Event* event) {
  check(event);
  return ++g_pushes, g_depth[domain_of(domain)]++ + 100;
}
int pop() { return ++g_pops, --g_depth[0] + 100; }
int pop_in(void* domain) { return ++g_pops, --g_depth[domain_of(domain)] + 100; }
uint64_t start(const char*) { return 7000 + ++g_starts; }
uint64_t start_in(void* domain, const Event* event) {
  check(event);
  domain_of(domain);
  return 7000 + ++g_starts;
}
void end(uint64_t range) {
  must(range > 7000 && range <= 7000 + g_starts);
  ++g_ends;
}
void end_in(void* domain, uint64_t range) {
  domain_of(domain);
  end(range);
}
void mark(const char*) { ++g_marks; }
void* create_domain(const char*) { return g_handles + ++g_domains; }
void* register_string(void* domain, const char*) {
  domain_of(domain);
  return g_handles + 32 + g_strings++;
}
void name_category(uint32_t, const char*) { ++g_categories; }

template <typename Function>
void put(Any** slots, uint32_t number, Function function) {
  *slots[number] = reinterpret_cast<Any>(function);
}

int start_tool(own_nvtx::GetTable get) {
  const auto* tables = static_cast<const own_nvtx::CallbackTables*>(get(own_nvtx::kTables));
  Any** slots = nullptr;
  unsigned count = 0;
  must(tables->get_module(own_nvtx::kCore, &slots, &count) == 1);
  put(slots, own_nvtx::kRangePushA, push);
  put(slots, own_nvtx::kRangePushW, push_wide);
  put(slots, own_nvtx::kRangePop, pop);
  put(slots, own_nvtx::kRangeStartA, start);
  put(slots, own_nvtx::kRangeEnd, end);
  put(slots, own_nvtx::kMarkA, mark);
  put(slots, own_nvtx::kNameCategoryA, name_category);
  must(tables->get_module(own_nvtx::kCore2, &slots, &count) == 1);
  put(slots, own_nvtx::kDomainRangePushEx, push_in);
  put(slots, own_nvtx::kDomainRangePop, pop_in);
  put(slots, own_nvtx::kDomainRangeStartEx, start_in);
  put(slots, own_nvtx::kDomainRangeEnd, end_in);
  put(slots, own_nvtx::kDomainCreateA, create_domain);
  put(slots, own_nvtx::kDomainRegisterStringA, register_string);
#ifdef REFUSES
  return 0;
#else
  return 1;
#endif
}

}  // namespace

extern "C" {
int InitializeInjectionNvtx2(own_nvtx::GetTable get) { return start_tool(get); }
int InitializeInjectionNvtx(own_nvtx::GetTable get) { return start_tool(get); }
void tool_print() {
  std::printf("tool: %u pushes, %u pops, %u starts, %u ends, %u marks, %u domains, %u strings, %u categories\n",
              g_pushes.load(), g_pops.load(), g_starts.load(), g_ends.load(), g_marks.load(), g_domains.load(),
              g_strings.load(), g_categories.load());
}
}
