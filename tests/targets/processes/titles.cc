// tests/targets/processes/titles.cc: children that give themselves titles, as servers' workers do, the last one of them
// after its first block. They run on; their pids are printed, a line each. It ends when its input does.
//
// usage: titles ROOM      ROOM: a word as long as a title
#include "../keep.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

KEEP_FRAME void allocate_in_worker() { keep(malloc(1235)); }

static void set_title(char** argv, const char* title) {
  char* const end = argv[1] + strlen(argv[1]);
  memset(argv[0], 0, static_cast<size_t>(end - argv[0]));
  snprintf(argv[0], static_cast<size_t>(end - argv[0]), "%s", title);
}

int main(int argc, char** argv) {
  if (argc != 2 || strlen(argv[1]) < 200) return 98;
  static const char* const titles[] = {"nginx: worker process /usr/sbin/nginx -c /etc/nginx/nginx.conf",
                                       "/usr/lib/chromium/chromium --type=renderer --user-data-dir=/var/lib/profile",
                                       "postgres: 15/main: checkpointer /var/lib/postgresql",
                                       "nginx: cache manager process"};
  for (const char* title : titles) {
    int ready[2];
    if (pipe(ready) != 0) return 97;
    const pid_t child = fork();
    if (child == 0) {
      if (title == titles[3]) allocate_in_worker();
      set_title(argv, title);
      if (title != titles[3]) allocate_in_worker();
      if (write(ready[1], "x", 1) != 1) return 96;
      for (;;) pause();
    }
    char byte;
    if (read(ready[0], &byte, 1) != 1) return 95;
    printf("%d\n", child);
    fflush(stdout);
  }
  char byte;
  while (read(0, &byte, 1) > 0) continue;
  return 0;
}
