// tests/support/manual.h: a manual page as it reads, for the tests that hold a list of the code against it.
#pragma once

#include "tests/support/data_path.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>
#include <string>

namespace heapprof::test {

// The source of man/NAME.scd without its backslashes: "peak_bytes" for "peak\_bytes".
inline std::string manual_page(const std::string& name) {
  std::ifstream file(data_path("/../man/") + name + ".scd", std::ios::binary);
  std::stringstream page;
  page << file.rdbuf();
  std::string text = page.str();
  REQUIRE(text.size() > 1000);
  std::erase(text, '\\');
  return text;
}

// Whether the page has the word in bold.
inline bool explains(const std::string& page, const std::string& word) {
  return page.find("*" + word + "*") != std::string::npos;
}

}  // namespace heapprof::test
