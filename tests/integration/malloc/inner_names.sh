# Names make no allocator: functions that do not behave as one are not believed, harm nothing when they are tried, and
# are named.
have gcc || skip "gcc is not installed"
cat >menu.c <<'C'
// A menu: mi_new takes a title, and mi_free an item.
#include <stdio.h>
#include <string.h>
#include <unistd.h>
struct item { const char* title; struct item* next; char text[48]; };
static struct item items[4096];
static unsigned used;
__attribute__((noipa)) struct item* mi_new(const char* title) {
#ifdef READS
  if (title[0] == 0) return 0;
#endif
#ifdef REMOVES  // no address of the program's
  if ((unsigned long)title < 65536) unlink("kept");
#endif
#ifdef WAITS
  if ((unsigned long)title < 65536) for (;;) pause();
#endif
  struct item* one = &items[used++];
  one->title = title;
  return one;
}
__attribute__((noipa)) void mi_free(struct item* one) { one->title = 0; }
int main(void) {
  static const char* titles[] = {"open", "save", "quit"};
  unsigned long all = 0;
  for (int i = 0; i < 99; ++i) {
    struct item* one = mi_new(titles[i % 3]);
    all += strlen(one->title);
    if (i % 2) mi_free(one);
  }
  char text[64];
  int length = snprintf(text, sizeof text, "%lu %u\n", all, used);
  fwrite(text, 1, (unsigned long)length, stdout);
  return 7;
}
C
touch kept
for way in PLAIN READS REMOVES WAITS; do
  gcc -g -O1 -D$way menu.c -o menu
  expect_status 7 ./menu
  cp out.txt alone.txt
  expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./menu
  diff alone.txt out.txt >&2 || fail "$way: another result"
  expect_in err.txt "[HP310]"
  expect_said err.txt "do not behave as an allocator's do"
  expect_eq "peak below 1 MiB ($way)" "$(json profile.json '.heapprof.devices[0].totals.peak_bytes < 1048576')" true
  [ -f kept ] || fail "trying a function removed a file"
done

# The same of a library whose functions are exported, which every program would look up by name.
sed 's/^int main.*/int unused;/;/^int unused/,$d' menu.c >library.c
cat >user.c <<'C'
#include <stdio.h>
#include <string.h>
struct item { const char* title; };
struct item* mi_new(const char* title);
void mi_free(struct item* one);
int main(void) {
  unsigned long all = 0;
  for (int i = 0; i < 99; ++i) {
    struct item* one = mi_new("open");
    all += strlen(one->title);
    if (i % 2) mi_free(one);
  }
  return (int)(all % 200);
}
C
for way in PLAIN READS REMOVES; do
  gcc -g -O1 -fPIC -shared -D$way library.c -o libmenu.so
  gcc -g -O1 user.c -o user -L. -lmenu -Wl,-rpath,"$PWD"
  expect_status 196 "$HEAPPROF_BIN" run -o profile.json -- ./user
  expect_said err.txt "libmenu.so: its functions do not behave as an allocator's do"
  expect_eq "peak below 1 MiB ($way)" "$(json profile.json '.heapprof.devices[0].totals.peak_bytes < 1048576')" true
  expect_eq "hooks that failed their test ($way)" "$(json profile.json '.heapprof.coverage.self_test_failures | length')" 0
  [ -f kept ] || fail "trying a function of a library removed a file"
done
