# heapprof diff: a program that is built again elsewhere, with other lines, flags and clones, is unchanged; one more
# copy is found.
have g++ || skip "no g++"
export LC_ALL=C.UTF-8
unset COLUMNS
cat >program.cc <<'PROGRAM'
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
EXTRA_LINES
namespace scene {
struct Node { char bytes[1235]; };
std::vector<Node*> nodes;
// Small enough to be inlined at -O2, and cloned where its argument is known.
static Node* make_node(int fill) {
  Node* node = new Node;
  std::memset(node->bytes, fill, sizeof node->bytes);
  return node;
}
static inline void add_node(int fill) { nodes.push_back(make_node(fill)); }
__attribute__((noinline)) void load_scene(int count) {
  nodes.reserve(4096);
  for (int i = 0; i < count; ++i) add_node(i);
}
__attribute__((noinline)) void read_names(int count) {
  for (int i = 0; i < count; ++i) {
    std::string name(100 + i, 'x');
    asm volatile("" : : "r"(name.data()) : "memory");
  }
}
#ifdef EXTRA_COPY
__attribute__((noinline)) std::vector<Node> copy_nodes() {
  std::vector<Node> copy;
  copy.reserve(nodes.size());
  for (const Node* node : nodes) copy.push_back(*node);
  return copy;
}
#endif
}  // namespace scene
int main() {
  scene::load_scene(1000);
#ifdef EXTRA_COPY
  const std::vector<scene::Node> copy = scene::copy_nodes();
  asm volatile("" : : "r"(copy.data()) : "memory");
#endif
  scene::read_names(500);
  for (scene::Node* node : scene::nodes) delete node;
}
PROGRAM

# build FOLDER LINES FLAGS…: the program in a folder of its own, with so many lines above, run under heapprof into
# FOLDER.json
build() {
  local folder=$1 lines=$2
  shift 2
  mkdir -p "$folder/src"
  sed "s/^EXTRA_LINES$/$(printf '\\n%.0s' $(seq "$lines"))/" program.cc >"$folder/src/program.cc"
  (cd "$folder" && g++ "$@" -o program src/program.cc)
  "$HEAPPROF_BIN" run -q -o "$folder.json" "$folder/program"
}
build base 1 -g -O2
expect_unchanged() {
  expect_status 0 "$HEAPPROF_BIN" diff --exit-code base.json "$1.json"
  expect_in out.txt "no change: nothing differs"
  expect_eq "warnings about $1" "$(cat err.txt)" ""
  expect_eq "places of $1 that changed" "$("$HEAPPROF_BIN" diff --format json base.json "$1.json" | jq '[.devices[].changed_places_count] | add')" 0
}
build again 1 -g -O2
expect_unchanged again
build moved/elsewhere 57 -g -O2
mv moved/elsewhere.json moved.json
expect_unchanged moved
build clones 9 -g -O2 -fno-inline -fipa-cp-clone -fipa-sra -fpartial-inlining
expect_unchanged clones
build inlined 9 -g -O3 -finline-limit=10000
expect_unchanged inlined
build plain 9 -g -O0
expect_unchanged plain
# Without debug information inlined functions are not in the stacks.
build nameless 3 -O2
expect_unchanged nameless
cp nameless.json base_nameless.json
expect_status 0 "$HEAPPROF_BIN" diff --exit-code plain.json nameless.json
expect_in out.txt "no change: nothing differs"

# The copy is found: in the first lines, in text and in Markdown, whatever else is different.
build copied 31 -g -O2 -DEXTRA_COPY
build copied_nameless 31 -O2 -DEXTRA_COPY
for current in copied copied_nameless; do
  expect_status 1 "$HEAPPROF_BIN" diff --exit-code base.json $current.json
  head -n 13 out.txt >first.txt
  grep -qE '^\+1\.18 MiB +new +scene::copy_nodes' first.txt || fail "copy_nodes is not in the first lines: $(cat out.txt)"
  expect_in out.txt "explains +1.18 MiB of +1.18 MiB"
  tail -n 1 out.txt >last.txt
  expect_in last.txt "in scene::copy_nodes"
  expect_status 0 "$HEAPPROF_BIN" diff --format markdown base.json $current.json
  head -n 1 out.txt >first.txt
  expect_in first.txt 'host peak grew'
  expect_in first.txt 'scene::copy\_nodes'
done
expect_status 0 "$HEAPPROF_BIN" diff --exit-code copied.json base.json
expect_in out.txt "gone"
