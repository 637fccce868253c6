# Programs that are built with a sanitizer end as they do natively when a followed program starts them, and are named.
cat >program.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
int main(int argc, char** argv) {
  char* block = malloc(1235);
  memset(block, 1, 1235);
  puts("it ran");
  int sum = 0;
  for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1235); ++i) sum += block[i];  // 1236: beyond its end
  free(block);
  return sum != 0 ? 3 : 4;
}
C
gcc program.c -o plain
tried=0
# try NAME COMPILER FLAGS…
try() {
  local name=$1 native=0 got=0 argument
  shift
  "$@" -g program.c -o "$name" 2>/dev/null || true
  [ -x "$name" ] && [ "$(./"$name" 2>/dev/null)" = "it ran" ] || { not_tried "$name: '$*' is not possible here"; return; }
  for argument in "" 1236; do
    native=0 got=0
    bash -c "./$name $argument" >plain.txt 2>plain_err.txt || native=$?
    "$HEAPPROF_BIN" run -q -o p.json -- bash -c "./$name $argument; exit \$?" >out.txt 2>err.txt || got=$?
    expect_eq "exit status of $name $argument" $got $native
    expect_eq "output of $name $argument" "$(cat out.txt)" "$(cat plain.txt)"
    expect_eq "reports of $name $argument" "$(grep -c ERROR: err.txt)" "$(grep -c ERROR: plain_err.txt)"
    expect_eq "what is said of $name" "$(jq -rs '[.[].heapprof.unprofiled_programs[] | "\(.path | sub(".*/"; "")) \(.reason) \(.starts_count)"] | join(", ")' p*.json)" \
      "$(case $name in gcc_static_address) ;; *) echo "$name built with a sanitizer, which replaces malloc itself 1" ;; esac)"
    rm -f p*.json
  done
  tried=$((tried + 1))
}
for sanitizer in address thread leak; do try gcc_$sanitizer gcc -fsanitize=$sanitizer; done
# Linked statically by gcc it hides its functions and bears our company: its own malloc serves it.
try gcc_static_address gcc -fsanitize=address -static-libasan
if have clang; then
  for sanitizer in address thread memory leak; do try clang_$sanitizer clang -fsanitize=$sanitizer; done
  try clang_shared_address clang -fsanitize=address -shared-libasan -Wl,-rpath,"$(dirname "$(clang -print-file-name=libclang_rt.asan-x86_64.so)")"
else
  not_tried "clang: not installed"
fi
[ $tried != 0 ] || skip "no compiler here has a sanitizer"
echo "$tried kinds"

# A program without one, and one that has only the names of its functions as text, are followed.
cat >names.c <<'C'
#include <stdlib.h>
const char* volatile g_names[] = {"__asan_init", "libasan.so.8"};
int main(void) { free(malloc(1236)); return g_names[0][2] == 'a' ? 0 : 1; }
C
gcc names.c -rdynamic -o names
expect_status 0 "$HEAPPROF_BIN" run -q -o p.json -- bash -c './names; ./plain >/dev/null; exit 0'
expect_eq "notes" "$(jq -s '[.[].heapprof.unprofiled_programs[]] | length' p*.json)" 0
expect_eq "blocks of both" "$(jq -s '[.[].pps[] | select(.tb == 1235 or .tb == 1236) | .tb] | sort | join(" ")' p*.json)" '"1235 1236"'

# The same where process_vm_readv is refused, as older container runtimes do, for heapprof and all that it runs.
export ASAN_OPTIONS=detect_leaks=0
if ! "$TARGETS/refuses_reads" true || ! gcc -fsanitize=address program.c -o checked 2>/dev/null ||
  [ "$(./checked 2>/dev/null)" != "it ran" ]; then
  not_tried "a filter for process_vm_readv, or AddressSanitizer"
  exit 0
fi
# shellcheck disable=SC2016  # the shell's
expect_status 3 "$TARGETS/refuses_reads" "$HEAPPROF_BIN" run -q -o p.json -- bash -c './checked; exit $?'
expect_eq "output where process_vm_readv is refused" "$(cat out.txt)" "it ran"
