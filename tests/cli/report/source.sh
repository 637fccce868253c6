# --source: the lines of a file or a function, with what each asked for, and what a reader has to know of the file.
mkdir -p src/deep
cat >src/deep/tool.c <<'C'
#include <stdlib.h>
#include <string.h>

static void* kept[64];

__attribute__((noinline)) static void* read_part(int size) {
	void* part = malloc(size);	// 	grown
  memset(part, 1, size);
  return part;
}

__attribute__((noinline)) static void load(int from, int count) {
  for (int i = from; i < from + count; ++i) kept[i] = read_part(100000);
  kept[from + count] = malloc(50000);
}

int main(void) {
  load(0, 10);
  // 1
  // 2
  // 3
  // 4
  // 5
  // 6
  // far away
  load(20, 20);
  return kept[3] == kept[4];
}
C
(cd src && gcc -g -O1 -o ../tool deep/tool.c)
touch -d '1 hour ago' src/deep/tool.c
"$HEAPPROF_BIN" run -q -o r.json ./tool 2>run.txt
# shown ARGUMENTS…: what stands on stdin
shown() {
  expect_status 0 "$HEAPPROF_BIN" report "$@"
  says out.txt
}
shown --source tool.c --bytes r.json <<'W'
SOURCE tool.c  peak of host: 3,100,000 B of 3,100,000 B
     itself  blocks   with calls   share  line
                                             4  static void* kept[64];
                                             5
                                             6  __attribute__((noinline)) static void* read_part(int size) {
3,000,000 B      30  3,000,000 B  96.8 %     7          void* part = malloc(size);      //      grown
                                             8    memset(part, 1, size);
                                             9    return part;
                                            10  }
                                            11
                                            12  __attribute__((noinline)) static void load(int from, int count) {
                     3,000,000 B  96.8 %    13    for (int i = from; i < from + count; ++i) kept[i] = read_part(100000);
  100,000 B       2    100,000 B   3.2 %    14    kept[from + count] = malloc(50000);
                                            15  }
                                            16
                                            17  int main(void) {
                     1,050,000 B  33.9 %    18    load(0, 10);
                                            19    // 1
                                            20    // 2
                                            21    // 3
                                             …
                                            23    // 5
                                            24    // 6
                                            25    // far away
                     2,050,000 B  66.1 %    26    load(20, 20);
                                            27    return kept[3] == kept[4];
                                            28  }
W
# A function; a metric of blocks; a file's name with a folder; a glob.
shown --source load --sort allocations r.json <<'W'
SOURCE tool.c  allocations of host: 2 of 32
itself  with calls   share  line
                              10  }
                              11
                              12  __attribute__((noinline)) static void load(int from, int count) {
                30  93.8 %    13    for (int i = from; i < from + count; ++i) kept[i] = read_part(100000);
     2           2   6.3 %    14    kept[from + count] = malloc(50000);
                              15  }
                              16
                              17  int main(void) {
W
for name in deep/tool.c ./src/deep/tool.c 'to*.c' "$PWD/src/deep/tool.c"; do
  expect_status 0 "$HEAPPROF_BIN" report --source "$name" r.json
  expect_in out.txt "kept[i] = read_part(100000);"
done
# On a terminal lines are cut, and blocks left out.
on_terminal 80 said.txt "$HEAPPROF_BIN" report --source load r.json || fail "on a terminal: $?"
screen said.txt >lines.txt
expect_in lines.txt "for (int i = from; i < from + count; ++i)…"
expect_not_in lines.txt blocks
# What a reader has to know of the file. It is found below the current folder, too.
echo >>src/deep/tool.c
shown --source read_part --bytes r.json <<'W'
SOURCE tool.c  peak of host: 3,000,000 B of 3,100,000 B
it is newer than the run: lines may have moved
     itself  blocks   with calls   share  line
                                             4  static void* kept[64];
                                             5
                                             6  __attribute__((noinline)) static void* read_part(int size) {
3,000,000 B      30  3,000,000 B  96.8 %     7          void* part = malloc(size);      //      grown
                                             8    memset(part, 1, size);
                                             9    return part;
                                            10  }
W
touch -d '1 minute ago' src/deep/tool.c
touch -d '2 minutes ago' tool
expect_status 0 "$HEAPPROF_BIN" report --source read_part r.json
expect_in out.txt "it is newer than the program: lines may have moved"
touch -d '1 hour ago' src/deep/tool.c
mkdir elsewhere
mv src elsewhere/src
expect_status 0 "$HEAPPROF_BIN" report --source read_part r.json
expect_in out.txt "it cannot be read here: no such file or directory"
expect_in out.txt "in read_part"
cp r.json elsewhere
(cd elsewhere && "$HEAPPROF_BIN" report --source read_part r.json >../out.txt 2>/dev/null)
expect_in out.txt "return part;"
expect_in out.txt "read from src/deep/tool.c, as $PWD/src/deep/tool.c is not here"
head -n 5 elsewhere/src/deep/tool.c >short.c
touch -d '1 hour ago' short.c
mv short.c elsewhere/src/deep/tool.c
(cd elsewhere && "$HEAPPROF_BIN" report --source read_part r.json >../out.txt 2>/dev/null)
expect_in out.txt "it has fewer than 7 lines: it is another one, or was changed"
# What is no file of text: opening a pipe does not wait.
rm elsewhere/src/deep/tool.c
mkfifo elsewhere/src/deep/tool.c
(cd elsewhere && timeout 300 "$HEAPPROF_BIN" report --source read_part r.json >../out.txt 2>/dev/null)
expect_in out.txt "it cannot be read here: it is no regular file"

refused 2 report --source toll.c r.json <<'W'
heapprof: error: r.json has no source file or function 'toll.c'; the nearest: tool.c [HP347]
  fix:     write it as reports show it, or a glob: --source 'src/*.cc'
  instead: see all places: heapprof report --top 50 r.json
W
refused 2 report --tree --source tool.c r.json <<'W'
heapprof: error: --tree and --source ask for different things [HP172]
  fix:     leave --source out
  instead: leave --tree out
W
refused 2 report --source tool.c --format json r.json <<'W'
heapprof: error: --source and --format json ask for different things [HP172]
  fix:     leave --format json out
  instead: leave --source out
W
(cd elsewhere && gcc -O1 -o ../bare -x c - <<<'#include <stdlib.h>
int main(void) { return malloc(1235) == NULL; }')
"$HEAPPROF_BIN" run -q -o bare.json ./bare 2>/dev/null
expect_status 2 "$HEAPPROF_BIN" report --source main bare.json
expect_in err.txt "bare.json knows no lines of 'main', only its name [HP347]"
