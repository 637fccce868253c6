# A Rust program: names are readable, boxes and vectors are booked where the program made them.
command -v rustc >/dev/null || skip "rustc is not installed"
rustc --version >/dev/null 2>&1 || skip "rustc does not work here"
for mangling in legacy v0; do
  rustc -g -C opt-level=2 -C debuginfo=2 $([ $mangling = v0 ] && echo -C symbol-mangling-version=v0) -o boxes "$SOURCE/tests/targets/malloc/rust/boxes.rs" 2>rustc.txt ||
    { cat rustc.txt; fail "rustc refused the program"; }
  profile ./boxes
  expect_eq "exit status" "$status" 0
  expect_complete
  expect_sum '^boxes::leak_pages' "3705 3 3705 3"
  expect_sum '^boxes::fill_numbers' "9896 1 0 0"
  stacks '^boxes::leak_pages' | grep -q 'boxes::main' || fail "main is not in the stack: $(stacks '^boxes::leak_pages')"
  frames '^boxes::leak_pages' | grep -qF "boxes.rs:$(line_of "$SOURCE/tests/targets/malloc/rust/boxes.rs" 'Box::leak')" || fail "line: $(frames '^boxes::leak_pages')"
done
