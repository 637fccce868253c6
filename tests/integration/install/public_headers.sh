# The public headers compile as their users compile: C++17 and newer, g++ and clang, all warnings, with exceptions and
# without, each alone, and in two files of one program. Their unit tests run under the sanitizers
# (`unit.public_headers`).
include=$SOURCE/shared/include
warnings="-Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wcast-qual -Wold-style-cast -Wnon-virtual-dtor"
cat >both.cc <<'CODE'
#include <heapprof/budget.hpp>
#include <heapprof/heapprof.h>
#include <heapprof/heapprof.hpp>

#include <vector>

void count(const heapprof::LimitFailure& failure);

int other(heapprof::MemoryTracker* tracker);

void limits();
void limits() {
  const int blocks = 3;
  const std::string size = "2 kB";
  HEAPPROF_REQUIRE_MAX_PEAK("64 MiB");
  HEAPPROF_REQUIRE_MAX_PEAK(size, "cuda:0");
  HEAPPROF_REQUIRE_MAX_BYTES(std::string_view("1.5 GiB"));
  HEAPPROF_REQUIRE_MAX_ALLOCATIONS(blocks);
  HEAPPROF_REQUIRE_MAX_ALLOCATIONS(sizeof blocks, "pinned");
  HEAPPROF_REQUIRE_MAX_LEAKED(0);
  HEAPPROF_REQUIRE_NO_LEAKS();
  HEAPPROF_REQUIRE_NO_LEAKS("mapped");
  HEAPPROF_REQUIRE_NO_ALLOCATIONS();
  HEAPPROF_REQUIRE(use.total_blocks <= 3 && use.peak_bytes < 100);
  HEAPPROF_REQUIRE_ON("cuda:1", true);
  HEAPPROF_REQUIRE_MAX_PEAK(size); HEAPPROF_REQUIRE_MAX_PEAK(size, "cuda:0"); HEAPPROF_REQUIRE(blocks == 3); HEAPPROF_REQUIRE(true);
  static heapprof_name name = {"part", "limits", 0};
  heapprof::scope scope(name);
  heapprof::scope inner(heapprof::intern("part", "inner"));
  inner.items(3);
}

int main() {
  using namespace heapprof;
  set_limit_handler(count);
  limits();
  { HEAPPROF_REQUIRE_MAX_PEAK("64M"); }
  if (heapprof::is_active() || heapprof::stats()) return 7;
  static_assert(try_estimate_tensor_bytes({10, 100}, Dtype::kF32).bytes == 4000);
  static_assert(try_estimate_attention_memory({1, 1, 4, 2}, Dtype::kF32).bytes == 192);
  MemoryTracker tracker(1000, 1.5);
  const std::vector<long> shape = {10, 40};
  const ByteEstimate estimate = try_estimate_tensor_bytes(shape, Dtype::kF16);
  if (!estimate || !tracker.try_allocate(estimate.bytes)) return 1;
  const BudgetOutcome refused = tracker.try_allocate(201);
  if (refused || refused.message() != "201 bytes do not fit: 800 bytes are allocated, and the limit is 1000") return 2;
#ifdef __cpp_exceptions
  try {
    tracker.allocate(201);
    return 3;
  } catch (const BudgetError& error) {
    if (error.requested_bytes() != 201) return 4;
  }
  if (estimate_attention_memory(1, 1, 4, 2, Dtype::kF32) != 192) return 5;
#endif
  return other(&tracker);
}
CODE
cat >other.cc <<'CODE'
#include <heapprof/budget.hpp>
#include <heapprof/heapprof.hpp>

static int failures = 0;
void count(const heapprof::LimitFailure& failure);
void count(const heapprof::LimitFailure& failure) { failures += failure.fault == heapprof::LimitFault::kAmbiguousSize ? 1 : 100; }

int other(heapprof::MemoryTracker* tracker);
int other(heapprof::MemoryTracker* tracker) {
  if (failures != 1) return 8;
  HEAPPROF_REQUIRE_MAX_PEAK("64 MiB");
  return tracker->would_fit(200) && !tracker->would_fit(201) && tracker->try_estimate_with_overhead(10).bytes == 15 ? 0 : 6;
}
CODE
tried=0
clang="clang++-14"
have "$clang" || clang="clang++"
for compiler in g++ "$clang"; do
  have $compiler || continue
  for language in c++17 c++20; do
    for exceptions in "" -fno-exceptions; do
      # shellcheck disable=SC2086
      $compiler -std=$language $exceptions $warnings -O1 -pthread -I"$include" both.cc other.cc -o both || fail "$compiler -std=$language $exceptions"
      ./both 2>both.txt || fail "built by $compiler -std=$language $exceptions it ends with $?"
      tried=$((tried + 1))
    done
  done
  for header in "$include"/heapprof/*; do
    printf '#include <heapprof/%s>\n' "$(basename "$header")" >alone.cc
    framework=$(sed -n 's/^catch2$/catch2\/catch.hpp/p; s/^gtest$/gtest\/gtest.h/p' <<<"$(basename "$header" .hpp)")
    if [ -n "$framework" ] && ! echo "#include <$framework>" | $compiler -std=c++17 -fsyntax-only -x c++ - 2>/dev/null; then
      not_tried "$(basename "$header"): $framework is not installed"
      continue
    fi
    # What a header lacks it lacks in either language, so each compiler is asked once.
    language=c++17
    [ $compiler = g++ ] || language=c++20
    # shellcheck disable=SC2086
    $compiler -std=$language $warnings -I"$include" -fsyntax-only alone.cc || fail "$compiler -std=$language: $(basename "$header") does not stand alone"
  done
done
# A program and its libraries share one list of open limits; a library that is opened does, with -rdynamic.
cat >library.cc <<'CODE'
#include <heapprof/heapprof.hpp>
extern "C" __attribute__((visibility("default"))) const void* list_of_library() { return &heapprof::detail::g_open_limits; }
CODE
cat >program.cc <<'CODE'
#include <dlfcn.h>
#include <heapprof/heapprof.hpp>
#ifndef OPENED
extern "C" const void* list_of_library();
#endif
int main() {
#ifdef OPENED
  const auto list_of_library = reinterpret_cast<const void* (*)()>(dlsym(dlopen("./library.so", RTLD_NOW), "list_of_library"));
#endif
  return list_of_library() == &heapprof::detail::g_open_limits ? 0 : 1;
}
CODE
for compiler in g++ "$clang"; do
  have $compiler || continue
  hidden="-std=c++17 -fvisibility=hidden -fvisibility-inlines-hidden -I$include"
  # shellcheck disable=SC2086
  $compiler $hidden -fPIC -shared library.cc -o library.so && $compiler $hidden program.cc ./library.so -o linked &&
    $compiler $hidden -DOPENED program.cc -ldl -o opened && $compiler $hidden -DOPENED -rdynamic program.cc -ldl -o exporting ||
    fail "$compiler: programs with libraries"
  expect_status 0 ./linked
  expect_status 1 ./opened
  expect_status 0 ./exporting
done
[ $tried -ge 4 ] || fail "no compiler was found"
have "$clang" || not_tried "clang: it is not installed"
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$include" -x c -fsyntax-only "$include/heapprof/heapprof.h" || fail "heapprof.h is no C11"

# Catch2 2 gives its listeners to files that ask for them; the header says how.
if [ -f /usr/include/catch2/catch.hpp ]; then
  printf '#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n#include <heapprof/catch2.hpp>\n' >main.cc
  g++ -std=c++17 -Wall -Wextra -Werror -I"$include" -fsyntax-only main.cc || fail "heapprof/catch2.hpp beside Catch2's main"
  sed -i 1d main.cc
  if g++ -std=c++17 -I"$include" -fsyntax-only main.cc 2>err.txt; then fail "heapprof/catch2.hpp compiles without listeners"; fi
  expect_in err.txt "define CATCH_CONFIG_EXTERNAL_INTERFACES before <catch2/catch.hpp>"
else
  not_tried "heapprof/catch2.hpp with Catch2 2: it is not there"
fi

# What cannot be counted right does not compile, or ends at once.
printf '#include <heapprof/estimate.hpp>\nint main() { return static_cast<int>(heapprof::try_estimate_tensor_bytes({1.5}, heapprof::Dtype::kF32).bytes); }\n' >half.cc
if g++ -std=c++17 -I"$include" -fsyntax-only half.cc 2>/dev/null; then fail "a dimension of 1.5 compiles"; fi
printf '#include <heapprof/budget.hpp>\nint main() { heapprof::MemoryTracker tracker(1, 0.5); }\n' >factor.cc
g++ -std=c++17 -fno-exceptions -I"$include" factor.cc -o factor || fail "factor.cc"
expect_status 134 ./factor
