# An installed tree, moved, is found by find_package() and pkg-config, and heapprof_add_test() makes tests that hold
# limits.
expect_status 0 cmake --install "$BUILD" --prefix "$PWD/first"
mv first second
prefix=$PWD/second
mkdir project
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(uses_heapprof LANGUAGES CXX)
find_package(heapprof 0.1 REQUIRED)
enable_testing()
add_executable(blocks blocks.cc)
target_link_libraries(blocks PRIVATE heapprof::headers)
add_executable(words words.cc)
target_link_libraries(words PRIVATE heapprof::headers)
target_compile_features(words PRIVATE cxx_std_17)
heapprof_add_test(NAME within COMMAND blocks 10 MAX_PEAK 1MiB MAX_LEAKED host=0B JUNIT within.xml)
heapprof_add_test(NAME over COMMAND blocks 10 MAX_PEAK 1MiB MAX_ALLOCATIONS host=9)
heapprof_add_test(NAME crashes COMMAND blocks MAX_PEAK 1MiB)
heapprof_add_test(NAME budget COMMAND blocks 10 BUDGET limits.toml BUDGET_NAME blocks)
heapprof_add_test(NAME words COMMAND words "a;b" "" "c d" [[$HOME\e"]] MAX_PEAK 1MiB OPTIONS -o words.json)
heapprof_add_test(NAME to_end MAX_PEAK 1MiB OPTIONS -o to_end.json COMMAND_TO_END words JUNIT "" COMMAND MAX_PEAK)
heapprof_add_test(NAME grown COMMAND blocks 10 BASELINE base.json TOLERANCE 1% SLACK 0B)
add_executable(inside inside.cc)
target_link_libraries(inside PRIVATE heapprof::headers)
target_compile_features(inside PRIVATE cxx_std_17)
heapprof_add_test(NAME inside/within COMMAND inside 1000 LIMITS_INSIDE)
heapprof_add_test(NAME inside/over LIMITS_INSIDE PROFILE "profiles/100%.json" COMMAND_TO_END inside 1001 LIMITS_INSIDE)
heapprof_add_test(NAME inside/both COMMAND inside 1000 LIMITS_INSIDE MAX_PEAK 100B PROFILE both.json)
add_test(NAME inside/unchecked COMMAND inside 1000)
set_tests_properties(inside/unchecked PROPERTIES ENVIRONMENT HEAPPROF_REQUIRED=1)
CMAKE
cat >project/blocks.cc <<'CODE'
#include <heapprof/heapprof.h>

#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  for (int i = 0; i < std::atoi(argv[1]); ++i) {
    char* volatile block = static_cast<char*>(std::malloc(1235));
    block[0] = 1;
    std::free(block);
  }
}
CODE
cat >project/words.cc <<'CODE'
#include <heapprof/budget.hpp>

int main() {
  heapprof::MemoryTracker tracker(4000);
  const auto bytes = heapprof::estimate_tensor_bytes({10, 100}, heapprof::Dtype::kF32);
  return tracker.try_allocate(bytes) && !tracker.try_allocate(1) ? 0 : 1;
}
CODE
cat >project/inside.cc <<'CODE'
#include <heapprof/heapprof.hpp>

#include <cstdlib>

int main(int, char** argv) {
  HEAPPROF_REQUIRE_MAX_PEAK("1 kB");
  char* volatile block = static_cast<char*>(std::malloc(std::strtoul(argv[1], nullptr, 10)));
  std::free(block);
}
CODE
printf 'version = 1\n[[budget]]\nname = "blocks"\ntotal = "12 KiB"\n' >project/limits.toml
expect_status 0 cmake -S project -B made -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug
expect_status 0 cmake --build made
expect_status 0 "$prefix/bin/heapprof" check --baseline project/base.json --update-baseline -- made/blocks 8
(cd made && ctest --output-on-failure >../ctest.txt) && fail "every test passed: $(cat ctest.txt)"
for test in "within .* Passed" "over .*\*\*\*Failed" "crashes .*\*\*\*Failed" "budget .*\*\*\*Failed" "grown .*\*\*\*Failed" \
            "inside/within .* Passed" "inside/over .*\*\*\*Failed" "inside/both .*\*\*\*Failed" "inside/unchecked .*\*\*\*"; do
  grep -qE "$test" ctest.txt || fail "not '$test': $(cat ctest.txt)"
done
arguments() { jq -c '.heapprof.run.command[1:]' "made/$1.json"; }
expect_eq "a command's words" "$(arguments words)" '["a;b","","c d","$HOME\\e\""]'
expect_eq "words that are keywords" "$(arguments to_end)" '["JUNIT","","COMMAND","MAX_PEAK"]'
expect_in ctest.txt "FAIL  blocks  host allocations"
expect_in ctest.txt "FAIL  blocks  host total"
expect_in ctest.txt "the program failed: exit 3"
expect_in ctest.txt "baseline 9.65 KiB"
expect_in ctest.txt "heapprof: host peak is over its limit"
expect_in ctest.txt "found  1001 B above"
expect_in ctest.txt "all    heapprof report $PWD/made/profiles/100%.json   (written when the program has ended)"
check_profile made/heapprof/inside_within.json "made/profiles/100%.json" made/both.json
expect_in ctest.txt "FAIL  inside  host peak"
expect_in ctest.txt "a limit was not checked, and HEAPPROF_REQUIRED is set"
"$PYTHON" -c 'import sys, xml.etree.ElementTree as tree; sys.exit(tree.parse("made/within.xml").getroot().get("tests") != "2")' ||
  fail "JUNIT wrote something else"
# Mistakes end the configuration, not the night's tests.
sed -i 's/NAME crashes COMMAND/MAXPEAK 1MiB NAME crashes COMMAND/' project/CMakeLists.txt
expect_status 1 cmake -S project -B made
expect_in err.txt "heapprof_add_test: unknown argument 'MAXPEAK;1MiB'"
sed -i 's/MAXPEAK 1MiB NAME crashes COMMAND blocks .*/NAME crashes COMMAND blocks MAXPEAK 1MiB)/' project/CMakeLists.txt
expect_status 1 cmake -S project -B made
expect_in err.txt "heapprof_add_test: crashes has no limit"
sed -i 's/NAME crashes COMMAND blocks .*/NAME crashes LIMITS_INSIDE RUNS 3 COMMAND blocks)/' project/CMakeLists.txt
expect_status 1 cmake -S project -B made
expect_in err.txt "crashes: RUNS is for limits that heapprof check holds"

have pkg-config || skip "pkg-config is not installed: the rest passed"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name heapprof.pc)")
expect_eq "its version" "$(pkg-config --modversion heapprof)" "$("$prefix/bin/heapprof" --version | cut -d' ' -f2)"
expect_status 0 g++ -fsyntax-only $(pkg-config --cflags heapprof) project/blocks.cc
expect_status 0 "$(pkg-config --variable=heapprof heapprof)" --version
