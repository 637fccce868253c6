// tests/unit/read/helpers.h: what the reader's tests have in common.
#pragma once

#include "cli/read/read_profile.h"
#include "cli/write/profile/dhat.h"
#include "tests/support/data_path.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <string>

namespace heapprof::test {

inline std::string written(const cli::Profile& profile) {
  cli::StringSink sink;
  cli::write_dhat(profile, &sink);
  return sink.text();
}

inline cli::Result<cli::Profile> read_text(const std::string& text) {
  cli::TextSource source(text);
  return cli::read_profile(&source, "test.json");
}

inline cli::Profile must_read(const std::string& text) {
  cli::Result<cli::Profile> profile = read_text(text);
  INFO((profile ? "" : profile.problem().what));
  REQUIRE(profile.ok());
  return *profile;
}

inline std::string golden_path(const std::string& name) { return heapprof::test::data_path("/golden/") + name; }

inline std::string golden_text(const std::string& name) {
  std::ifstream file(golden_path(name), std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// pre: `from` is in the text
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  INFO("looking for " << from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace heapprof::test
