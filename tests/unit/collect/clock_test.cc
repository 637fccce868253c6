// tests/unit/collect/clock_test.cc: where the time stamp counter is trusted, by what the kernel lists.
#include "cli/collect/clock.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

TEST_CASE("the counter is trusted where the kernel uses it") {
  CHECK(is_counter_trusted(" tsc ", " tsc hpet acpi_pm "));
  CHECK(is_counter_trusted(" tsc ", " "));
}

TEST_CASE("a guest with its host's clock takes the counter if its kernel could") {
  CHECK(is_counter_trusted(" kvm-clock ", " kvm-clock tsc acpi_pm "));
  CHECK(is_counter_trusted(" hyperv_clocksource_tsc_page ", " hyperv_clocksource_tsc_page tsc "));
  CHECK(is_counter_trusted(" xen ", " xen tsc hpet "));
}

TEST_CASE("the counter is not trusted where the kernel found fault with it") {
  CHECK_FALSE(is_counter_trusted(" kvm-clock ", " kvm-clock acpi_pm "));            // its cores' counters differ
  CHECK_FALSE(is_counter_trusted(" kvm-clock ", " kvm-clock tsc-early acpi_pm "));  // it was not tested yet
  CHECK_FALSE(is_counter_trusted(" kvm-clock ", " kvm-clock tsc jiffies "));  // the list has what is unstable, too
  CHECK_FALSE(is_counter_trusted(" kvm-clock ", " kvm-clock refined-jiffies tsc "));
}

TEST_CASE("the counter is not trusted where somebody chose another clock of the machine's own") {
  CHECK_FALSE(is_counter_trusted(" hpet ", " tsc hpet acpi_pm "));
  CHECK_FALSE(is_counter_trusted(" acpi_pm ", " kvm-clock tsc acpi_pm "));
  CHECK_FALSE(is_counter_trusted(" ", " tsc "));  // there is no such file
}

}  // namespace
}  // namespace heapprof::cli
