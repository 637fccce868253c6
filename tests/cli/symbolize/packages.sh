# Of what has no name it is said whose package it is, and what brings its symbols on this system; here the package
# managers are made up. A command is given only where it should work.
unset DEBUGINFOD_URLS
cp "$TARGETS/leaky" prog
strip -s prog
"$HEAPPROF_BIN" run -q -o p.json -- ./prog
cp p.json before.json
id=$(readelf -n prog | awk '/Build ID/ { print $3 }')
real=$(readlink -f prog)
mkdir bin
PATH=$PWD/bin:$PATH
tool() { printf '#!/bin/sh\n%s\n' "$2" >"bin/$1" && chmod +x "bin/$1"; }
said() { expect_status 0 "$HEAPPROF_BIN" symbolize p.json; }

tool dpkg-query "case \"\$1\" in --search) echo 'diversion by odd from: $real'; echo 'prog-bin:amd64, other: $real' ;; --show) echo prog-source ;; esac"
tool apt-cache "printf 'Package: prog-bin-dbgsym\nBuild-Ids: 00ff $id ffff\n\nPackage: prog-source-dbg\nBuild-Ids: 00ff\n'"
said
says err.txt <<WORDS
named  0 of 5 functions without a name
left   prog (package prog-bin): 5 functions; no debug file of build id $id
       debuginfod was not asked: DEBUGINFOD_URLS is not set
try    sudo apt install prog-bin-dbgsym && heapprof symbolize p.json
next   heapprof report p.json
WORDS
cmp p.json before.json || fail "the profile was written"

# The report says the same.
expect_status 0 "$HEAPPROF_BIN" report p.json
expect_said err.txt "prog (package prog-bin) has no symbols [HP068]"
expect_said err.txt "fix: sudo apt install prog-bin-dbgsym && heapprof symbolize p.json"

# Symbols of another build are not offered, those of a source package are.
tool apt-cache "printf 'Package: prog-bin-dbgsym\nBuild-Ids: 00ff\n\nPackage: prog-source-dbg\nBuild-Ids: $id\n'"
said
expect_in err.txt "sudo apt install prog-source-dbg && "
# A package that does not say whose symbols it has may have them.
tool apt-cache "printf 'Package: prog-bin-dbg\nVersion: 1\n'"
said
expect_in err.txt "sudo apt install prog-bin-dbg && "
tool apt-cache "exit 100"
said
expect_not_in err.txt "sudo apt install prog-bin-dbg "

# rpm's systems; a name that no package has, or that a shell would read otherwise.
tool dpkg-query "exit 1"
tool rpm "echo prog-1"
said
expect_in err.txt "left   prog (package prog-1): 5 functions"
tool rpm "echo 'prog; rm -rf /'"
said
expect_not_in err.txt "rm -rf"
tool rpm "echo 'file $real is not owned by any package'"
said
expect_not_in err.txt "package"
expect_in err.txt "try    find its debug file, and name the profile: heapprof symbolize --debug-dir DIR p.json"

# A package manager that hangs is not waited for; of a file that is another build than the one that ran nothing is said.
tool rpm "sleep 60"
said
expect_not_in err.txt "package"
tool rpm "echo prog-1"
cp "$TARGETS/inlined" prog
said
expect_not_in err.txt "package"

# With servers, and nobody there.
tool rpm "exit 1"
DEBUGINFOD_URLS=http://127.0.0.1:1/ DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=5 expect_status 0 "$HEAPPROF_BIN" symbolize p.json
expect_not_in err.txt "DEBUGINFOD_URLS is not set"
