// tests/targets/limits/data_limit.cc: prints how much private memory a process can map under RLIMIT_DATA while so many
// threads that have allocated are there: data_limit THREADS MIB
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

namespace {

pthread_barrier_t g_all;

void* allocate_small(void*) {
  free(malloc(1235));
  pthread_barrier_wait(&g_all);
  pthread_barrier_wait(&g_all);
  return nullptr;
}

int count_pieces() {
  constexpr size_t kPiece = 1 << 20;
  int count = 0;
  while (mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) ++count;
  return count;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const int threads = atoi(arguments[1]);
  const rlimit limit{strtoul(arguments[2], nullptr, 10) << 20, strtoul(arguments[2], nullptr, 10) << 20};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) return 3;
  pthread_barrier_init(&g_all, nullptr, static_cast<unsigned>(threads) + 1);
  pthread_attr_t small_stack;
  pthread_attr_init(&small_stack);
  pthread_attr_setstacksize(&small_stack, 64 << 10);
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &small_stack, allocate_small, nullptr) != 0) return 4;
  }
  pthread_barrier_wait(&g_all);
  printf("%d\n", count_pieces());
  pthread_barrier_wait(&g_all);
  return 0;
}
