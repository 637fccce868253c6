// tests/unit/model/frame_text_test.cc: a frame as text, and the frames of Valgrind and dhat-rs taken apart.
#include "cli/model/profile/frame_text.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

Profile with_module(const std::string& path) {
  Profile profile;
  profile.modules = {{path, ""}};
  return profile;
}

}  // namespace

TEST_CASE("a frame's text says what is known") {
  const Profile profile = with_module("/usr/lib/libx.so.1");
  CHECK(frame_text(profile, {0x11a4, "build(int)", "src/a.cc", 212, 0, false}) == "0x11A4: build(int) (src/a.cc:212)");
  CHECK(frame_text(profile, {0x11a4, "build(int)", "", 0, 0, false}) == "0x11A4: build(int) (in /usr/lib/libx.so.1)");
  CHECK(frame_text(profile, {0x11a4, "", "", 0, 0, false}) == "0x11A4: ??? (in /usr/lib/libx.so.1)");
  CHECK(frame_text(profile, {0x7fff1000, "", "", 0, kNoModule, false}) == "0x7FFF1000: ???");
  CHECK(frame_text(profile, {0, "[small sites]", "", 0, kNoModule, false}) == "[small sites]");
}

TEST_CASE("frames as Valgrind writes them are taken apart") {
  const ParsedFrame line = parse_frame_text("0x109169: f(int (*)(int)) (t.c:3)", false);
  CHECK(line.svma == 0x109169);
  CHECK(line.function == "f(int (*)(int))");
  CHECK(line.file == "t.c");
  CHECK(line.line == 3);
  CHECK(line.module.empty());
  const ParsedFrame module = parse_frame_text("0x48417B4: malloc (in /usr/libexec/v.so)", false);
  CHECK(module.function == "malloc");
  CHECK(module.module == "/usr/libexec/v.so");
  CHECK(module.file.empty());
  const ParsedFrame unknown = parse_frame_text("0x4A1: ???", false);
  CHECK(unknown.svma == 0x4a1);
  CHECK(unknown.function.empty());
}

TEST_CASE("frames as dhat-rs writes them lose their column") {
  const ParsedFrame frame = parse_frame_text("0x10a5: <alloc::Vec<T> as X>::from (alloc/src/vec.rs:226:9)", true);
  CHECK(frame.function == "<alloc::Vec<T> as X>::from");
  CHECK(frame.file == "alloc/src/vec.rs");
  CHECK(frame.line == 226);
}

TEST_CASE("text that has not the form is a name") {
  for (const char* text : {"", "x", "0x", "0xg: y", "0x1:y", " (a:1)", "f (a:)", "f (in )", "f (:1)",
                           "f (a:99999999999)", "f (a:1", "0x11112222333344445: f"}) {
    const ParsedFrame frame = parse_frame_text(text, false);
    CHECK(frame.function == text);
    CHECK(frame.svma == 0);
    CHECK(frame.file.empty());
    CHECK(frame.module.empty());
  }
}
