// tests/targets/threads/taken_id.cc: a thread ends, another process takes its id, and then a new thread allocates.
// Prints how many more parts of the arena are mapped then than before: 0, if the first thread's ring is used again.
//
// Exit status 77: nobody may choose the next id here.
#include "../keep.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

KEEP_FRAME void* allocate(void* id) {
  free(keep(malloc(1235)));
  *static_cast<pid_t*>(id) = static_cast<pid_t>(syscall(SYS_gettid));
  return nullptr;
}

pid_t run_thread() {
  pid_t id = 0;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, allocate, &id) != 0) exit(97);
  pthread_join(thread, nullptr);
  while (syscall(SYS_tgkill, getpid(), id, 0) == 0) usleep(100);  // the kernel is not done with it yet
  return id;
}

int count_arena_parts() {
  char line[512];
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != nullptr) count += strstr(line, "/memfd:") != nullptr;
  fclose(maps);
  return count;
}

bool choose_next_id(pid_t id) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%d", id - 1);
  const int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
  const bool is_written = file >= 0 && write(file, text, static_cast<size_t>(length)) == length;
  close(file);
  return is_written;
}

}  // namespace

int main() {
  free(keep(malloc(1236)));
  for (int i = 0; i < 20; ++i) {
    const pid_t id = run_thread();
    int ends[2];
    if (!choose_next_id(id) || pipe(ends) != 0) return 77;
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      close(ends[1]);
      _exit(read(ends[0], &byte, 1) < 0);
    }
    const int before = count_arena_parts();
    if (child == id) {
      run_thread();
      printf("%d\n", before == 0 ? -1 : count_arena_parts() - before);
    }
    close(ends[0]), close(ends[1]);
    waitpid(child, nullptr, 0);
    if (child == id) return 0;
  }
  return 77;
}
