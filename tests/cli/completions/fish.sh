# Completions: fish is asked what it would offer.
offered() { expect_eq "$1: '$2'" "$3" "$4"; }
have fish || skip "fish is not installed"
ask() { HOME=$PWD fish -c "source $SOURCE/completions/heapprof.fish; complete -C '$1'" | cut -f1 | sort | xargs; }
offered fish "heapprof re" "$(ask "heapprof re")" "report resume"
offered fish "heapprof run --on-full " "$(ask "heapprof run --on-full ")" "drop wait"
offered fish "heapprof export --format sp" "$(ask "heapprof export --format sp")" "speedscope"
offered fish "heapprof estimate a" "$(ask "heapprof estimate a")" "attention"
offered fish "heapprof estimate tensor 3 --dtype b" "$(ask "heapprof estimate tensor 3 --dtype b")" "bf16 bool"
offered fish "heapprof report --sort p" "$(ask "heapprof report --sort p")" "peak"
