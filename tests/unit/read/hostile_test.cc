// tests/unit/read/hostile_test.cc: what is no profile is told apart from a damaged one, and nothing crashes.
#include "tests/support/sample_profile.h"
#include "tests/unit/read/helpers.h"

#include <catch2/catch.hpp>

#include <random>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

Problem problem_of(const std::string& text) {
  const Result<Profile> profile = test::read_text(text);
  REQUIRE_FALSE(profile.ok());
  CHECK(profile.problem().exit_code == 3);
  CHECK(profile.problem().what.find("test.json") != std::string::npos);
  return profile.problem();
}

std::string sound() { return test::written(test::assembled(test::small_sample())); }

}  // namespace

TEST_CASE("a missing file, a directory and an unreadable file are named") {
  for (const char* path : {"/nonexistent/x.json", "/tmp", "/proc/self/mem"}) {
    const Result<Profile> profile = read_profile(path);
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.problem().exit_code == 3);
    CHECK(profile.problem().what.find(path) != std::string::npos);
  }
  CHECK(read_profile("/tmp").problem().what.find("directory") != std::string::npos);
}

TEST_CASE("what is no JSON") {
  for (const char* text : {"hello",
                           "{",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "{\"a\":1,",
                           "{\"a\":01}",
                           "{\"a\":1.}",
                           "{\"a\":1e}",
                           "{\"a\":tru}",
                           "{\"a\":\"\n\"}",
                           "{\"a\":\"\\x\"}",
                           "{\"a\":\"\\ud800\"}",
                           "{\"a\":\"\\udc00\"}",
                           "{\"a\":\"\xff\"}",
                           "{\"a\":\"\xc0\x80\"}",
                           "{\"a\":\"\xed\xa0\x80\"}",
                           "{\"a\":[1,]}",
                           "{\"a\":1}x",
                           "{'a':1}",
                           "{\"a\":-}"}) {
    INFO(text);
    const std::string id = problem_of(text).id;
    CHECK((id == "HP061" || id == "HP062"));
  }
  CHECK(problem_of("").id == "HP062");
  CHECK(problem_of("{\"a\":[1,").id == "HP061");
}

TEST_CASE("what is JSON, but no profile") {
  for (const char* text : {"[]", "1", "\"x\"", "null", "{}", "{\"dhatFileVersion\":1}", "{\"dhatFileVersion\":2}",
                           "{\"pps\":[],\"ftbl\":[]}"}) {
    INFO(text);
    CHECK(problem_of(text).id == "HP062");
  }
}

TEST_CASE("later versions are refused as such") {
  CHECK(problem_of(test::replaced(sound(), "\"dhatFileVersion\":2", "\"dhatFileVersion\":3")).id == "HP063");
  CHECK(problem_of(test::replaced(sound(), "\"heapprof\":{\"version\":1", "\"heapprof\":{\"version\":2")).id ==
        "HP063");
  CHECK(problem_of(test::replaced(sound(), "\"heapprof\":{\"version\":1", "\"heapprof\":{\"version\":0")).id ==
        "HP064");
  CHECK(problem_of(test::replaced(sound(), "\"heapprof\":{\"version\":1,", "\"heapprof\":{")).id == "HP064");
}

TEST_CASE("damaged profiles are named as damaged") {
  struct Damage {
    const char* from;
    const char* to;
  };
  const Damage damages[] = {
      {"\"tb\":12096", "\"tb\":12097"},  // the sum
      {"\"tb\":12096", "\"tb\":-1"},     // negative
      {"\"tb\":12096", "\"tb\":1e3"},    // no integer
      {"\"tb\":12096", "\"tb\":1.5"},
      {"\"tb\":12096", "\"tb\":\"12096\""},
      {"\"tb\":12096", "\"tb\":99999999999999999999999"},  // beyond 64 bits
      {"\"tb\":12096", "\"tb\":12096,\"tb\":12096"},       // twice
      {"\"tb\":12096,", ""},                               // missing
      {"\"gb\":8000,", ""},
      {"\"fs\":[5,4,2,1]", "\"fs\":[5,4,2,99]"},  // beyond the table
      {"\"fs\":[5,4,2,1]", "\"fs\":[5,4,2,0]"},   // the root
      {"\"fs\":[5,4,2,1]", "\"fs\":[5,4,2,4294967297]"},
      {"\"fs\":[5,4,2,1]", "\"fs\":[3,2,1]"},  // a repeated location
      {"\"fs\":[5,4,2,1]", "\"fs\":{}"},
      {"\"tg\":6000000", "\"tgx\":6000000"},
      {"\"bklt\":true", "\"bklt\":1"},
      {"\"ftbl\":[\"[root]\"", "\"ftbl\":[], \"x\":[\"[root]\""},
      {"\"ftbl\":[", "\"ftbl\":[7,"},
      {"\"pid\":31337,\"te\"", "\"pid\":31337,\"pid\":31337,\"te\""},
      {"\"module\":[2,0,1,0,0,-1]", "\"module\":[2,0,1,0,0]"},
      {"\"module\":[2,0,1,0,0,-1]", "\"module\":[2,0,1,0,0,3]"},
      {"\"module\":[2,0,1,0,0,-1]", "\"module\":[2,0,1,0,0,-2]"},
      {"\"inlined\":[4]", "\"inlined\":[6]"},
      {"\"exact\":[]", "\"exact\":[{\"frame\":77}]"},
      {"\"exact\":[]", "\"exact\":[{\"frame\":4294967296}]"},
      {"\"temporary_count\":[0,0,1,0]", "\"temporary_count\":[0,0,1]"},
      {"\"temporary_count\":[0,0,1,0]", "\"temporary_count\":[0,0,0,0]"},
      {"\"block_sizes_count\":[[12,1,13,1],11,7,3]", "\"block_sizes_count\":[[12,1,13,1],11,7]"},
      {"\"block_sizes_count\":[[12,1,13,1],11,7,3]", "\"block_sizes_count\":[[12,1,13],11,7,3]"},
      {"\"block_sizes_count\":[[12,1,13,1],11,7,3]", "\"block_sizes_count\":[[12,1,13,1],11,7,32]"},
      {"\"block_sizes_count\":[[12,1,13,1],11,7,3]", "\"block_sizes_count\":[[12,1,13,1],11,7,2]"},
      {"\"block_sizes_count\":[[12,1,13,1],11,7,3]", "\"block_sizes_count\":[[12,1,13,1],11,7,4294967299]"},
      {"\"block_sizes_count\":[[12,1,13,1],11,7,3]", "\"block_sizes_count\":[[12,1,28,1],11,7,3]"},  // above 1 GiB
      {"\"block_sizes_count\":[[12,1,13,1],11,7,3]", "\"sizes_count\":[[4,1,5,1],4,2,12]"},
      {"\"block_sizes_count\":[[12,1,13,1],11,7,3]",
       "\"sizes_count\":[[4,1,5,1],4,2,0],\"block_sizes_count\":[[12,1,13,1],11,7,3]"},
      {"\"truncated\":[3]", "\"truncated\":[4]"},
      {"\"grouped\":[]", "\"grouped\":[1]"},
      {"\"grouped\":[]", "\"grouped\":[],\"resized\":[0],\"resized_count\":[1]"},
      {"\"grouped\":[]", "\"grouped\":[],\"resized\":[4],\"resized_count\":[1],\"moved_bytes\":[0]"},
      {"\"grouped\":[]", "\"grouped\":[],\"resized\":[0],\"resized_count\":[9],\"moved_bytes\":[0]"},
      {"\"grouped\":[]", "\"grouped\":[],\"resized\":[0],\"resized_count\":[1],\"moved_bytes\":[99999]"},
      {"\"grouped\":[]", "\"grouped\":[],\"sampled\":[0],\"live_bytes\":[]"},
      {"\"grouped\":[]", "\"grouped\":[],\"sampled\":[4],\"live_bytes\":[[]]"},
      {"\"grouped\":[]", "\"grouped\":[],\"sampled\":[0],\"live_bytes\":[[1]]"},  // of no moment
      {"\"grouped\":[]", "\"grouped\":[],\"sampled\":[0],\"live_bytes\":[1]"},
      {"\"timeline\":{", "\"moments_ns\":[2,1],\"timeline\":{"},
      {"\"grouped\":[]", "\"grouped\":[],\"stepped\":[0],\"steps\":[]"},
      {"\"grouped\":[]", "\"grouped\":[],\"stepped\":[4],\"steps\":[[]]"},
      {"\"grouped\":[]", "\"grouped\":[],\"stepped\":[0],\"steps\":[[0,1]]"},
      {"\"grouped\":[]", "\"grouped\":[],\"stepped\":[0],\"steps\":[[0,0,0]]"},  // of no snapshot
      {"\"grouped\":[]", "\"grouped\":[],\"stepped\":[0],\"steps\":[[4294967296,0,0]]"},
      {"\"grouped\":[]", "\"grouped\":[],\"stepped\":[0,0],\"steps\":[[],[]]"},
      {"\"timeline\":{", "\"moments_ns\":[99999999999999],\"timeline\":{"},
      {"\"beyond_doubles\":[]", "\"beyond_doubles\":[0]"},
      {"\"exact_numbers\":[]", "\"exact_numbers\":[[1,2]]"},
      {"\"dialect\":\"heapprof\"", "\"dialect\":\"other\""},
      {"\"max_bytes\":[0,", "\"max_bytes\":["},
      {"\"run\":{", "\"run\":[],\"x\":{"},
      {"\"image\":0", "\"image\":4294967296"},
      {"\"status\":0", "\"status\":3000000000"},
      {"\"devices\":[", "\"devices\":[],\"x\":["},
      {"\"devices\":[{", "\"devices\":[{\"pps\":[],"},
      {"\"complete\":true", "\"complete\":false"},
  };
  for (const Damage& damage : damages) {
    INFO(damage.from << " -> " << damage.to);
    CHECK(problem_of(test::replaced(sound(), damage.from, damage.to)).id == "HP064");
  }
}

TEST_CASE("deep nesting is refused, not followed") {
  std::string text = "{\"x\":";
  for (int i = 0; i < 100'000; ++i) text += "[";
  CHECK(problem_of(text).what.find("64") != std::string::npos);
}

TEST_CASE("names with control characters come out without them") {
  const Profile profile = test::must_read(test::replaced(sound(), "0x113F: main", "0x113F: m\\u001b[31main"));
  CHECK(std::any_of(profile.frames.begin(), profile.frames.end(),
                    [](const Frame& frame) { return frame.function == "m\\x1b[31main"; }));
}

TEST_CASE("a file that ends anywhere is no profile") {
  const std::string text = sound();
  for (size_t length = 0; length + 2 < text.size(); length += length < 300 ? 1 : 37) {
    TextSource source(std::string_view(text).substr(0, length));
    INFO(length);
    CHECK_FALSE(read_profile(&source, "test.json").ok());
  }
}

TEST_CASE("a file in pieces of any size reads the same") {
  struct Pieces : ByteSource {
    std::string_view text;
    size_t size = 1;
    std::string_view next() override {
      const std::string_view piece = text.substr(0, size);
      text.remove_prefix(piece.size());
      return piece;
    }
  };
  const std::string text = test::written(test::assembled(test::hostile_sample()));
  for (const size_t size : {1, 2, 3, 7, 64}) {
    Pieces pieces;
    pieces.text = text;
    pieces.size = size;
    const Result<Profile> profile = read_profile(&pieces, "test.json");
    REQUIRE(profile.ok());
    CHECK(test::written(*profile) == text);
  }
}

TEST_CASE("random damage never crashes, and what is accepted is written again") {
  std::mt19937 random(20261120);
  const std::string text = sound();
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = text;
    for (uint32_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0: damaged[at] = static_cast<char>(random()); break;
        case 1: damaged.erase(at, 1 + random() % 9); break;
        case 2: damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 20)); break;
        default: damaged[at] = "0123456789{}[],:\"-"[random() % 18];
      }
    }
    const Result<Profile> profile = test::read_text(damaged);
    if (profile.ok()) CHECK(test::read_text(test::written(*profile)).ok());
  }
}
