// tests/unit/read/json_pull_test.cc: strings, integers, errors and skipped values of the JSON reader.
#include "cli/read/json_pull.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

TEST_CASE("strings with every escape") {
  TextSource source("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00b5\\u20ac\\ud83d\\ude00\\u0000z\"");
  JsonPull json(&source);
  std::string text;
  REQUIRE(json.read_string(&text));
  CHECK(text == std::string("a\"\\/\b\f\n\r\tA\u00b5\u20ac\U0001F600\0z", 21));
  CHECK(json.expect_end());
}

TEST_CASE("integers up to their limits, and not beyond") {
  TextSource source("[18446744073709551615,0,-9223372036854775807,18446744073709551616]");
  JsonPull json(&source);
  uint64_t value = 1;
  int64_t number = 0;
  REQUIRE(json.begin_array());
  REQUIRE(json.next_element());
  CHECK((json.read_unsigned(&value) && value == UINT64_MAX));
  REQUIRE(json.next_element());
  CHECK((json.read_unsigned(&value) && value == 0));
  REQUIRE(json.next_element());
  CHECK((json.read_signed(&number) && number == -INT64_MAX));
  REQUIRE(json.next_element());
  CHECK_FALSE(json.read_unsigned(&value));
  CHECK(json.failed());
  CHECK_FALSE(json.next_element());
}

TEST_CASE("an error stays, with its place") {
  TextSource source("{\"a\": x}");
  JsonPull json(&source);
  std::string key;
  REQUIRE(json.begin_object());
  REQUIRE(json.next_key(&key));
  CHECK(key == "a");
  CHECK_FALSE(json.skip_value());
  CHECK(json.is_syntax_error());
  CHECK(json.offset_bytes() == 6);
  const std::string error = json.error();
  CHECK_FALSE(json.next_key(&key));
  CHECK_FALSE(json.fail("another"));
  CHECK(json.error() == error);
}

TEST_CASE("every kind of value can be skipped") {
  TextSource source(" {\"a\":[1,-2.5e+3,true,false,null,\"x\",{},[],{\"b\":[[]]}] , \"c\":0}\t\n");
  JsonPull json(&source);
  CHECK(json.skip_value());
  CHECK(json.expect_end());
}
