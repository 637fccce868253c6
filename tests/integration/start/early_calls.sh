# An indirect function's resolver runs while the loader relocates libraries, before it relocates the agent: what it
# calls there does what it does without us. In a program's own resolver the agent has begun.
parts=$SOURCE/tests/targets/start/early
have g++ || skip "no g++"
export EARLY=set
for calls in MALLOC NEW GETENV MAPPING CALLS FORK EXEC SPAWN; do
  g++ -g -O1 -fno-builtin -fPIC -DEARLY_$calls -c "$parts/resolver.cc" -o resolver.o
  g++ -shared resolver.o -o libresolver.so
  gcc -shared -fPIC "$parts/needs.c" -o libneeds.so -L. -lresolver -Wl,-rpath,"$PWD"
  gcc "$parts/early.c" -o early -L. -lneeds -lresolver -Wl,-rpath,"$PWD"
  g++ -g -O1 -fno-builtin -fno-pie -DEARLY_$calls -c "$parts/resolver.cc" -o resolver.o
  gcc -fno-pie -c "$parts/needs.c" -o needs.o
  gcc -fno-pie -c "$parts/early.c" -o early.o
  g++ -no-pie early.o needs.o resolver.o -o early_itself
  for program in early early_itself; do
    expect_status 41 ./$program
    rm -f profile*.json
    expect_status 41 "$HEAPPROF_BIN" run -q -o profile.json -- ./$program
    expect_sum '^main' "1236 1 0 0"
  done
  expect_status 41 env LD_BIND_NOW=1 "$HEAPPROF_BIN" run -q -o profile.json -- ./early
done

# A handler that allocates, while the functions behind the agent are looked for: its thread does not wait for itself. It
# is heapprof that looks the indirect function up: without it nobody does, and no signal comes.
gcc -shared -fPIC "$parts/interrupts.c" -o libinterrupts.so
gcc -fno-builtin "$parts/handles.c" -o handles -L. -linterrupts -Wl,-rpath,"$PWD"
expect_status 41 ./handles
rm -f profile*.json
expect_status 42 "$HEAPPROF_BIN" run -q -o profile.json -- ./handles
expect_sum '^begin' "2473 2 0 0"  # the handler's among them
expect_sum '^handle' "1237 1 0 0"
