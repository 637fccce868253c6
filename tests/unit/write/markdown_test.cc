// tests/unit/write/markdown_test.cc: names in Markdown: nothing of them is taken for markup, a tag or a mention.
#include "cli/write/encode/markdown.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

TEST_CASE("nothing of a name is taken for markup, a tag or a mention") {
  CHECK(markdown_text("operator<< (a|b) `x` *p_q [@all] #1 ~&\\") ==
        "operator&lt;&lt; (a\\|b) \\`x\\` \\*p\\_q \\[&#64;all\\] \\#1 \\~&amp;\\\\");
  CHECK(markdown_text("") == "");
}

TEST_CASE("code keeps every character of a name") {
  CHECK(markdown_code("a<b>|c_d") == "`a<b>\\|c_d`");
  CHECK(markdown_code("a|b", Where::kText) == "`a|b`");
  CHECK(markdown_code("a`b``") == "``` a`b`` ```");
  CHECK(markdown_code("") == "");
}
