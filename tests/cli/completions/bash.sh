# Completions: bash is asked what it would offer.
offered() { expect_eq "$1: '$2'" "$3" "$4"; }
bash -n "$SOURCE/completions/heapprof.bash"
# Without the package bash-completion.
cat >ask_alone.sh <<'ASK'
source "$SOURCE/completions/heapprof.bash"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
COMP_POINT=${#COMP_LINE}
_heapprof 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}" | sort -u | xargs
ASK
ask_alone() { bash --norc ask_alone.sh "$@"; }
touch an-input.json
offered "bash alone" "heapprof r" "$(ask_alone heapprof r)" "report resume run"
offered "bash alone" "heapprof run --on-full " "$(ask_alone heapprof run --on-full "")" "drop wait"
offered "bash alone" "heapprof run --on-full=" "$(ask_alone heapprof run --on-full = "")" "drop wait"
offered "bash alone" "heapprof report an-i" "$(ask_alone heapprof report an-i)" "an-input.json"
offered "bash alone" "heapprof run -o x ls an-i" "$(ask_alone heapprof run -o x ls an-i)" "an-input.json"
offered "bash alone" "heapprof run -o x bas" "$(ask_alone heapprof run -o x bas | tr ' ' '\n' | grep -x bash)" "bash"
if [ -f /usr/share/bash-completion/bash_completion ]; then
  cat >ask.sh <<'ASK'
source /usr/share/bash-completion/bash_completion
source "$SOURCE/completions/heapprof.bash"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
COMP_POINT=${#COMP_LINE}
_heapprof 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}" | sort -u | xargs
ASK
  ask() { bash ask.sh "$@"; }
  touch a-profile.json
  offered bash "heapprof r" "$(ask heapprof r)" "report resume run"
  offered bash "heapprof run --on-full " "$(ask heapprof run --on-full "")" "drop wait"
  offered bash "heapprof run --no" "$(ask heapprof run --no)" "--no-cache --no-default-suppressions --no-follow --no-inner-allocators --no-nvtx --no-python --no-summary"
  offered bash "heapprof report --sort pe" "$(ask heapprof report --sort pe)" "peak"
  offered bash "heapprof export --format p" "$(ask heapprof export --format p)" "perfetto pprof"
  offered bash "heapprof history --metric le" "$(ask heapprof history --metric le)" "leaked"
  offered bash "heapprof estimate w" "$(ask heapprof estimate w)" "weights"
  offered bash "heapprof estimate tensor 3 --dtype b" "$(ask heapprof estimate tensor 3 --dtype b)" "bf16 bool"
  offered bash "heapprof estimate tensor 3 --format " "$(ask heapprof estimate tensor 3 --format "")" "json text"
  offered bash "heapprof report a-p" "$(ask heapprof report a-p)" "a-profile.json"
  offered bash "heapprof run -o x ls a-p" "$(ask heapprof run -o x ls a-p)" "a-profile.json"
else
  not_tried "what bash offers: bash-completion is not installed"
fi
