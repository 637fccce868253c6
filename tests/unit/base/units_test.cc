// tests/unit/base/units_test.cc: every boundary at which a number changes its form.
#include "cli/base/units.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace heapprof::cli;

namespace {
constexpr uint64_t kKi = 1024;
constexpr uint64_t kMi = kKi * 1024;
constexpr uint64_t kGi = kMi * 1024;
constexpr uint64_t kTi = kGi * 1024;
constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();
}  // namespace

TEST_CASE("bytes below a KiB are integers") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1) == "1 B");
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(1000) == "1000 B");
  CHECK(format_bytes(1023) == "1023 B");
}

TEST_CASE("bytes have three significant digits") {
  CHECK(format_bytes(kKi) == "1.00 KiB");
  CHECK(format_bytes(kKi + 5) == "1.00 KiB");
  CHECK(format_bytes(kKi + 6) == "1.01 KiB");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(2061584302) == "1.92 GiB");
  CHECK(format_bytes(42152755) == "40.2 MiB");
  CHECK(format_bytes(402 * kMi) == "402 MiB");
  CHECK(format_bytes(kTi) == "1.00 TiB");
  CHECK(format_bytes(kTi * 1024) == "1.00 PiB");
}

TEST_CASE("bytes change their number of decimals where they round") {
  CHECK(format_bytes(10234) == "9.99 KiB");
  CHECK(format_bytes(10235) == "10.0 KiB");  // 9.9951…
  CHECK(format_bytes(102348) == "99.9 KiB");
  CHECK(format_bytes(102349) == "100 KiB");  // 99.9502…
}

TEST_CASE("1000 to 1023 of a unit keep four digits, and what rounds to 1024 is promoted") {
  CHECK(format_bytes(1010 * kKi) == "1010 KiB");
  CHECK(format_bytes(1023 * kKi) == "1023 KiB");
  CHECK(format_bytes(1023 * kKi + 511) == "1023 KiB");
  CHECK(format_bytes(1023 * kKi + 512) == "1.00 MiB");
  CHECK(format_bytes(kMi - 1) == "1.00 MiB");
  CHECK(format_bytes(kGi - 1) == "1.00 GiB");
  CHECK(format_bytes(1023 * kGi + kGi / 2 - 1) == "1023 GiB");
  CHECK(format_bytes(1023 * kGi + kGi / 2) == "1.00 TiB");
}

TEST_CASE("the largest number of bytes") {
  CHECK(format_bytes(kLargest) == "more than 16.0 EiB");  // where sums stop
  CHECK(format_bytes(kLargest - 1) == "16.0 EiB");
  CHECK(format_bytes_exact(kLargest) == "18,446,744,073,709,551,615 B");
}

TEST_CASE("exact numbers have separators") {
  CHECK(format_count_exact(0) == "0");
  CHECK(format_count_exact(999) == "999");
  CHECK(format_count_exact(1000) == "1,000");
  CHECK(format_count_exact(999999) == "999,999");
  CHECK(format_count_exact(1000000) == "1,000,000");
  CHECK(format_bytes_exact(33205244) == "33,205,244 B");
}

TEST_CASE("counts are exact below a million") {
  CHECK(format_count(4118) == "4,118");
  CHECK(format_count(999999) == "999,999");
  CHECK(format_count(1000000) == "1.00 M");
  CHECK(format_counted(0, "block") == "0 blocks");
  CHECK(format_counted(1, "process") == "1 process");
  CHECK(format_counted(2, "process") == "2 processes");
  CHECK(format_counted(1, "entry") == "1 entry");
  CHECK(format_counted(60, "entry") == "60 entries");
  CHECK(format_counted(2, "day") == "2 days");
  CHECK(format_counted(18'400'123, "block") == "18.4 M blocks");
  CHECK(format_count(18400000) == "18.4 M");
  CHECK(format_count(999499999) == "999 M");
  CHECK(format_count(999500000) == "1.00 G");
  CHECK(format_count(kLargest) == "18.4 E");
}

TEST_CASE("moments have milliseconds") {
  CHECK(format_time(0) == "0 ns");
  CHECK(format_time(999) == "999 ns");
  CHECK(format_time(1000) == "1 µs");
  CHECK(format_time(999499) == "999 µs");
  CHECK(format_time(999500) == "1 ms");
  CHECK(format_time(812000000) == "812 ms");
  CHECK(format_time(999499999) == "999 ms");
  CHECK(format_time(999500000) == "1.000 s");
  CHECK(format_time(18204000000) == "18.204 s");
  CHECK(format_time(1204000000000) == "1,204.000 s");
  CHECK(format_time(kLargest) == "18,446,744,073.710 s");
}

TEST_CASE("lengths of time have three digits, then minutes and hours") {
  CHECK(format_duration(0) == "0 ns");
  CHECK(format_duration(812000000) == "812 ms");
  CHECK(format_duration(999600000) == "1.00 s");
  CHECK(format_duration(41800000000) == "41.8 s");
  CHECK(format_duration(99960000000) == "100 s");
  CHECK(format_duration(599400000000) == "599 s");
  CHECK(format_duration(599500000000) == "10 min 0 s");
  CHECK(format_duration(3599499999999) == "59 min 59 s");
  CHECK(format_duration(3599500000000) == "1 h 0 min");
  CHECK(format_duration(kLargest) == "5,124,095 h 34 min");
}

TEST_CASE("percents never claim all or nothing by rounding") {
  CHECK(format_percent({0, 10}) == "0 %");
  CHECK(format_percent({5, 0}) == "0 %");
  CHECK(format_percent({1, 100000}) == "<0.1 %");
  CHECK(format_percent({1, 1000}) == "0.1 %");
  CHECK(format_percent({63, 100}) == "63.0 %");
  CHECK(format_percent({99999, 100000}) == ">99.9 %");
  CHECK(format_percent({7, 7}) == "100 %");
  CHECK(format_percent({kLargest - 1, kLargest}) == ">99.9 %");
  CHECK(format_percent({3, 2}) == "150.0 %");
  CHECK(format_percent_rounded({61, 100}) == "61 %");
  CHECK(format_percent_rounded({1, 300}) == "<1 %");
  CHECK(format_percent_rounded({999, 1000}) == ">99 %");
  CHECK(format_percent_rounded({kLargest, kLargest}) == "100 %");
}

TEST_CASE("sizes are read with their units") {
  CHECK(parse_size("0").value() == 0);
  CHECK(parse_size("4096").value() == 4096);
  CHECK(parse_size("17B").value() == 17);
  CHECK(parse_size("512MiB").value() == 512 * kMi);
  CHECK(parse_size("512 MiB").value() == 512 * kMi);
  CHECK(parse_size("512MB").value() == 512000000);
  CHECK(parse_size("1kB").value() == 1000);
  CHECK(parse_size("1.5GiB").value() == kGi + kGi / 2);
  CHECK(parse_size("0.5B").value() == 0);
  CHECK(parse_size("18446744073709551615").value() == kLargest);
  CHECK(parse_size("15EiB").value() == 15 * kTi * 1024 * 1024);
}

TEST_CASE("a fraction of many zeros is less than a byte") {
  for (const size_t zeros : {20u, 39u, 40u, 128u, 1000u}) {
    CAPTURE(zeros);
    CHECK(parse_size("0." + std::string(zeros, '0') + "1EiB").value() == 0);
  }
}

TEST_CASE("an ambiguous unit is refused with both readings") {
  const Result<uint64_t> size = parse_size("512M");
  REQUIRE_FALSE(size.ok());
  CHECK(size.problem().what == "ambiguous '512M': write 512MiB (536,870,912) or 512MB (512,000,000)");
  CHECK(parse_size("1k").problem().what == "ambiguous '1k': write 1KiB (1,024) or 1kB (1,000)");
  CHECK(parse_size("1.5G").problem().what == "ambiguous '1.5G': write 1.5GiB (1,610,612,736) or 1.5GB (1,500,000,000)");
}

TEST_CASE("what is no size is refused") {
  for (const char* text :
       {"", " ", "MiB", "-1", "+1", "1e3", "1.", ".", "1..2", "1.2.3", "12 parsecs", "1  MiB", "1MiBs", "1KB",
        "18446744073709551616", "16EiB", "99999999999999999999999999999999999999999", "1 ", "0x10"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_size(text).ok());
  }
}

TEST_CASE("a change has a sign always") {
  CHECK(format_change_bytes({kGi, kGi + 215 * kMi}) == "+215 MiB");
  CHECK(format_change_bytes({2 * kMi, kMi}) == "−1.00 MiB");
  CHECK(format_change_bytes({17, 17}) == "±0");
  CHECK(format_change_bytes({0, kLargest}) == "+16.0 EiB");
  CHECK(format_change_bytes_exact({5000, 1}) == "−4,999 B");
  CHECK(format_change_count({0, 2104}) == "+2,104");
  CHECK(format_change_count({18'400'000, 0}) == "−18.4 M");
}

TEST_CASE("a change's percent is of its base") {
  CHECK(format_change_percent({1000, 1123}) == "+12.3 %");
  CHECK(format_change_percent({1000, 960}) == "−4.0 %");
  CHECK(format_change_percent({1'000'000, 1'000'001}) == "<0.1 %");
  CHECK(format_change_percent({1'000'001, 1'000'000}) == "<0.1 %");
  CHECK(format_change_percent({7, 7}) == "0 %");
  CHECK(format_change_percent({0, 0}) == "0 %");
  CHECK(format_change_percent({0, 7}) == "new");
  CHECK(format_change_percent({7, 0}) == "gone");
  CHECK(format_change_percent({1, 349}) == "+34,800 %");
  CHECK(format_change_percent({1, 999}) == "+99,800 %");
  CHECK(format_change_percent({1, 1'000}) == "×1,000");
  CHECK(format_change_percent({11, 146'047}) == "×13,277");
  CHECK(format_change_percent({1, kLargest}) == "×" + format_count(kLargest));
  CHECK(format_change_percent({kLargest, 1}) == "−100.0 %");
}

TEST_CASE("a factor says how many times as much, or what part is left") {
  CHECK(format_factor({100, 34'800}) == "348×");
  CHECK(format_factor({34'800, 100}) == "1/348×");
  CHECK(format_factor({100, 120}) == "1.20×");
  CHECK(format_factor({100, 50}) == "0.50×");
  CHECK(format_factor({1000, 999}) == "1.00×");
  CHECK(format_factor({100, 10}) == "1/10.0×");
  CHECK(format_factor({5, 5}) == "1.00×");
  CHECK(format_factor({0, 0}) == "1.00×");
  CHECK(format_factor({0, 5}) == "new");
  CHECK(format_factor({5, 0}) == "gone");
  CHECK(format_factor({1, kLargest}) == "18.4 E×");
}

TEST_CASE("a percentage is read with its sign") {
  const auto parsed = [](std::string_view text) {
    const std::optional<Ratio> ratio = parse_percent(text);
    return ratio ? std::to_string(ratio->part) + "/" + std::to_string(ratio->whole) : "nothing";
  };
  CHECK(parsed("3%") == "3/100");
  CHECK(parsed("3 %") == "3/100");
  CHECK(parsed("0.5%") == "5/1000");
  CHECK(parsed("0%") == "0/100");
  CHECK(parsed("250%") == "250/100");
  for (const char* text : {"", "3", "%", " %", "-3%", "+3%", "3.%", ".5%", "1.2.3%", "3 percent", "3  %", "1.1234567%",
                           "1234567890123%", "0x3%"}) {
    CAPTURE(text);
    CHECK(parsed(text) == "nothing");
  }
}

TEST_CASE("an average is an integer where it is one, else it has three digits") {
  CHECK(format_average({0, 0}) == "0");
  CHECK(format_average({3, 0}) == "0");
  CHECK(format_average({0, 7}) == "0");
  CHECK(format_average({34, 2}) == "17");
  CHECK(format_average({23, 15}) == "1.53");
  CHECK(format_average({86, 5}) == "17.2");
  CHECK(format_average({2001, 10}) == "200");
  CHECK(format_average({19'999, 10}) == "2,000");
  CHECK(format_average({9'999, 10}) == "1000");
  CHECK(format_average({1, 1'000}) == "<0.01");
  CHECK(format_average({kLargest, 1}) == "18.4 E");
}

TEST_CASE("durations have a number, a unit, and bounds") {
  constexpr DurationRange kRange = {10'000'000, 3'600'000'000'000};
  CHECK(parse_duration("10ms", kRange) == 10'000'000);
  CHECK(parse_duration("5s", kRange) == 5'000'000'000);
  CHECK(parse_duration("60min", kRange) == 3'600'000'000'000);
  CHECK(parse_duration("1h", kRange) == 3'600'000'000'000);
  for (const char* wrong : {"", "5", "s", "9ms", "2h", "61min", "-5s", "+5s", " 5s", "5 s", "5S", "1.5s", "5sec",
                            "99999999999999999999s", "18446744073709551615h"})
    CHECK_FALSE(parse_duration(wrong, kRange));
}
