// tests/unit/write/memory_viz_test.cc: the pickle of a snapshot for PyTorch's viewer: its opcodes, its numbers, its
// bytes. tests/integration/cuda/memory_viz.sh loads such files with Python.
#include "cli/write/encode/pickle_writer.h"
#include "cli/write/export/exports.h"
#include "tests/support/golden.h"
#include "tests/support/traced_profile.h"

#include <catch2/catch.hpp>

#include <map>
#include <string>

namespace heapprof::cli {
namespace {

std::string exported(const Profile& profile, const std::string& device) {
  StringSink sink;
  ExportView view;
  view.device = device;
  write_memory_viz(profile, view, &sink);
  return sink.text();
}

// How often each opcode comes, by walking the machine's program as the viewer does: it knows no others.
std::map<unsigned char, size_t> opcodes_of(const std::string& pickle) {
  std::map<unsigned char, size_t> counts;
  size_t at = 0;
  const auto byte = [&] { return static_cast<unsigned char>(pickle.at(at++)); };
  while (true) {
    const unsigned char opcode = byte();
    ++counts[opcode];
    switch (opcode) {
      case '.': REQUIRE(at == pickle.size()); return counts;
      case '}':
      case ']':
      case '(':
      case 'u':
      case 'e':
      case 0x86:
      case 0x88:
      case 0x89: break;
      case 0x80: REQUIRE(byte() == 4); break;
      case 'K':
      case 'q':
      case 'h': at += 1; break;
      case 'M': at += 2; break;
      case 'J':
      case 'r':
      case 'j': at += 4; break;
      case 0x8a: {
        const unsigned char bytes = byte();
        REQUIRE(bytes <= 8);
        at += bytes;
        REQUIRE(static_cast<unsigned char>(pickle.at(at - 1)) < 0x80);  // not negative
        break;
      }
      case 0x8c: at += byte(); break;
      case 'X': {
        size_t bytes = 0;
        for (int i = 0; i < 4; ++i) bytes |= static_cast<size_t>(byte()) << (8 * i);
        at += bytes;
        break;
      }
      default: FAIL("opcode " << int{opcode});
    }
  }
}

TEST_CASE("a snapshot for PyTorch's viewer") {
  const std::string pickle = exported(test::traced_profile(), "");
  opcodes_of(pickle);
  test::check_golden("export/traced.pickle", pickle);
  CHECK(exported(test::traced_profile(), "") == pickle);
}

TEST_CASE("a device alone is in the snapshot with its tensors") {
  const std::string all = exported(test::traced_profile(), "");
  const std::string one = exported(test::traced_profile(), "cuda:0");
  CHECK(all.find("pinned") != std::string::npos);
  CHECK(one.find("pinned") == std::string::npos);
  CHECK(one.find("user_metadata") != std::string::npos);
}

TEST_CASE("numbers and lists of a pickle are as small as its readers want them") {
  StringSink sink;
  PickleWriter pickle(&sink);
  pickle.begin_list();
  for (const uint64_t number : {uint64_t{255}, uint64_t{256}, uint64_t{65535}, uint64_t{65536}, uint64_t{0x7fffffff},
                                uint64_t{0x80000000}, uint64_t{0xff00000000}, (uint64_t{1} << 63) - 1}) {
    pickle.next_element();
    pickle.number(number);
  }
  for (int i = 0; i < 2500; ++i) {
    pickle.next_element();
    pickle.text(std::string(300, 'x') + std::to_string(i % 300));
  }
  pickle.next_element();
  pickle.minus_one();
  pickle.next_element();
  pickle.pair(0, 1);
  pickle.end_list();
  pickle.finish();
  std::map<unsigned char, size_t> counts = opcodes_of(sink.text());
  CHECK(counts['K'] == 3);
  CHECK(counts[0x86] == 1);
  CHECK(counts['M'] == 2);
  CHECK(counts['J'] == 3);
  CHECK(counts[0x8a] == 3);
  CHECK(counts['e'] == 3);
  CHECK(counts['X'] == 300);
  CHECK(counts['r'] == 44);
  CHECK(counts['h'] + counts['j'] == 2200);
}

}  // namespace
}  // namespace heapprof::cli
