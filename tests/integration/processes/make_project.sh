# make -j2 and gcc: every compiler, assembler and linker is profiled, what they build is the same, and the tree is
# shown.
have make && have gcc || skip "no make, no gcc"
mkdir project
for i in 1 2 3 4 5 6; do echo "int f$i(int x) { return x * $i; }" >project/f$i.c; done
echo 'int f1(int); int main(void) { return f1(0); }' >project/main.c
cat >project/Makefile <<'MAKE'
objects = main.o f1.o f2.o f3.o f4.o f5.o f6.o
program: $(objects) ; gcc -o $@ $(objects)
%.o: %.c ; gcc -c -o $@ $<
MAKE
make -s -j2 -C project && sha256sum project/*.o project/program >plain.sum && rm project/*.o project/program
profile make -s -j2 -C project
expect_eq "exit status" "$status" 0
sha256sum -c --quiet plain.sum || fail "what was built differs"
compilers=0
for file in profile.*.json; do
  case $(json "$file" .heapprof.run.executable) in
    */cc1) compilers=$((compilers + 1)); expect_complete "$file"; expect_end exited 0 "$file" ;;
  esac
done
expect_eq "compilers" "$compilers" 7
expect_in err.txt "processes, by peak"
expect_in err.txt "cc1 -quiet"
expect_in err.txt "smaller"
[ "$(wc -L <err.txt)" -le 100 ] || fail "a line is too wide: $(cat err.txt)"
# Only the compilers.
rm profile*
"$HEAPPROF_BIN" run -q --follow=cc1 -o 'profile.%n.%p.json' -- make -B -s -j2 -C project || fail "with --follow: $?"
expect_eq "profiles of cc1" "$(ls profile.cc1.*.json | wc -l)" 7
expect_eq "all profiles" "$(ls profile*.json | wc -l)" 8
