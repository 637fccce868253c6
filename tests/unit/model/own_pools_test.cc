// tests/unit/model/own_pools_test.cc: whose pool it is, by what stands in stacks, and the setting that turns it off.
#include "cli/model/analysis/own_pools.h"

#include "cli/model/analysis/warnings.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace heapprof::cli;

namespace {

struct Call {
  std::string function;
  std::string module;
};

// One site of the device; the calls are innermost first.
void add_site(Profile* profile, const std::string& device_name, const std::vector<Call>& calls, uint64_t bytes) {
  if (profile->nodes.empty()) profile->nodes.emplace_back();
  Device* device = nullptr;
  for (Device& known : profile->devices) {
    if (known.name == device_name) device = &known;
  }
  if (device == nullptr) {
    device = &profile->devices.emplace_back();
    device->name = device_name;
  }
  uint32_t node = 0;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    Frame frame;
    frame.svma = 0x1000 + profile->frames.size();
    frame.function = call->function;
    frame.module = static_cast<uint32_t>(profile->modules.size());
    profile->modules.push_back({call->module, ""});
    profile->frames.push_back(frame);
    profile->nodes.push_back({node, static_cast<uint32_t>(profile->frames.size() - 1)});
    node = static_cast<uint32_t>(profile->nodes.size() - 1);
  }
  Site& site = device->sites.emplace_back();
  site.node = node;
  site.numbers.peak_bytes = bytes;
  device->totals.peak_bytes += bytes;
}

std::string command_of(const Profile& profile) {
  const std::vector<OwnPool> pools = find_own_pools(profile);
  return pools.empty() ? "" : pools[0].command;
}

const std::string kPhp = "/usr/bin/php8.2";
const std::string kGlib = "/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0.7400.6";

}  // namespace

TEST_CASE("pieces of PHP's allocator name the setting that turns it off") {
  Profile profile;
  profile.run.command = {"php", "a b.php"};
  add_site(&profile, "host", {{"main", kPhp}}, 1000);
  CHECK(command_of(profile).empty());
  add_site(&profile, "mapped", {{"", kPhp}, {"_emalloc_large", kPhp}, {"execute_ex", kPhp}}, 9000);
  REQUIRE(command_of(profile) == "USE_ZEND_ALLOC=0 heapprof run -- php 'a b.php'");
  CHECK(find_own_pools(profile)[0].peak_bytes == 9000);
  CHECK(find_own_pools(profile)[0].all_bytes == 10000);
  bool is_said = false;
  for (const Problem& warning : find_warnings(profile)) {
    is_said =
        is_said || (warning.id == "HP340" && warning.what.starts_with("90 % of the peak are pieces from which PHP"));
  }
  CHECK(is_said);
}

TEST_CASE("a pool that is small, of another module, or turned off is not named") {
  Profile small;
  add_site(&small, "host", {{"main", kPhp}}, 10'000);
  add_site(&small, "mapped", {{"_emalloc_large", kPhp}}, 900);
  CHECK(command_of(small).empty());
  Profile other;
  add_site(&other, "mapped", {{"_emalloc_large", "/opt/server"}}, 900);
  CHECK(command_of(other).empty());
  Profile off;  // each object is a block of the heap
  add_site(&off, "host", {{"_emalloc_large", kPhp}}, 900);
  CHECK(command_of(off).empty());
  Profile slices_off;
  add_site(&slices_off, "host", {{"g_malloc", kGlib}, {"g_slice_alloc", kGlib}}, 900);
  CHECK(command_of(slices_off).empty());
}

TEST_CASE("a call that takes pieces is known from one stack with a name") {
  Profile profile;
  add_site(&profile, "mapped", {{"", kPhp}, {"start_memory_manager", kPhp}}, 100);
  add_site(&profile, "mapped", {{"", kPhp}, {"concat_function", kPhp}}, 900);
  CHECK(find_own_pools(profile)[0].peak_bytes == 100);
  const uint32_t call = profile.nodes[profile.devices[0].sites[0].node].frame;
  profile.nodes[profile.devices[0].sites[1].node].frame = call;
  CHECK(find_own_pools(profile)[0].peak_bytes == 1000);
}

TEST_CASE("pieces of GLib's slices and of libstdc++'s pool are known") {
  Profile glib;
  add_site(&glib, "host", {{"", kGlib}, {"g_slice_alloc", kGlib}, {"load", "/opt/app"}}, 900);
  CHECK(command_of(glib).starts_with("G_SLICE=always-malloc heapprof run --"));
  Profile pool;
  add_site(&pool, "host",
           {{"operator new(unsigned long)", "/usr/lib/libstdc++.so.6"},
            {"__gnu_cxx::__pool_alloc_base::_M_refill(unsigned long)", "/usr/lib/libstdc++.so.6.0.30"},
            {"load", "/opt/app"}},
           900);
  CHECK(command_of(pool).starts_with("GLIBCXX_FORCE_NEW=1 heapprof run --"));
}
