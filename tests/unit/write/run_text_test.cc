// tests/unit/write/run_text_test.cc: what is said of a process that was attached to, and in which order devices stand.
#include "cli/write/text/run_text.h"

#include "cli/write/report/device_choice.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace heapprof::cli;
using heapprof::test::scene_profile;

namespace {

// The devices that are shown, of a profile that has them in that order with those peaks.
std::string shown(const std::vector<std::pair<std::string, uint64_t>>& devices) {
  Profile profile = scene_profile();
  profile.devices.clear();
  for (const auto& [name, peak_bytes] : devices) {
    Device& device = profile.devices.emplace_back();
    device.name = name;
    device.totals.peak_bytes = peak_bytes;
  }
  std::string names;
  for (const Device* device : choose_devices(profile).shown) names += (names.empty() ? "" : " ") + device->name;
  return names;
}

}  // namespace

TEST_CASE("of a process that was attached to it is said what its numbers leave out") {
  Profile profile = scene_profile();
  CHECK(attached_line(profile).empty());
  profile.run.is_attached = true;
  CHECK(attached_line(profile) == "attached to it while it ran: blocks of before are not counted\n");
  profile.run.counters.inherited_frees = 8'376;
  CHECK(attached_line(profile) ==
        "attached to it while it ran: blocks of before are not counted; 8,376 of them were freed since\n");
}

TEST_CASE("the largest device comes first, and parts stand behind their device") {
  CHECK(shown({{"host", 100}, {"cuda:0", 300}, {"mapped", 200}}) == "cuda:0 mapped host");
  CHECK(shown({{"host", 1}, {"cuda:0", 300}, {"cuda:1", 300}, {"cuda:0/tensors", 200}, {"cuda:1/tensors", 250}}) ==
        "cuda:0 cuda:0/tensors cuda:1 cuda:1/tensors host");
  CHECK(shown({{"host", 50}, {"mapped", 60}, {"python", 90}}) == "mapped python host");
}

TEST_CASE("a command that is too long loses its folder, and a title none of its words to a slash further on") {
  CHECK(short_command({"/usr/local/bin/render", "scene.usd"}, 80) == "/usr/local/bin/render scene.usd");
  CHECK(short_command({"/usr/local/bin/render", "scene.usd"}, 20) == "render scene.usd");
  CHECK(short_command({"nginx: worker process /usr/sbin/nginx -c /etc/nginx.conf"}, 40).find("nginx: worker") == 1);
  CHECK(short_command({"/usr/lib/chromium/chromium --type=renderer --lang=en"}, 45) ==
        "'chromium --type=renderer --lang=en'");
}
