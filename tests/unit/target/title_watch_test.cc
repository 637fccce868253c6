// tests/unit/target/title_watch_test.cc: what is a title, whose it is, and that one is found which comes later.
#include "cli/target/title_watch.h"

#include "cli/target/process_facts.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace heapprof::cli {
namespace {

TEST_CASE("a title is another first word") {
  CHECK(title_of("nginx: worker process", "nginx") == "nginx: worker process");
  CHECK(title_of("title by Perl      ", "perl") == "title by Perl");
  CHECK(title_of(std::string(1000, 'x'), "a") == std::string(WatchedTitle::kMostBytes, 'x'));
  CHECK(title_of(std::string(WatchedTitle::kMostBytes - 1, 'x') + "ä", "a") ==
        std::string(WatchedTitle::kMostBytes - 1, 'x'));
}

TEST_CASE("a first word that was cut is not a title, nor is one of which nothing is known") {
  CHECK(title_of("mysql", "mysql").empty());
  CHECK(title_of("/usr/bin", "/usr/bin/server").empty());
  CHECK(title_of("", "a").empty());
  CHECK(title_of("a", "").empty());
  CHECK(title_of("   ", "a").empty());
}

TEST_CASE("words of another process or image are not its title") {
  const ProcessLook look = look_at(getpid());
  const std::string word = process_first_word(getpid());
  REQUIRE_FALSE(word.empty());
  const auto title = [](const ProcessLook& then, bool is_fork, const std::string& before) {
    WatchedTitle watched(getpid(), then, is_fork, before);
    watched.look();
    return watched.get();
  };
  CHECK(title(look, false, "before") == word);
  CHECK(title(look, false, word).empty());
  CHECK(title(look, true, "before").empty());  // it has called exec
  ProcessLook other = look;
  ++other.image.stack_start_avma;
  CHECK(title(other, false, "before").empty());
  other = look;
  ++other.start_ticks;
  CHECK(title(other, false, "before").empty());
}

TEST_CASE("a title is found, and stays when nothing is watched any more") {
  const std::string word = process_first_word(getpid());
  std::shared_ptr<const WatchedTitle> watched;
  {
    TitleWatch watch;
    watch.add(getpid(), look_at(getpid()), false, "before");  // not held
    watched = watch.add(getpid(), look_at(getpid()), false, "before");
    REQUIRE(watched != nullptr);
    for (int i = 0; i < 30'000 && watched->get() != word; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(watched->get() == word);
}

}  // namespace
}  // namespace heapprof::cli
