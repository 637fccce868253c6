# What is said to be next can be pasted, whatever the files are called: the shell reads the names back, in every locale.
with_leaky_profile leaky.json
flamegraph.pl() { cat "$3"; }
# next_of NAME COMMAND…: runs it, and then what it says is next
next_of() {
  name=$1
  shift
  "$@" >out.txt 2>err.txt || fail "'$*' failed for $name: $(cat err.txt)"
  next=$(sed -n 's/^next   //p' err.txt)
  [ -n "$next" ] || fail "'$*' does not say what is next: $(cat err.txt)"
  next=${next/#heapprof /\"\$HEAPPROF_BIN\" }
  eval "$next" >said.txt 2>&1 || fail "what is next after '$*' failed: $next: $(cat said.txt)"
}
for LC_ALL in C.UTF-8 C; do
  export LC_ALL
  for name in 'a b' "it's" 'ä ö' '~x' '#x' '$HOME' '`id`' $'tab\there' 'a;b' "*"; do
    rm -rf files
    mkdir files
    (
      cd files || exit 1
      cp ../leaky.json .
      next_of "$name" "$HEAPPROF_BIN" run -o "$name.json" "$TARGETS/leaky"
      next_of "$name" "$HEAPPROF_BIN" merge -o "$name.sum" leaky.json
      next_of "$name" "$HEAPPROF_BIN" history --add "$name.jsonl" leaky.json
      next_of "$name" "$HEAPPROF_BIN" export --format folded -o "$name.folded" leaky.json
      [ -s "$name.folded.svg" ] || fail "what is next of $name.folded wrote another file: $(ls)"
    )
  done
done
