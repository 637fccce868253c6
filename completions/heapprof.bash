# bash completion for heapprof: commands, flags and their values; after `heapprof run PROGRAM` the program's own completion.

# Where the package bash-completion is not loaded: the parts of it that are used here, as simple as can be.
_heapprof_init() {
  if declare -F _init_completion >/dev/null; then
    _init_completion -s
    return
  fi
  words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} split=false
  # bash itself takes --flag=value for three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = && $cword -ge 2 ]]; then
    prev=${words[cword - 2]}
  fi
}
_heapprof_files() {
  if declare -F _filedir >/dev/null; then
    _filedir
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
_heapprof_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [[ $cword -eq $1 ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
  else
    _heapprof_files
  fi
}

_heapprof() {
  local cur prev words cword split
  _heapprof_init || return

  local -r run_flags='-o --output --live --serve --token-file --child-output -q --quiet --no-summary --all-sites --suppressions --no-default-suppressions --fold --all-frames --libraries --user-code --library-code --html --no-cache --color --leak-check --no-nvtx --no-inner-allocators --no-python --python-objects --torch-ops --device-trace --no-follow --follow --all-processes --wait --on-full --stall-timeout --max-memory --sample --start --limit --interval --estimate-gpu --gpu-time --deepbind --unwinder --verify-stacks --clock --fence --collector-threads -h --help'
  local -r diff_flags='--sort --top --all --device --suppressions --no-default-suppressions --fold --all-frames --libraries --user-code --library-code --tolerance --exit-code --format --html --bytes --color -h --help'
  local -r merge_flags='-o --output --keep --via --wait --alone -q --quiet --all-sites --color -h --help'
  local -r symbolize_flags='--debug-dir --no-debuginfod -o --output -q --quiet --color -h --help'
  local -r check_flags='--max-peak --max-leaked --max-total --max-allocations --max-temporary --budget --contracts --name --baseline --scope --tolerance --slack --suppressions --no-default-suppressions --fold --all-frames --libraries --user-code --library-code --runs --processes -o --output --allow-sampled --warn-only --update-budget --update-baseline -q --quiet --color --annotations --summary --junit --codequality --metrics --sarif --json --bmf --gha-benchmark --history --commit -h --help'
  local -r attach_flags='-o --output -q --quiet --no-summary --all-sites --suppressions --no-default-suppressions --fold --all-frames --libraries --user-code --library-code --html --no-cache --color --for --sample --no-follow --follow --on-full --stall-timeout --max-memory --interval --no-python --clock --collector-threads -h --help'
  local -r detach_flags='-q --quiet --color -h --help'
  local -r snapshot_flags='-o --output -q --quiet --color -h --help'
  local -r pause_flags='-q --quiet --color -h --help'
  local -r resume_flags='--sample --exact -q --quiet --color -h --help'
  local -r mark_flags='-q --quiet --color -h --help'
  local -r top_flags='--once --format --interval --sort --color -h --help'
  local -r push_flags='--name --device --token-file -q --quiet --color -h --help'
  local -r serve_flags='--follow --listen --token-file --host -q --quiet --color -h --help'
  local -r export_flags='--format --metric --full-names --device -o --output -q --quiet --color -h --help'
  local -r history_flags='--name --device --metric --format --bytes --add --commit --suppressions --no-default-suppressions -q --quiet --color -h --help'
  local -r estimate_flags='--dtype --overhead --batch --head-dim --heads --seq --layers --kv-heads --tokens --page-size --pages --device --limit --reserve --format --color -h --help'
  local -r doctor_flags='--format --color -h --help'
  local -r report_flags='--sort --top --tree --all-frames --libraries --user-code --library-code --sizes --threads --packages --source --scopes --stable --instances --critical-path --categories --snapshots --between --suppressions --no-default-suppressions --fold --list-suppressions --findings --device --format --html --table --bytes --color -h --help'

  if [[ $cword -eq 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'run attach detach report diff snapshot pause resume mark top serve merge symbolize export push history check estimate doctor help version -h --help -V --version' -- "$cur")
    return
  fi

  local -r command=${words[1]}
  if [[ $command == run ]]; then
    # From the program on, its own completion; "--" and the values of flags are skipped.
    local i
    for ((i = 2; i < cword; i++)); do
      case ${words[i]} in
        --) _heapprof_program $((i + 1)); return ;;
        -o | --output | --child-output | --token-file | --suppressions | --fold | --color | --on-full | --stall-timeout | --max-memory | --sample | --start | --limit | --interval | --device-trace | --gpu-time | --deepbind | --unwinder | --clock | --fence | --collector-threads) ((i++)) ;;
        -*) ;;
        *) _heapprof_program "$i"; return ;;
      esac
    done
  elif [[ $command == check ]]; then
    local at
    for ((at = 2; at < cword; at++)); do
      [[ ${words[at]} != -- ]] || { _heapprof_program $((at + 1)); return; }
    done
  fi

  case $prev in
    --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur"); return ;;
    --processes) mapfile -t COMPREPLY < <(compgen -W 'started each' -- "$cur"); return ;;
    --annotations) mapfile -t COMPREPLY < <(compgen -W 'auto github none' -- "$cur"); return ;;
    --max-peak | --max-leaked | --max-total | --max-allocations | --max-temporary) mapfile -t COMPREPLY < <(compgen -S = -W 'host' -- "$cur"); compopt -o nospace; return ;;
    --on-full) mapfile -t COMPREPLY < <(compgen -W 'wait drop' -- "$cur"); return ;;
    --unwinder) mapfile -t COMPREPLY < <(compgen -W 'auto heapprof libunwind fp' -- "$cur"); return ;;
    --clock) mapfile -t COMPREPLY < <(compgen -W 'auto tsc sequence' -- "$cur"); return ;;
    --fence) mapfile -t COMPREPLY < <(compgen -W 'auto expedited global producer' -- "$cur"); return ;;
    --sample) mapfile -t COMPREPLY < <(compgen -W '64KiB 512KiB 4MiB' -- "$cur"); return ;;
    --start) mapfile -t COMPREPLY < <(compgen -W 'paused after= at=mark:' -- "$cur"); compopt -o nospace; return ;;
    --gpu-time) mapfile -t COMPREPLY < <(compgen -W 'off deferred scope immediate' -- "$cur"); return ;;
    --deepbind) mapfile -t COMPREPLY < <(compgen -W 'name hook' -- "$cur"); return ;;
    --collector-threads) mapfile -t COMPREPLY < <(compgen -W 'auto 1 2' -- "$cur"); return ;;
    --sort) local sorts='peak total leaked allocations temporary'; case $command in top) sorts='live growth allocations' ;; esac
      mapfile -t COMPREPLY < <(compgen -W "$sorts" -- "$cur")
      return
      ;;
    --metric) mapfile -t COMPREPLY < <(compgen -W 'peak total leaked allocations temporary' -- "$cur"); return ;;
    --table) mapfile -t COMPREPLY < <(compgen -W 'places callers tree sizes packages suppressions findings devices timeline names name-sites refusals refusal-sites estimates segments api-calls api-threads run threads processes inputs ranks spread snapshots snapshot-places snapshot-blocks tensors tensor-blocks scopes scope-memory scope-calls kernels graphs backward instances marks operators categories critical-path critical-scopes' -- "$cur"); return ;;
    --format) local formats='text json csv dot'; case $command in doctor | history | estimate | top) formats='text json' ;; diff) formats='text json markdown csv' ;; export) formats='folded speedscope dhat pprof memory-viz perfetto dot sites' ;; esac
      mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$cur")
      return
      ;;
    --device) local devices=host; [[ $command != estimate ]] || devices=cuda:0
      mapfile -t COMPREPLY < <(compgen -W "$devices" -- "$cur")
      declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
      return
      ;;
    --dtype) mapfile -t COMPREPLY < <(compgen -W 'f64 f32 tf32 bf16 f16 fp8 i64 i32 i16 i8 u64 u32 u16 u8 bool fp4 i4 u4' -- "$cur"); return ;;
    --top | --tolerance | --stall-timeout | --max-memory | --limit | --name | --commit | --scope | --interval | --device-trace | --between | --instances | --slack | --runs | --fold | --overhead | --batch | --head-dim | --heads | --seq | --layers | --kv-heads | --tokens | --page-size | --pages | --reserve | --host) return ;;
    --listen | --serve) mapfile -t COMPREPLY < <(compgen -W '7171 0.0.0.0:7171 0' -- "$cur"); return ;;
    -o | --output | --child-output | --suppressions | --budget | --contracts | --baseline | --summary | --junit | --codequality | --metrics | --sarif | --json | --bmf | --gha-benchmark | --history)
      _heapprof_files
      return
      ;;
  esac
  $split && return

  case $command in
    run)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$run_flags" -- "$cur")
      else
        _heapprof_program "$cword"
      fi
      ;;
    report)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$report_flags" -- "$cur")
      else
        _heapprof_files
      fi
      ;;
    diff)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$diff_flags" -- "$cur")
      else
        _heapprof_files
      fi
      ;;
    merge)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$merge_flags" -- "$cur")
      else
        _heapprof_files
      fi
      ;;
    symbolize)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$symbolize_flags" -- "$cur")
      else
        _heapprof_files
      fi
      ;;
    export)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$export_flags" -- "$cur")
      else
        _heapprof_files
      fi
      ;;
    history)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$history_flags" -- "$cur")
      else
        _heapprof_files
      fi
      ;;
    check)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$check_flags" -- "$cur")
      else
        _heapprof_files
      fi
      ;;
    attach)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$attach_flags" -- "$cur")
      else
        _pids
      fi
      ;;
    detach)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$detach_flags" -- "$cur")
      else
        _pids
      fi
      ;;
    snapshot)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$snapshot_flags" -- "$cur")
      else
        _pids
      fi
      ;;
    pause)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$pause_flags" -- "$cur")
      else
        _pids
      fi
      ;;
    resume)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$resume_flags" -- "$cur")
      else
        _pids
      fi
      ;;
    mark)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$mark_flags" -- "$cur")
      else
        _pids
      fi
      ;;
    top)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$top_flags" -- "$cur")
      else
        _pids
      fi
      ;;
    serve)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$serve_flags" -- "$cur")
      else
        _pids
      fi
      ;;
    push)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$push_flags" -- "$cur")
      else
        _heapprof_files
      fi
      ;;
    estimate)
      if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$estimate_flags" -- "$cur")
      elif [[ $cword -eq 2 ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'tensor attention kv-cache weights' -- "$cur")
      fi
      ;;
    doctor) mapfile -t COMPREPLY < <(compgen -W "$doctor_flags" -- "$cur") ;;
  esac
} &&
  complete -F _heapprof heapprof
