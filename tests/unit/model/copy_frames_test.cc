// tests/unit/model/copy_frames_test.cc: names as compilers leave them, and names that only look like them.
#include "cli/model/analysis/copy_frames.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

constexpr const char* kString = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";

}  // namespace

TEST_CASE("functions that copy") {
  const std::string string = kString;
  for (const std::string& name : {
           std::string("std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> > const&)"),
           std::string(
               "std::vector<int, std::allocator<int> >::operator=(std::vector<int, std::allocator<int> > const&)"),
           string + "::basic_string(" + string + " const&)",
           std::string("std::vector<int>::vector(std::vector<int> const&, std::allocator<int> const&)"),
           std::string("app::Table::clone() const"),
           std::string("NDFrame.copy"),
           std::string("deepcopy"),
           std::string("Matrix::copy<double>(int)"),
           std::string("strdup"),
           std::string("__strdup"),
           std::string("g_memdup2"),
           std::string(
               "long* std::vector<long>::_M_allocate_and_copy<long const*>(unsigned long, long const*, long const*)"),
           std::string("<alloc::vec::Vec<T> as core::clone::Clone>::clone"),
       }) {
    CAPTURE(name);
    CHECK(is_copying(name));
  }
}

TEST_CASE("functions that copy by their names alone") {
  for (const char* name :
       {"copy_scene(Scene const&)", "deepCopy", "dup_buffer", "clonePool", "piano_copy", "copy_no_more"}) {
    CAPTURE(name);
    CHECK(is_named_copy(name));
    CHECK_FALSE(is_copying(name));
  }
  for (const char* name : {"zero_copy_ring", "ZeroCopyRing::grow()", "app::noCopy", "without_clones", "without_clone",
                           "std::copy", "photocopying"}) {
    CAPTURE(name);
    CHECK_FALSE(is_named_copy(name));
  }
}

TEST_CASE("functions that do not copy, whatever their names") {
  for (const char* name :
       {"std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> >&&)",
        "std::vector<int>::vector(std::initializer_list<int>, std::allocator<int> const&)",
        "std::vector<int>::vector(unsigned long, int const&, std::allocator<int> const&)",
        "std::vector<int>::push_back(int const&)", "photocopying", "update", "group", "duplex", "copyright",
        "render(Copy const&)", "main", "", "load_picture()", ")(", "a::", "(", "std::", "std::operator="}) {
    CAPTURE(name);
    CHECK_FALSE(is_copying(name));
    CHECK_FALSE(is_named_copy(name));
  }
}

TEST_CASE("functions that grow a container by copying it") {
  CHECK(is_growing("void std::vector<long, std::allocator<long> >::_M_realloc_insert<long const&>(long*, long const&)",
                   "f"));
  CHECK(is_growing("std::vector<char>::_M_realloc_append<char>(char&&)", ""));
  CHECK(is_growing(std::string(kString) + "::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)",
                   std::string(kString) + "::_M_append(char const*, unsigned long)"));
  // Another value copies nothing of the old one.
  CHECK_FALSE(
      is_growing(std::string(kString) + "::_M_mutate(unsigned long, unsigned long, char const*, unsigned long)",
                 std::string(kString) + "::_M_replace(unsigned long, unsigned long, char const*, unsigned long)"));
  // One call may make all the room there will ever be.
  CHECK_FALSE(is_growing("std::vector<char>::_M_default_append(unsigned long)", "main"));
  CHECK_FALSE(is_growing("std::vector<char>::reserve(unsigned long)", "main"));
  CHECK_FALSE(is_growing("my::_M_realloc_insert(int)", "main"));
  CHECK_FALSE(is_growing("", ""));
}

TEST_CASE("functions that make room in a container, in one step or in many") {
  CHECK(makes_room("void std::vector<long>::_M_realloc_insert<long const&>(long*, long const&)"));
  CHECK(makes_room("void std::vector<Event>::_M_range_insert<Event const*>(Event*, Event const*, Event const*)"));
  CHECK(makes_room("std::vector<char>::_M_default_append(unsigned long)"));
  CHECK_FALSE(makes_room("my::_M_range_insert(int)"));
  CHECK_FALSE(makes_room("make_level"));
  CHECK_FALSE(makes_room(""));
}

TEST_CASE("functions that read to the end") {
  const std::string iterator = "std::istreambuf_iterator<char, std::char_traits<char> >";
  CHECK(is_reading_whole("void " + std::string(kString) + "::_M_construct<" + iterator + " >(" + iterator + ", " +
                         iterator + ", std::input_iterator_tag)"));
  CHECK(is_reading_whole("void std::vector<char>::_M_range_initialize<" + iterator + " >(" + iterator + ", " +
                         iterator + ")"));
  CHECK(is_reading_whole(
      "long std::__copy_streambufs_eof<char, std::char_traits<char> >(std::basic_streambuf<char>*, bool&)"));
  CHECK(is_reading_whole("g_file_get_contents"));
  CHECK(is_reading_whole("std::fs::read_to_string::inner"));
  CHECK_FALSE(
      is_reading_whole("void " + std::string(kString) + "::_M_construct<char const*>(char const*, char const*)"));
  CHECK_FALSE(is_reading_whole("int count<" + iterator + " >(" + iterator + ")"));
  CHECK_FALSE(is_reading_whole("read_config"));
  CHECK_FALSE(is_reading_whole("std::getline<char>(std::istream&)"));
}
