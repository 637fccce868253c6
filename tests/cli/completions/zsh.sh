# Completions: zsh parses them.
! have zsh || zsh -n "$SOURCE/completions/_heapprof"
