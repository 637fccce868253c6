# Completions: zsh parses them.
have zsh || skip "zsh is not installed"
zsh -n "$SOURCE/completions/_heapprof"
