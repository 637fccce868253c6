# heapprof run: 126 and 127 for what cannot be started, with the exact words.
refused 127 run ./no-such-program <<'WORDS'
heapprof: error: no such program: ./no-such-program [HP001]
  fix:     check the path, or build the program first
  instead: name any installed program, for example: heapprof run -- ls
WORDS
refused 127 run no-such-program <<'WORDS'
heapprof: error: no such program in PATH: no-such-program [HP001]
  fix:     give its path: heapprof run ./no-such-program
  instead: name any installed program, for example: heapprof run -- ls
WORDS
mkdir folder
refused 126 run ./folder <<'WORDS'
heapprof: error: ./folder is a directory, not a program [HP003]
  fix:     name a program in it: ls ./folder
WORDS
echo "echo hello" >plain
refused 126 run ./plain <<'WORDS'
heapprof: error: ./plain cannot be executed: permission denied [HP002]
  fix:     chmod +x ./plain
  instead: if it is a script: heapprof run -- INTERPRETER ./plain
WORDS
