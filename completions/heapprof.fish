# fish completion for heapprof: commands, flags and their values; after `heapprof run PROGRAM` the program's own completion.

# The words behind `heapprof run` and its flags: empty while the program is still to be typed.
function __heapprof_program
    set -l words (commandline -opc)
    set -e words[1..2]
    while set -q words[1]
        switch $words[1]
            case --
                set -e words[1]
                break
            case -o --output --suppressions --color --on-full --stall-timeout --max-memory --limit --deepbind --unwinder --clock --fence --collector-threads
                set -e words[1]
            case '-*'
            case '*'
                break
        end
        set -e words[1]
    end
    set -q words[1]; and printf '%s\n' $words
end

function __heapprof_in_run
    __fish_seen_subcommand_from run; and test -z "$(__heapprof_program)"
end

complete -c heapprof -n __fish_use_subcommand -f -a run -d 'Run a program, record every allocation'
complete -c heapprof -n __fish_use_subcommand -f -a report -d 'Show where memory comes from'
complete -c heapprof -n __fish_use_subcommand -f -a diff -d 'Show what changed between two profiles'
complete -c heapprof -n __fish_use_subcommand -f -a snapshot -d 'Write the profile so far'
complete -c heapprof -n __fish_use_subcommand -f -a merge -d 'Add profiles up'
complete -c heapprof -n __fish_use_subcommand -f -a symbolize -d 'Name the functions of a profile'
complete -c heapprof -n __fish_use_subcommand -f -a export -d 'Write for another tool'
complete -c heapprof -n __fish_use_subcommand -f -a history -d 'Show runs over time'
complete -c heapprof -n __fish_use_subcommand -f -a check -d 'Fail if a program takes too much memory'
complete -c heapprof -n __fish_use_subcommand -f -a doctor -d 'Say what this machine allows'
complete -c heapprof -n __fish_use_subcommand -f -l version -d 'The version of heapprof'
complete -c heapprof -n __fish_use_subcommand -f -s h -d 'A screen of help'
complete -c heapprof -n __fish_use_subcommand -f -l help -d 'All of it'

set -l run __heapprof_in_run
complete -c heapprof -n $run -s o -l output -r -F -d 'Write the profile to FILE'
complete -c heapprof -n $run -s q -l quiet -d 'Say nothing but errors'
complete -c heapprof -n $run -l no-summary -d 'Leave out the summary'
complete -c heapprof -n $run -l no-cache -d 'Neither use nor keep names for later runs'
complete -c heapprof -n $run -l all-sites -d 'Write small sites one by one'
complete -c heapprof -n $run -l suppressions -r -F -d 'Leaks that are known, and why'
complete -c heapprof -n $run -l no-default-suppressions -d 'Show what libc and libstdc++ keep'
complete -c heapprof -n $run -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $run -l follow -x -d 'Of the processes that PROGRAM starts only those of this name'
complete -c heapprof -n $run -l wait -d 'Stay until they have ended too'
complete -c heapprof -n $run -l no-follow -d 'Leave out processes that PROGRAM starts'
complete -c heapprof -n $run -l on-full -x -a 'wait drop' -d 'When events come too fast'
complete -c heapprof -n $run -l stall-timeout -x -d 'Longest wait for a stalled heapprof'
complete -c heapprof -n $run -l max-memory -x -d 'Most memory for heapprof itself'
complete -c heapprof -n $run -l estimate-gpu -d 'Ask what CUDA contexts and modules take; waits'
complete -c heapprof -n $run -l deepbind -x -a 'name hook' -d 'What happens to libraries that bypass the hooks'
complete -c heapprof -n $run -l limit -x -d 'Let the program have so much of a device'
complete -c heapprof -n $run -l unwinder -x -a 'auto heapprof libunwind fp' -d 'Who walks stacks'
complete -c heapprof -n $run -l verify-stacks -d "Compare every stack with libunwind's"
complete -c heapprof -n $run -l clock -x -a 'auto tsc sequence' -d 'What orders events'
complete -c heapprof -n $run -l fence -x -a 'auto expedited global producer' -d 'How events are seen in time'
complete -c heapprof -n $run -l collector-threads -x -a 'auto 1 2' -d 'How many threads of heapprof count'
complete -c heapprof -n $run -s h -d 'A screen of help'
complete -c heapprof -n $run -l help -d 'All of it'
complete -c heapprof -n $run -x -a '(__fish_complete_command)'
complete -c heapprof -n '__fish_seen_subcommand_from run; and test -n "$(__heapprof_program)"' -x \
    -a '(complete -C "$(string join " " -- (__heapprof_program) (commandline -ct))")'

set -l report '__fish_seen_subcommand_from report'
complete -c heapprof -n $report -l sort -x -a 'peak total leaked allocations temporary' -d 'One table by this metric'
complete -c heapprof -n $report -l top -x -d 'How many places'
complete -c heapprof -n $report -l tree -d 'The call tree, cut at 1 %'
complete -c heapprof -n $report -l sizes -d 'Below each place of what sizes its blocks were'
complete -c heapprof -n $report -l all-frames -d 'Also std, allocator and runtime frames'
complete -c heapprof -n $report -l suppressions -r -F -d 'Leaks that are known, and why'
complete -c heapprof -n $report -l no-default-suppressions -d 'Show what libc and libstdc++ keep'
complete -c heapprof -n $report -l list-suppressions -d 'What each rule suppressed'
complete -c heapprof -n $report -l findings -d 'What looks like a known problem'
complete -c heapprof -n $report -l device -x -a host -d 'One device only'
complete -c heapprof -n $report -l format -x -a 'text json csv' -d 'Format of the report'
complete -c heapprof -n $report -l bytes -d 'Exact bytes'
complete -c heapprof -n $report -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $report -s h -d 'A screen of help'
complete -c heapprof -n $report -l help -d 'All of it'

set -l diff '__fish_seen_subcommand_from diff'
complete -c heapprof -n $diff -l sort -x -a 'peak total leaked allocations temporary' -d 'The places by this metric'
complete -c heapprof -n $diff -l top -x -d 'How many places'
complete -c heapprof -n $diff -l all -d 'Also what did not change'
complete -c heapprof -n $diff -l device -x -a host -d 'One device only'
complete -c heapprof -n $diff -l suppressions -r -F -d 'Leaks that are known, and why'
complete -c heapprof -n $diff -l no-default-suppressions -d 'Count what libc and libstdc++ keep'
complete -c heapprof -n $diff -l tolerance -x -d 'What counts as a change'
complete -c heapprof -n $diff -l exit-code -d 'Exit with 1 if something grew'
complete -c heapprof -n $diff -l format -x -a 'text json markdown csv' -d 'Format of the difference'
complete -c heapprof -n $diff -l bytes -d 'Exact bytes'
complete -c heapprof -n $diff -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $diff -s h -d 'A screen of help'
complete -c heapprof -n $diff -l help -d 'All of it'

set -l doctor '__fish_seen_subcommand_from doctor'
complete -c heapprof -n $doctor -f
complete -c heapprof -n $doctor -l format -x -a 'text json' -d 'Format of what was found'
complete -c heapprof -n $doctor -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $doctor -s h -d 'A screen of help'
complete -c heapprof -n $doctor -l help -d 'All of it'

set -l merge '__fish_seen_subcommand_from merge'
complete -c heapprof -n $merge -s o -l output -r -F -d 'Write the sum to OUT'
complete -c heapprof -n $merge -s q -l quiet -d 'Say nothing but errors'
complete -c heapprof -n $merge -l all-sites -d 'Write small sites one by one'
complete -c heapprof -n $merge -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $merge -s h -d 'A screen of help'
complete -c heapprof -n $merge -l help -d 'All of it'

set -l symbolize '__fish_seen_subcommand_from symbolize'
complete -c heapprof -n $symbolize -l debug-dir -r -F -d 'Debug files in and below DIR'
complete -c heapprof -n $symbolize -l no-debuginfod -d 'Do not ask the servers of DEBUGINFOD_URLS'
complete -c heapprof -n $symbolize -s o -l output -r -F -d 'Write to OUT, and leave FILE as it is'
complete -c heapprof -n $symbolize -s q -l quiet -d 'Say nothing but errors'
complete -c heapprof -n $symbolize -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $symbolize -s h -d 'A screen of help'
complete -c heapprof -n $symbolize -l help -d 'All of it'

set -l export '__fish_seen_subcommand_from export'
complete -c heapprof -n $export -l format -x -a 'folded speedscope dhat pprof' -d 'For which tool'
complete -c heapprof -n $export -l metric -x -a 'peak total leaked allocations temporary' -d 'Of what'
complete -c heapprof -n $export -l device -x -a host -d 'One device'
complete -c heapprof -n $export -s o -l output -r -F -d 'Write to OUT'
complete -c heapprof -n $export -s q -l quiet -d 'Say nothing but errors'
complete -c heapprof -n $export -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $export -s h -d 'A screen of help'
complete -c heapprof -n $export -l help -d 'All of it'

set -l history '__fish_seen_subcommand_from history'
complete -c heapprof -n $history -l name -x -d 'Budgets or programs of this name'
complete -c heapprof -n $history -l device -x -a host -d 'One device only'
complete -c heapprof -n $history -l metric -x -a 'peak total leaked allocations temporary' -d 'One metric only'
complete -c heapprof -n $history -l format -x -a 'text json' -d 'Format of the history'
complete -c heapprof -n $history -l bytes -d 'Exact bytes'
complete -c heapprof -n $history -l add -d 'Append what profiles took'
complete -c heapprof -n $history -l commit -x -d 'Of these profiles'
complete -c heapprof -n $history -l suppressions -r -F -d 'Leaks that are known, and why'
complete -c heapprof -n $history -l no-default-suppressions -d 'Count what libc and libstdc++ keep'
complete -c heapprof -n $history -s q -l quiet -d 'Say nothing but errors'
complete -c heapprof -n $history -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $history -s h -d 'A screen of help'
complete -c heapprof -n $history -l help -d 'All of it'

set -l snapshot '__fish_seen_subcommand_from snapshot'
complete -c heapprof -n $snapshot -s o -l output -r -F -d 'Write the profile to FILE'
complete -c heapprof -n $snapshot -s q -l quiet -d 'Say nothing but errors'
complete -c heapprof -n $snapshot -x -a '(__fish_complete_pids)'
complete -c heapprof -n $snapshot -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $snapshot -s h -d 'A screen of help'
complete -c heapprof -n $snapshot -l help -d 'All of it'

set -l check '__fish_seen_subcommand_from check'
complete -c heapprof -n $check -s o -l output -r -F -d 'Keep the profile of the program'
complete -c heapprof -n $check -s q -l quiet -d 'Say nothing of limits that are kept'
complete -c heapprof -n $check -s h -d 'A screen of help'
complete -c heapprof -n $check -l max-peak -x -a host= -d 'Most live at once'
complete -c heapprof -n $check -l max-leaked -x -a host= -d 'Most still live at the end'
complete -c heapprof -n $check -l max-total -x -a host= -d 'Most allocated, all in all'
complete -c heapprof -n $check -l max-allocations -x -a host= -d 'Most blocks allocated'
complete -c heapprof -n $check -l max-temporary -x -a host= -d 'Most temporary blocks'
complete -c heapprof -n $check -l budget -r -F -d 'Limits of a file, in TOML'
complete -c heapprof -n $check -l contracts -r -F -d 'Run its statements, and see which hold'
complete -c heapprof -n $check -l name -x -d 'Those of its budgets or contracts only'
complete -c heapprof -n $check -l baseline -r -F -d 'May not grow over this profile, or history'
complete -c heapprof -n $check -l tolerance -x -d 'But so much'
complete -c heapprof -n $check -l slack -x -d 'And so much in any case'
complete -c heapprof -n $check -l suppressions -r -F -d 'Leaks that are known, and why'
complete -c heapprof -n $check -l no-default-suppressions -d 'Show what libc and libstdc++ keep'
complete -c heapprof -n $check -l runs -x -d 'Run the program N times, judge the median'
complete -c heapprof -n $check -l warn-only -d 'Over a limit is a warning'
complete -c heapprof -n $check -l update-budget -d 'Raise the limits of the file that are exceeded'
complete -c heapprof -n $check -l update-baseline -d 'Make this the baseline'
complete -c heapprof -n $check -l color -x -a 'auto always never' -d 'When to use colour'
complete -c heapprof -n $check -l processes -x -a 'started each' -d 'The program alone, or all of its processes'
complete -c heapprof -n $check -l annotations -x -a 'auto github none' -d 'Annotations and step summary'
complete -c heapprof -n $check -l summary -r -F -d 'Markdown'
complete -c heapprof -n $check -l junit -r -F -d 'One test case for each limit'
complete -c heapprof -n $check -l codequality -r -F -d 'For merge requests of GitLab'
complete -c heapprof -n $check -l metrics -r -F -d 'OpenMetrics'
complete -c heapprof -n $check -l sarif -r -F -d 'SARIF 2.1.0'
complete -c heapprof -n $check -l json -r -F -d 'Everything, for scripts'
complete -c heapprof -n $check -l bmf -r -F -d 'For Bencher'
complete -c heapprof -n $check -l gha-benchmark -r -F -d 'For github-action-benchmark'
complete -c heapprof -n $check -l history -r -F -d 'Append what was measured'
complete -c heapprof -n $check -l commit -x -d 'What --history names it'
complete -c heapprof -n $check -l help -d 'All of it'
