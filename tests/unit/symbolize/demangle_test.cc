// tests/unit/symbolize/demangle_test.cc: names as people write them, and what hostile names may cost.
#include "cli/symbolize/symbolizer.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>

using heapprof::cli::demangle;

TEST_CASE("a C++ name is demangled with its parameters") {
  CHECK(demangle("_ZN6shapes6CircleC1Ei") == "shapes::Circle::Circle(int)");
  CHECK(demangle("_ZNSt6vectorIiSaIiEE9push_backEOi") == "std::vector<int, std::allocator<int> >::push_back(int&&)");
  CHECK(demangle("_Z3fooi.isra.0") == "foo(int) [clone .isra.0]");
}

TEST_CASE("a legacy Rust name loses its hash and its escapes") {
  CHECK(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE") == "core::fmt::Write::write_fmt");
  CHECK(demangle(
            "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE") ==
        "<Test + 'static as foo::Bar<Test>>::bar");
}

TEST_CASE("a Rust v0 name is demangled without its disambiguators") {
  CHECK(demangle("_RNvC6_123foo3bar") == "123foo::bar");
  CHECK(demangle("_RNvNtCs1234_7mycrate3foo3bar") == "mycrate::foo::bar");
}

TEST_CASE("a D name is demangled") { CHECK(demangle("_D8demangle4testFaZv") == "demangle.test(char)"); }

TEST_CASE("a procedure of a Fortran module is demangled") {
  CHECK(demangle("__store_MOD_load") == "store::load");
  CHECK(demangle("__a_b_MOD_c_d2") == "a_b::c_d2");
  for (const char* name : {"__MOD_", "__a_MOD_", "__store_MOD_Load", "_a_MOD_b", "store_MOD_load", "solve_"})
    CHECK(demangle(name) == name);
}

TEST_CASE("GNAT's names are demangled where the code is Ada's") {
  using heapprof::cli::demangle_ada;
  CHECK(demangle_ada("store__load") == "store.load");
  CHECK(demangle_ada("store__load__2") == "store.load");
  CHECK(demangle_ada("store__inner__Oadd") == "store.inner.\"+\"");
  CHECK(demangle_ada("_ada_main") == "main");
  for (const char* name : {"", "main", "__gnat_malloc", "Store__Load"}) CHECK(demangle_ada(name) == name);
  CHECK(demangle("store__load") == "store__load");
}

TEST_CASE("any other name comes back as it is") {
  for (const char* name :
       {"", "main", "_", "_Z", "_R", "_D", "_start", "_ZZZZ", "_RNvC", "_DYNAMIC", "a b", "operator new"}) {
    CHECK(demangle(name) == name);
  }
  std::string with_zero("_Z3foov\0x", 9);
  CHECK(demangle(with_zero) == with_zero);
}

namespace {

std::string repeated(const std::string& head, const std::string& piece, size_t times, const std::string& tail) {
  std::string name = head;
  for (size_t i = 0; i < times; ++i) name += piece;
  return name + tail;
}

// void f<a<int, int>, a<a<int, int>, a<int, int>>, …>(): each argument says the one before it twice.
std::string exponential(int levels) {
  auto substitution = [](int number) {
    constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string digits;
    for (; number > 0; number /= 36) digits.insert(digits.begin(), kDigits[number % 36]);
    return "S" + (digits.empty() ? "0" : digits) + "_";
  };
  std::string name = "_Z1fI1aIiiE";  // S_ is f, S0_ is a, S1_ is a<int, int>
  for (int i = 1; i <= levels; ++i) name += "S0_I" + substitution(i) + substitution(i) + "E";
  return name + "Evv";
}

double seconds_for(const std::string& name) {
  auto start = std::chrono::steady_clock::now();
  std::string text = demangle(name);
  CHECK(text.size() <= std::max<size_t>(64 << 10, name.size()));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a long template name is still demangled") {
  std::string name = repeated("_Z1fI", "N5outer5innerE", 120, "Evv");
  REQUIRE(name.size() > 1500);
  CHECK(demangle(name).starts_with("void f<outer::inner, outer::inner"));
}

TEST_CASE("hostile names end soon, within the stack, and with a bounded text") {
  for (size_t times : {100u, 1000u, 5000u, 16000u, 100000u}) {
    for (const char* piece :
         {"P", "K",  "F",  "X",  "I",  "N", "L", "Dp", "A_", "S_",  "1aI", "T_",  "cl",  "LZ", "J",   "M",
          "Z", "sr", "1a", "Nv", "B_", "C", "R", "Q",  "TS", "FPF", "_D",  "Xcl", "Xsr", "XL", "U1a", "Tn"}) {
      for (const char* head :
           {"_Z", "_Z1f", "_ZN", "_Z1fI", "_R", "_RNv", "_RI", "_D", "_D1a", "_ZN1a", "_Z1fIX", "_RINv"}) {
        CHECK(seconds_for(repeated(head, piece, times, "Ev")) < 5);
      }
    }
  }
  CHECK(demangle(exponential(5)).starts_with("void f<a<int, int>"));
  CHECK(demangle(exponential(40)) == exponential(40));  // a million million times "int"
  for (int levels : {5, 10, 20, 40, 80, 160}) CHECK(seconds_for(exponential(levels)) < 5);
}
