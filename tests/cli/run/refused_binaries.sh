# A program that the agent cannot enter is not started, and the way out is one that works.
printf '#include <stdlib.h>\nint main(void) { return malloc(1235) == 0; }\n' >small.c
if gcc -fsanitize=address small.c -o asan 2>/dev/null; then
  refused 125 run ./asan <<'WORDS'
heapprof: error: ./asan is built with AddressSanitizer, which replaces malloc itself and must be loaded first [HP012]
  fix:     build it without -fsanitize=address
WORDS
fi
if gcc -static small.c -o static 2>/dev/null; then
  refused 125 run ./static <<'WORDS'
heapprof: error: ./static is statically linked: there is no loader to preload the agent [HP004]
  fix:     link it dynamically (drop -static)
  instead: keep all static but libc: -static-libstdc++ -static-libgcc -l:libNAME.a
WORDS
fi
if gcc -m32 small.c -o program32 2>/dev/null; then
  expect_status 125 "$HEAPPROF_BIN" run ./program32
  expect_in err.txt "./program32 is a 32-bit x86 program"
fi
if have musl-gcc && musl-gcc small.c -o musl 2>/dev/null; then
  expect_status 125 "$HEAPPROF_BIN" run ./musl
  expect_in err.txt "./musl is loaded by /lib/ld-musl-x86_64.so.1"
fi
