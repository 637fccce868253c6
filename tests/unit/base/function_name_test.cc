// tests/unit/base/function_name_test.cc: names as people call them.
#include "cli/base/function_name.h"

#include "cli/base/text.h"

#include <catch2/catch.hpp>

#include <random>

using namespace heapprof::cli;

TEST_CASE("parameters, return types and qualifiers are not part of the name") {
  CHECK(plain_function("main") == "main");
  CHECK(plain_function("build_index(std::vector<int>&)") == "build_index");
  CHECK(plain_function("void foo<int>(int)") == "foo<int>");
  CHECK(plain_function("Tile::decode(unsigned char const*, int) const") == "Tile::decode");
  CHECK(plain_function("std::map<int, int>::size() const &") == "std::map<int, int>::size");
  CHECK(plain_function("unsigned long const* ns::f<char, (anonymous namespace)::T>(char)") == "ns::f<char, T>");
  CHECK(plain_function("std::function<void (int)>::swap(std::function<void (int)>&)") ==
        "std::function<void (int)>::swap");
  CHECK(plain_function("f[abi:cxx11](int)") == "f");
}

TEST_CASE("operators keep their signs") {
  CHECK(plain_function("operator new(unsigned long)") == "operator new");
  CHECK(plain_function("operator delete[](void*, unsigned long)") == "operator delete[]");
  CHECK(plain_function("A::operator()(int) const") == "A::operator()");
  CHECK(plain_function("A::operator[](int)") == "A::operator[]");
  CHECK(plain_function("bool operator<(A const&, A const&)") == "operator<");
  CHECK(plain_function("std::ostream& operator<< <char>(std::ostream&, char)") == "operator<< <char>");
  CHECK(plain_function("A::operator->() const") == "A::operator->");
  CHECK(plain_function("A::operator bool() const") == "A::operator bool");
  CHECK(plain_function("A::operator unsigned long() const") == "A::operator unsigned long");
  CHECK(plain_function("cooperator(int)") == "cooperator");
}

TEST_CASE("lambdas are named by the function around them") {
  CHECK(plain_function("main::{lambda(int)#1}::operator()(int) const") == "main::{lambda#1}");
  CHECK(plain_function("foo(int)::{lambda(auto:1)#2}::operator()<int>(int) const") == "foo::{lambda#2}<int>");
  CHECK(plain_function("(anonymous namespace)::run(int)") == "run");
}

TEST_CASE("std's default arguments are dropped") {
  CHECK(plain_function("std::vector<int, std::allocator<int> >::push_back(int&&)") == "std::vector<int>::push_back");
  CHECK(
      plain_function(
          "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::reserve(unsigned long)") ==
      "std::string::reserve");
  CHECK(plain_function(
            "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, "
            "std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, "
            "std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
            "const, int> > >::operator[](int)") == "std::map<std::string, int>::operator[]");
}

TEST_CASE("clones and Rust names") {
  CHECK(plain_function("sqlite3VdbeExec.part.0") == "sqlite3VdbeExec");
  CHECK(plain_function("f(int) [clone .isra.0]") == "f");
  CHECK(plain_function("<alloc::vec::Vec<T> as core::clone::Clone>::clone") ==
        "<alloc::vec::Vec<T> as core::clone::Clone>::clone");
  CHECK(plain_function("app::load::{{closure}}") == "app::load::{{closure}}");
  CHECK(plain_function("core::ops::function::FnOnce::call_once{{vtable.shim}}") ==
        "core::ops::function::FnOnce::call_once{{vtable.shim}}");
}

TEST_CASE("what cannot be parsed comes back") {
  for (const char* name : {"", "((((", ">>>", "<", "operator", "a<b", "{lambda(", "foo(", ")", "??"}) {
    CAPTURE(name);
    const std::string text = plain_function(name);
    CHECK((std::string(name).empty() || !text.empty()));
  }
}

TEST_CASE("template arguments go first, the innermost before the outer") {
  const std::string name = "pool::Map<std::vector<int>, Tree<Key<char>>>::insert";
  CHECK(shorten_function(name, 60) == name);
  CHECK(shorten_function(name, 51) == "pool::Map<std::vector<int>, Tree<Key<…>>>::insert");
  CHECK(shorten_function(name, 45) == "pool::Map<std::vector<…>, Tree<…>>::insert");
  CHECK(shorten_function(name, 30) == "pool::Map<…>::insert");
  CHECK(shorten_function("alpha::beta::gamma::Tile::decode", 16) == "…::Tile::decode");
  CHECK(shorten_function("sqlite3VdbeMemGrowWithALongName", 11) == "sqlit…gName");
}

TEST_CASE("beside other names the last two parts are enough") {
  CHECK(last_two_parts("main") == "main");
  CHECK(last_two_parts("Tile::decode") == "Tile::decode");
  CHECK(last_two_parts("app::pool::Map<a::b::c, int>::put") == "Map<a::b::c, int>::put");
  CHECK(last_two_parts("a::b::{lambda#1}") == "b::{lambda#1}");
  CHECK(last_two_parts("<alloc::vec::Vec<T> as core::clone::Clone>::clone") ==
        "<alloc::vec::Vec<T> as core::clone::Clone>::clone");
  CHECK(last_two_parts("a::b::operator<<") == "b::operator<<");
}

TEST_CASE("whose implementation of a trait it is stays in a short name") {
  const std::string name = "<app::store::Disk as app::store::Backend>::fetch";
  CHECK(shorten_function(name, 60) == name);
  CHECK(shorten_function(name, 30) == "<Disk as Backend>::fetch");
  CHECK(shorten_function(name, 20) == "<Disk>::fetch");
  CHECK(shorten_function("<app::Map<app::Key, app::Value> as core::clone::Clone>::clone", 30) ==
        "<Map<Key, Value>>::clone");
  CHECK(shorten_function("<app::Map<app::Key, app::Value> as core::clone::Clone>::clone", 20) == "<Map<…>>::clone");
  CHECK(shorten_function("serde::de::<impl serde::de::Read for alloc::vec::Vec<T>>::read", 50) ==
        "serde::de::<impl Read for Vec<T>>::read");
  CHECK(shorten_function("serde::de::<impl serde::de::Read for alloc::vec::Vec<T>>::read", 22) ==
        "<impl Vec<T>>::read");
  CHECK(shorten_function("app::fill::<alloc::vec::Vec<u8>>", 16) == "app::fill::<…>");
}

TEST_CASE("any bytes in, at most the asked columns out") {
  std::mt19937 random(7);
  const std::string alphabet = "ab<>()[]{}:: ,&*~-operator#1.\xff\xc3\xa9";
  for (int round = 0; round < 20000; ++round) {
    std::string name;
    for (size_t i = random() % 40; i > 0; --i) name += alphabet[random() % alphabet.size()];
    const std::string plain = plain_function(name);
    CHECK(last_two_parts(plain).size() <= plain.size());
    for (const size_t columns : {1u, 7u, 20u}) CHECK(display_width(shorten_function(plain, columns)) <= columns);
  }
  CHECK(display_width(shorten_function(plain_function(std::string(100000, '<')), 40)) == 40);
}

TEST_CASE("the mark of an inferred function stays where its name is shortened") {
  CHECK(shorten_function("pool::Map<int>::put (inferred)", 40) == "pool::Map<int>::put (inferred)");
  CHECK(shorten_function("pool::Map<int>::put (inferred)", 28) == "pool::Map<…>::put (inferred)");
  CHECK(shorten_function("pool::Map<int>::put (inferred)", 24) ==
        shorten_function("pool::Map<int>::put", 13) + " (inferred)");
  CHECK(display_width(shorten_function("pool::Map<int>::put (inferred)", 10)) <= 10);
}
