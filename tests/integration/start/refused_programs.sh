# Programs that no agent can enter are refused before they run, each with its own word and 125: never an empty profile.
cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) { void* block = malloc(1235); puts("it ran"); free(block); return 0; }
C
tried="" not_built=""
# refused ID TEXT PROGRAM…: nothing ran, nothing was written, and the message has a fix
refused() {
  local id=$1 text=$2
  shift 2
  expect_status 125 "$HEAPPROF_BIN" run -o profile.json -- "$@"
  expect_in err.txt "[$id]"
  expect_in err.txt "$text"
  expect_in err.txt "  fix:     "
  expect_eq "stdout of '$*'" "$(cat out.txt)" ""
  expect_eq "profiles of '$*'" "$(ls -A | grep -c '^\.\?profile')" 0
  tried="$tried $id:$(basename "$1")"
}
# build NAME COMPILER FLAGS…: false, and said so, where the compiler cannot
build() {
  local name=$1
  shift
  "$@" program.c -o "$name" 2>/dev/null && return
  not_built="$not_built $name"
  return 1
}
if build static gcc -static; then
  refused HP004 "static is statically linked" ./static
  # … and where a script or a wrapper's first line leads to it.
  printf '#!%s/static\n' "$PWD" >script
  chmod +x script
  refused HP004 "statically linked" ./script
fi
if build static_pie gcc -static-pie; then refused HP004 "static_pie is statically linked" ./static_pie; fi
if build musl musl-gcc; then refused HP007 "musl" ./musl; fi
if build musl_static musl-gcc -static; then refused HP004 "statically linked" ./musl_static; fi
if build bits_32 gcc -m32; then refused HP006 "32-bit x86" ./bits_32; fi
if build x32 gcc -mx32; then refused HP006 "32-bit (x32)" ./x32; fi
for sanitizer in address thread leak; do
  if build $sanitizer gcc -fsanitize=$sanitizer; then refused HP012 "-fsanitize=$sanitizer" ./$sanitizer; fi
done
if have clang && build clang_address clang -fsanitize=address; then refused HP012 "-fsanitize=address" ./clang_address; fi
gcc program.c -o plain
# Not refused: what a program can do without (a weak reference), and glibc's loader by another name.
{ echo 'void __asan_init(void) __attribute__((weak)); void (*init)(void) = __asan_init;'; cat program.c; } >weak.c
gcc weak.c -o weak
cp "$(readelf -p .interp plain | grep -o '/.*')" ld-2.99.so
gcc program.c -o renamed -Wl,--dynamic-linker="$PWD/ld-2.99.so"
for name in weak renamed; do
  profile ./$name
  expect_eq "status of $name" "$status $(cat out.txt)" "0 it ran"
  expect_eq "blocks of 1235 bytes of $name" "$(json profile.json '[.pps[] | select(.tb == 1235)] | length')" 1
  "$HEAPPROF_BIN" run -q --all-processes -o child.json -- sh -c "./$name; true" >/dev/null
  expect_eq "the same of $name as a child" "$(cat child*.json | jq -s '[.[].pps[] | select(.tb == 1235)] | length')" 1
  rm -f profile*.json child*.json
done
if [ "$(id -u)" = 0 ] && have setpriv; then
  # As another user, for whom the privilege would be one. The folder must be hers to write to, and all of the path
  # readable.
  place=$(mktemp -d /tmp/heapprof-privileges.XXXXXX)
  chmod 777 "$place"
  mkdir -p "$place/bin" "$place/lib"
  cp "$HEAPPROF_BIN" "$place/bin/" && cp -r "$BUILD/lib/heapprof" "$place/lib/"
  cp plain "$place/setuid" && chmod 4755 "$place/setuid"
  cp plain "$place/setgid" && chmod 2755 "$place/setgid"
  privileged="setuid setgid"
  if have setcap && cp plain "$place/capable" && setcap cap_net_raw+ep "$place/capable" 2>/dev/null; then privileged="$privileged capable"; fi
  for name in $privileged; do
    status=0
    (cd "$place" && setpriv --reuid 65534 --regid 65534 --clear-groups bin/heapprof run -o profile.json -- "./$name") >out.txt 2>err.txt || status=$?
    expect_eq "exit status of $name" $status 125
    expect_in err.txt "[HP005]"
    [ ! -e "$place/profile.json" ] || fail "$name left a profile"
    tried="$tried HP005:$name"
  done
  rm -rf "$place"
fi
echo "refused:$tried"
[ -z "$not_built" ] || not_tried "cannot be built here:$not_built"
