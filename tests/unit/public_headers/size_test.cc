// tests/unit/public_headers/size_test.cc: heapprof/size.hpp reads what the tool's flags read, and nothing else.
#include "cli/base/units.h"

#include <catch2/catch.hpp>
#include <heapprof/size.hpp>

#include <random>
#include <string>

namespace heapprof {
namespace {

static_assert(parse_size("64 MiB").bytes == 64u << 20);
static_assert(parse_size("10kB").bytes == 10'000);
static_assert(parse_size("1.5 GiB").bytes == 3u << 29);
static_assert(parse_size("4096").bytes == 4096);
static_assert(parse_size("0").bytes == 0 && parse_size("0"));
static_assert(parse_size("512M").fault == SizeFault::kAmbiguous);
static_assert(Size(7).parsed().bytes == 7 && !Size(-7).parsed());

void compare(const std::string& text) {
  INFO('\'' << text << '\'');
  const ParsedSize ours = parse_size(text);
  const cli::Result<uint64_t> tool = cli::parse_size(text);
  REQUIRE(static_cast<bool>(ours) == static_cast<bool>(tool));
  if (ours) REQUIRE(ours.bytes == *tool);
}

TEST_CASE("sizes are read as the tool reads them") {
  for (const char* text : {"",
                           " ",
                           "0",
                           "1",
                           "64 MiB",
                           "64MiB",
                           "64  MiB",
                           " 64MiB",
                           "64MiB ",
                           "64 ",
                           "64mib",
                           "64 Mib",
                           "64MIB",
                           "10kB",
                           "10KB",
                           "10 KB",
                           "1KiB",
                           "1kiB",
                           "1.5 GiB",
                           "1.",
                           ".5",
                           ".",
                           "..5",
                           "1..5KiB",
                           "1.5.5",
                           "1.5",
                           ".5KiB",
                           "5B",
                           "5 B",
                           "5b",
                           "-1",
                           "+1",
                           "1e3",
                           "1,000",
                           "0x10",
                           "1 M",
                           "1M",
                           "1m",
                           "1G",
                           "1g",
                           "1k",
                           "1K",
                           "1T",
                           "1P",
                           "1E",
                           "16EiB",
                           "15.999EiB",
                           "18EB",
                           "18.446744073709551615EB",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999999",
                           "0.0000000000000000001EiB",
                           "0.00000000000000000001EiB",
                           "1ZiB",
                           "MiB",
                           "1 Mi",
                           "1MiBs",
                           "17592186044415.999999MiB",
                           "17592186044416MiB",
                           "1\tMiB",
                           "1 MiB\n"})
    compare(text);
}

TEST_CASE("sizes of random letters are read as the tool reads them") {
  std::mt19937 random(4711);
  const std::string letters = "0123456789.. kKMGTPEiBb";
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (size_t length = random() % 12; length != 0; --length) text += letters[random() % letters.size()];
    compare(text);
  }
}

TEST_CASE("what is smaller than a byte is nothing, however small") {
  CHECK(parse_size("0." + std::string(400, '0') + "1EiB").bytes == 0);
  CHECK(parse_size("0." + std::string(400, '0') + "1EiB"));
  for (size_t zeros = 0; zeros < 150; ++zeros) compare("0." + std::string(zeros, '0') + "1EiB");
  CHECK(parse_size("1." + std::string(18, '0') + "KiB").bytes == 1024);
}

TEST_CASE("sizes are written with three digits") {
  CHECK(format_size(0) == "0 B");
  CHECK(format_size(1023) == "1023 B");
  CHECK(format_size(1024) == "1.00 KiB");
  CHECK(format_size(64u << 20) == "64.0 MiB");
  CHECK(format_size(1023u << 20) == "1023 MiB");
  CHECK(format_size((1u << 30) + (1u << 29)) == "1.50 GiB");
  CHECK(format_size(1235) == "1.21 KiB");
  CHECK(format_size(10234) == "9.99 KiB");
  CHECK(format_size(10235) == "10.0 KiB");
  CHECK(format_size(30'000) == "29.3 KiB");
  CHECK(format_size((1u << 20) - 1) == "1.00 MiB");
  CHECK(format_size(UINT64_MAX) == "16.0 EiB");
  CHECK(format_exact(0) == "0");
  CHECK(format_exact(999) == "999");
  CHECK(format_exact(67'108'865) == "67,108,865");
}

}  // namespace
}  // namespace heapprof
