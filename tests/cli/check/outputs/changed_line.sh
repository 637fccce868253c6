# An annotation stands at the line that changed, by its path below the workspace, wherever the check is called.
mkdir -p src build
cat >src/load.c <<'C'
#include <stdlib.h>
char* kept[4];
#ifdef CHANGED
/* moves what is below */
#endif
__attribute__((noinline)) static void load(void) {
  kept[0] = malloc(8 << 20);
#ifdef CHANGED
  kept[1] = malloc(2 << 20);
#endif
  kept[2] = malloc(1 << 20);
}
int main(void) {
  load();
  return kept[0] == NULL;
}
C
cd build || fail "cd"
${CC:-cc} -g ../src/load.c -o load || fail "cc"
"$HEAPPROF_BIN" run -q -o base.json -- ./load || fail "run"
${CC:-cc} -g -DCHANGED ../src/load.c -o load || fail "cc"
workspace=$(dirname "$PWD")
GITHUB_WORKSPACE=$workspace expect_status 1 check --baseline base.json --annotations github -- ./load
expect_in out.txt "::error file=src/load.c,line=9,title=heapprof load::host peak 11.0 MiB, baseline 9.00 MiB; load grew by 2.00 MiB"
CI_PROJECT_DIR=$workspace expect_status 1 check --baseline base.json --annotations github -- ./load
expect_in out.txt "::error file=src/load.c,line=9,"
mkdir ../.git
expect_status 1 check --baseline base.json --annotations github -- ./load
expect_in out.txt "::error file=src/load.c,line=9,"
expect_status 1 check -o current.json --baseline base.json -- ./load
expect_status 0 "$HEAPPROF_BIN" diff base.json current.json
expect_in out.txt "host peak grew 22.2 %, in load (load.c:9)."
