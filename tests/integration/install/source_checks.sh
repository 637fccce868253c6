# The checks of scripts/check that read the sources see what they are there for: each finds a planted mistake, and names
# it.
mkdir -p tree/agent tree/cli/collect tree/shared tree/man tree/cli/run
cp "$SOURCE"/shared/{wire,events,questions,scopes,kernels,python,objects_state,operators_state,inner,allocator_functions,image_obstacle,sampling}.h "$SOURCE"/shared/{README,devices}.md tree/shared/

# finds CHECK WORDS: the check complains about the tree, in these words.
finds() {
  if "$SOURCE/scripts/$1" tree >complaints.txt; then fail "$1 passed what is wrong: $2"; fi
  expect_in complaints.txt "$2"
}
# passes CHECK: it has nothing to say of the tree.
passes() { "$SOURCE/scripts/$1" tree >complaints.txt || fail "$1 complains of what is right: $(cat complaints.txt)"; }

# Types: two of one name in one namespace, also one in an anonymous namespace; not those of two namespaces or of two
# functions.
printf 'namespace one { struct Same { int a; }; enum class Kind { kA }; }\n' >tree/cli/run/a.h
printf 'namespace two { struct Same {}; }\nvoid f() { struct Inner {}; }\n' >tree/cli/run/b.h
printf 'namespace one { struct Same; void f() { struct Inner {}; } } // struct Kind {}\n' >tree/cli/run/c.cc
passes check-types
printf 'namespace one { namespace { struct Same {}; } }\n' >tree/cli/run/c.cc
finds check-types "one::Same is defined by cli/run/a.h and by cli/run/c.cc"
printf 'namespace one::three {}\nnamespace one { enum class Kind : int { kB }; }\n' >tree/cli/run/c.cc
finds check-types "one::Kind is defined by cli/run/a.h and by cli/run/c.cc"

# Public headers: they stand in shared/include, and only users with libstdc++ include those of C++.
mkdir -p tree/shared/include/heapprof tree/cli/base tree/agent/hooks
printf '#include <string>\n' >tree/shared/include/heapprof/a.hpp
printf '#include "heapprof/a.hpp"\n' >tree/shared/include/heapprof/b.hpp
printf '#include <heapprof/b.hpp>\n' >tree/cli/run/d.cc
passes check-includes
printf '#include <heapprof/a.hpp>\n' >tree/agent/hooks/d.cc
finds check-includes "agent/hooks/d.cc:1: <heapprof/a.hpp: libstdc++ may not stand in a stranger's process"
rm -r tree/agent/hooks
printf '#include <heapprof/a.hpp>\n' >tree/cli/base/d.cc
finds check-includes "cli/base/d.cc:1: <heapprof/a.hpp: cli/base may include cli/base"
rm -r tree/cli/base
printf '#include <heapprof/c.hpp>\n' >tree/cli/run/d.cc
finds check-includes "cli/run/d.cc:1: <heapprof/c.hpp: no such file"
rm -r tree/shared/include tree/cli/run/d.cc

# Fields of the protocol, both ways.
passes check-protocol
sed -i 's/^struct Welcome {/&\n  uint64_t unsaid = 0;/' tree/shared/wire.h
finds check-protocol "shared/README.md: 'Start' lacks Welcome::unsaid"
cp "$SOURCE/shared/wire.h" tree/shared/
sed -i 's/^| `heartbeat` |/| `hartbeat` |/' tree/shared/README.md
finds check-protocol "'Control' lacks Control::heartbeat"
finds check-protocol "'Control' has a field hartbeat"
printf 'struct Farewell {\n  int a;\n};\n' >>tree/shared/wire.h
finds check-protocol "Farewell: scripts/check-protocol does not know under which heading"

# Names of files: paths, parts of paths, source files, links and what they lead to.
rm -r tree/shared tree/cli/run
mkdir tree/cli/run
printf '# A page\n\n## One of two\n\n[a](man/a.1.scd) [b](#one-of-two) [c](https://example.org/x.md) `cli/run/a.h`\n' >tree/README.md
printf 'a\n' >tree/man/a.1.scd
printf '// See run/a.h, a.h, man/a.1, cli/run/*.h, cli/NAME.cc, src/tile.cc, tile.cc:71 and /usr/cli/b.h.\n' >tree/cli/run/a.h
printf '#include <dlfcn.h>\nconst char* b = "cli/nowhere.h"; // dlfcn.h\n' >tree/cli/run/b.cc
passes check-paths
for name in cli/run/gone.h 'cli/none/*.h' 'cli/run/{a,b}.h' run/gone.cc gone.h man/b.1; do
  printf '//\n// See %s.\n' "$name" >tree/cli/run/a.h
  finds check-paths "cli/run/a.h:2: names ${name/'{a,b}'/b}, which does not exist"
done
printf '//\n' >tree/cli/run/a.h
printf '# A page\n\n[a](man/gone.scd)\n[b](#nowhere)\n' >tree/README.md
finds check-paths "README.md:3: links to man/gone.scd, which is not there"
finds check-paths "README.md:4: links to #nowhere, which is not there"

# Lines: characters and not bytes; comments everywhere; what cannot be broken stays.
line() { printf "%0.s$1" $(seq "$2"); }
printf '// %s\nconst char* a = "%s";\n' "$(line 'ää ' 39)" "$(line 'long ' 40)" >tree/cli/run/a.h
passes check-lines
printf '//\n// %s\n' "$(line 'word ' 30)" >tree/cli/run/a.h
finds check-lines "cli/run/a.h:2: 153 characters, more than 120"
printf '//\nint a = %s 0;\n' "$(line '1 + ' 40)" >tree/cli/run/a.h
finds check-lines "cli/run/a.h:2: "
printf '//\n' >tree/cli/run/a.h
printf '#!/bin/sh\n# %s\n' "$(line 'word ' 30)" >tree/build.sh
finds check-lines "build.sh:2: "
rm tree/build.sh

# A long source file says why; a short one may point to its header.
code() { printf '// cli/run/b.cc: %s\n%s\n' "$1" "$(line 'int a;\n' "$2")" >tree/cli/run/b.cc; }
code "see b.h." 60
passes check-lines
code "see b.h." 61
finds check-lines "cli/run/b.cc: more than 60 lines of code, and it does not open with the why"
code "a tree would be built to be searched once." 61
passes check-lines

# What is too wide can be mended by one command, which changes nothing but comments.
mkdir tree/scripts
cp "$SOURCE/scripts/wrap-comments" "$SOURCE/scripts/sources.py" tree/scripts/
printf '// %s\nint a; // %s\n//  - %s\n//    rest\n' "$(line 'word ' 30)" "$(line 'word ' 30)" "$(line 'item ' 30)" >tree/cli/run/a.h
tree/scripts/wrap-comments cli/run/a.h >changed.txt
expect_eq "what was wrapped" "$(cat changed.txt)" "cli/run/a.h"
expect_eq "its code" "$(grep -v '^//' tree/cli/run/a.h)" "int a;"
expect_eq "its words" "$(tr -s ' \n' '\n\n' <tree/cli/run/a.h | grep -cE '^(word|item|rest)$')" 91
expect_in tree/cli/run/a.h "//    item"
passes check-lines
