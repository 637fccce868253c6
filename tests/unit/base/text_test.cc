// tests/unit/base/text_test.cc: hostile text stays harmless, wide text stays in its column, numbers stay whole.
#include "cli/base/text.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

TEST_CASE("control characters cannot reach the terminal") {
  CHECK(escape_controls("plain") == "plain");
  CHECK(escape_controls("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(escape_controls("a\nb\tc\x7f") == "a\\x0ab\\x09c\\x7f");
  CHECK(escape_controls(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(escape_controls("\xc2\x9b"
                        "31m") == "\\x9b31m");  // CSI as one C1 character
  CHECK(escape_controls("\xe2\x80\xae"
                        "gpj.exe") == "\\u202egpj.exe");
  CHECK(escape_controls("größe ✓") == "größe ✓");
}

TEST_CASE("bytes that are no UTF-8 are shown as bytes") {
  CHECK(escape_controls("a\xff") == "a\\xff");
  CHECK(escape_controls("\xc3") == "\\xc3");                             // cut off
  CHECK(escape_controls("\xc0\x80") == "\\xc0\\x80");                    // overlong
  CHECK(escape_controls("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(escape_controls("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
}

TEST_CASE("display width counts columns") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("größe") == 5);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("e\xcc\x81") == 1);  // combining accent
  CHECK(display_width("▁▂█") == 3);
}

TEST_CASE("padding counts columns") {
  CHECK(pad_left("日", 4) == "  日");
  CHECK(pad_right("日", 4) == "日  ");
  CHECK(pad_left("abcdef", 3) == "abcdef");
}

TEST_CASE("ASCII replacements keep the width") {
  for (const char* text : {"a ← b", "├─ f", "▁▂▃▄▅▆▇█", "1 µs", "日本", "…", "±0 → 2 ▲▼"}) {
    CAPTURE(text);
    CHECK(display_width(to_ascii(text)) == display_width(text));
    for (const char c : to_ascii(text)) CHECK(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("the middle goes first") {
  CHECK(shorten_middle("abcdefghij", 10) == "abcdefghij");
  CHECK(shorten_middle("abcdefghij", 5) == "ab…ij");
  CHECK(shorten_middle("abcdefghij", 1) == "…");
  CHECK(shorten_middle("abc", 0).empty());
  CHECK(display_width(shorten_middle("日本語日本語日本語", 7)) <= 7);
}

TEST_CASE("a path loses its middle, never its line") {
  CHECK(shorten_path("src/index.cc:212", 20) == "src/index.cc:212");
  CHECK(shorten_path("/home/me/project/src/deep/index.cc:212", 24) == "…/src/deep/index.cc:212");
  CHECK(shorten_path("src/a/b/c/d/index.cc:212", 20) == "…/b/c/d/index.cc:212");
  CHECK(shorten_path("src/a_longer_folder/index.cc:212", 20) == "src/…/index.cc:212");
  CHECK(shorten_path("src/a/b/c/d/index.cc:212", 12) == "index.cc:212");
  CHECK(shorten_path("a_very_long_file_name_indeed.cc:12345", 16) == "a_ve…ed.cc:12345");
}

TEST_CASE("a shortened path keeps within its columns and keeps the number") {
  const std::string path = "/usr/include/c++/12/bits/日本語/some_header_with_a_long_name.tcc:98765";
  for (size_t columns = 8; columns < 90; ++columns) {
    CAPTURE(columns);
    const std::string text = shorten_path(path, columns);
    CHECK(display_width(text) <= columns);
    CHECK(text.find(":98765") != std::string::npos);
  }
}

TEST_CASE("a line wider than the terminal goes on below, and no number loses its unit") {
  CHECK(fitted("short\n", 10) == "short\n");
  CHECK(fitted("", 10).empty());
  CHECK(fitted("one two three four\nfive\n", 10) == "one two\n  three\n  four\nfive\n");
  CHECK(fitted("  held by  1.21 GiB of it", 16) == "  held by\n    1.21 GiB of\n    it");
  CHECK(fitted("a_word_that_has_no_blank_in_it\n", 10) == "a_word_that_has_no_blank_in_it\n");
  CHECK(fitted("a a_word_that_has_no_blank_in_it b\n", 10) == "a\n  a_word_that_has_no_blank_in_it\n  b\n");
  CHECK(fitted("\x1b[1mbold words here\x1b[0m\n", 10) == "\x1b[1mbold words\n  here\x1b[0m\n");
  CHECK(fitted("日本 日本 日本\n", 9) == "日本 日本\n  日本\n");
  CHECK(fitted("\n\n", 4) == "\n\n");
  CHECK(fitted("x\x1b", 1) == "x\x1b");
  const std::string words = "a bb ccc dddd  1.00 MiB \xff 12 % ▁▂▃ eeeee  ff g\n";
  for (size_t columns = 12; columns < 60; ++columns) {
    std::string joined;
    const std::string text = fitted(words, columns);
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      CHECK(display_width(text.substr(at, end - at)) <= columns);
      joined += text.substr(at, end - at) + " ";
      at = end + 1;
    }
    const auto without_blanks = [](std::string from) {
      std::erase(from, ' ');
      std::erase(from, '\n');
      return from;
    };
    CHECK(without_blanks(joined) == without_blanks(words));
    CHECK(text.find("1.00 MiB") != std::string::npos);
    CHECK(text.find("12 %") != std::string::npos);
  }
}

TEST_CASE("a command is pasted from two lines where one has no room") {
  CHECK(command_line("next   ", "heapprof report", "x.json", 40) == "next   heapprof report x.json\n");
  CHECK(command_line("next   ", "heapprof report", "heapprof.render.31337.json", 40) ==
        "next   heapprof report \\\n    heapprof.render.31337.json\n");
}
