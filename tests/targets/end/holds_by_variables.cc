// tests/targets/end/holds_by_variables.cc: memory that different variables lead to when it exits, each a known amount.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Row {
  Row* next;
  Row* previous;
  char text[2000];
};

void* get(size_t bytes) {
  void* const block = std::malloc(bytes);
  std::memset(block, 1, bytes);
  return block;
}

Row* add_row(Row* first) {
  Row* const row = static_cast<Row*>(get(sizeof(Row)));
  row->next = first;
  row->previous = nullptr;
  if (first != nullptr) first->previous = row;
  return row;
}

}  // namespace

namespace store {

Row* g_rows = nullptr;  // 300 rows of 2,016 bytes, each of which leads to all others

}  // namespace store

namespace {

char** g_table = nullptr;  // 800 bytes that lead to 100 blocks of 3,000
thread_local void* volatile t_buffer = nullptr;
void* volatile g_one = nullptr;  // both lead to a block of 50,000
void* volatile g_other = nullptr;

void* keep_static() {
  static void* kept = nullptr;
  if (kept == nullptr) kept = get(30'000);
  return kept;
}

}  // namespace

int main() {
  for (int i = 0; i < 300; ++i) store::g_rows = add_row(store::g_rows);
  Row* volatile looked_at = store::g_rows->next;  // does not hold what a variable holds
  g_table = static_cast<char**>(get(100 * sizeof(char*)));
  for (int i = 0; i < 100; ++i) g_table[i] = static_cast<char*>(get(3'000));
  t_buffer = get(70'000);
  void* const both = get(50'000);
  g_one = both;
  g_other = both;
  keep_static();
  void* volatile local = get(20'000);
  std::exit(looked_at == nullptr || local == nullptr ? 1 : 0);
}
