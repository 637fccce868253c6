// tests/unit/symbolize/source_path_test.cc: the path of a source file from what DWARF has of it: name, folder, and the
// compilation's folder.
#include "cli/symbolize/source_path.h"

#include <catch2/catch.hpp>

using heapprof::cli::source_path;

TEST_CASE("a relative name is made absolute by the compilation's directory") {
  CHECK(source_path("/build", "src/a.cc") == "/build/src/a.cc");
  CHECK(source_path("/build/", "./a.cc") == "/build/a.cc");
  CHECK(source_path("/build/x", "../a.cc") == "/build/a.cc");
  CHECK(source_path("/", "a.cc") == "/a.cc");
}

TEST_CASE("an absolute name stands for itself") {
  CHECK(source_path("/build", "/src/a.cc") == "/src/a.cc");
  CHECK(source_path("", "/usr/bin/../lib/gcc/12/../../../include/c++/12/vector") == "/usr/include/c++/12/vector");
  CHECK(source_path("", "//usr//include/./x.h") == "/usr/include/x.h");
  CHECK(source_path("", "/a/..") == "/");
  CHECK(source_path("", "/../../a.h") == "/a.h");
}

TEST_CASE("a name that nothing makes absolute stays relative") {
  CHECK(source_path("", "src/a.cc") == "src/a.cc");
  CHECK(source_path(".", "a.cc") == "a.cc");
  CHECK(source_path("", "../../a.cc") == "../../a.cc");
  CHECK(source_path("", "x/../../a.cc") == "../a.cc");
  CHECK(source_path("./stdlib", "./stdlib/abort.c") == "stdlib/abort.c");
  CHECK(source_path("./stdlib", "../sysdeps/x.c") == "sysdeps/x.c");
  CHECK(source_path("std", "stdlib/abort.c") == "std/stdlib/abort.c");
  CHECK(source_path("", "<built-in>") == "<built-in>");
  CHECK(source_path("/build", "").empty());
}
