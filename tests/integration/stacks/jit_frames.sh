# Code that a JIT compiler makes and describes to libgcc is walked through, from the moment at which it is described;
# what another function leaves at its addresses is known no more. Exceptions find their way through it as without us.
profile "$TARGETS/jit_frames"
expect_eq "status" "$status" 0
expect_eq "output" "$(cat out.txt)" 14
for function in allocate_first allocate_second; do
  expect_eq "stack of $function" "$(stacks "^$function" | sed 's/ < __libc_start.*//')" "$function < ??? < call_compiled < main"
done
expect_sum '^allocate_first' "12350 10 12350 10"
expect_sum '^allocate_second' "12360 10 12360 10"
# Nothing described the code when it was called for the first time.
expect_eq "truncated stacks" "$(counter truncated_stacks_count)" 1

# A compiler of others', where there is one.
if have lli && have clang; then
  cat >program.c <<'EOF'
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) void *leaf(int n) { return malloc(n); }
__attribute__((noinline)) int middle(int n) { for (int i = 0; i < 7; i++) kept = leaf(n); return kept != 0; }
int main(void) { return middle(43210) + middle(43210) == 2 ? 0 : 1; }
EOF
  clang -O1 -fomit-frame-pointer -fno-builtin -S -emit-llvm program.c -o program.ll
  if lli program.ll 2>/dev/null; then
    profile lli program.ll
    expect_eq "status of lli" "$status" 0
    expect_eq "sites whose stack ends before main" "$(jq '[.ftbl as $f | .pps[] | select(.tb == 43210 * .tbk) |
      select(all(.fs[]; $f[.] | test("__libc_start_main") | not))] | length' profile.json)" 0
    expect_eq "blocks" "$(jq '[.pps[] | select(.tb == 43210 * .tbk) | .tbk] | add' profile.json)" 14
  else
    not_tried "lli: it does not run here"
  fi
else
  not_tried "lli: no lli or clang"
fi
