# Templates and inlined functions at -O2: each source line is named, an inlined frame stands inside of its caller's.
source_file=$SOURCE/tests/targets/names/inlined.cc
profile "$TARGETS/inlined"
expect_eq "exit status" "$status" 0
expect_complete
marked() {  # FUNCTION MARK: the function's frame says the marked line
  local want
  want="$source_file:$(line_of "$source_file" "mark: $2")"
  frames "$1" | grep -qF "($want)" || fail "no frame of '$1' at $want: $(frames "$1")"
}
marked '^fill_shelf' fill_shelf
marked '^grow_vector' grow_vector
marked '^fill_map' fill_map
marked 'Shelf<Tile>::put_one' put_one
expect_eq "bytes of the shelf" "$(sum '^fill_shelf' | cut -d' ' -f1,2)" "1235 1"
expect_eq "bytes of the vector" "$(sum '^grow_vector' | cut -d' ' -f1,2)" "3705 1"
expect_eq "blocks of the map" "$(sum '^fill_map' | cut -d' ' -f2)" 1
stacks '^fill_shelf' | grep -qE '(^|< )Shelf<Tile>::put_one < fill_shelf < main' || fail "the inlined frame is not inside of its caller: $(stacks '^fill_shelf')"
