// tests/support/golden.h: text that must not change unnoticed: compared with tests/golden/NAME, rewritten by
// scripts/regold.
#pragma once

#include "tests/support/data_path.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace heapprof::test {

inline void check_golden(const std::string& name, const std::string& text) {
  const std::string path = data_path("/golden/") + name;
  if (std::getenv("HEAPPROF_REGOLD") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream golden;
  golden << file.rdbuf();
  INFO("golden file " << name << "; scripts/regold rewrites it");
  CHECK(text == golden.str());
}

}  // namespace heapprof::test
