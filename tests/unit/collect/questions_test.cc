// tests/unit/collect/questions_test.cc: an answer counts what was published before the question, and hostile questions
// get one, too.
#include "cli/collect/questions.h"

#include "cli/collect/process_collector.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cstring>

namespace heapprof::cli {
namespace {

using test::FakeAgent;
using test::RingBuilder;
using State = wire::QuestionState;

constexpr uint64_t kPatienceNs = 3'600'000'000'000;

// A program that asks, and a collector that answers.
struct Session {
  Session() {
    CollectorOptions options;
    options.clock_mode = wire::ClockMode::kSequence;
    options.patience_ns = kPatienceNs;
    auto created = ProcessCollector::create(options);
    REQUIRE(created.ok());
    collector = std::move(created).value();
    agent = std::make_unique<FakeAgent>(collector->arena_fd());
    collector->start(wire::Hello{}, {::getpid(), false, "/proc/self/exe"});
  }
  wire::Question& slot(uint32_t index) {
    return reinterpret_cast<wire::Question*>(reinterpret_cast<char*>(&agent->control()) + wire::kQuestionsOff)[index];
  }
  wire::Question& ask(uint32_t index, wire::QuestionKind kind, const char* device, uint32_t ring = 0,
                      uint32_t thread_id = 0) {
    wire::Question& question = slot(index);
    question.kind = kind;
    question.ring = ring;
    question.thread_id = thread_id;
    std::strncpy(question.device, device, sizeof question.device);  // a long one without an end
    question.word.store(wire::question_word(++ticket, State::kAsked), std::memory_order_release);
    agent->control().questions_asked.fetch_add(1);
    return question;
  }
  State state(const wire::Question& question) const { return wire::question_state(question.word.load()); }

  std::unique_ptr<ProcessCollector> collector;
  std::unique_ptr<FakeAgent> agent;
  uint32_t ticket = 0;
};

}  // namespace

TEST_CASE("an answer counts what was published before the question") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.malloc(0x1000, 1235, {0x10}, 1);
  ring.malloc(0x2000, 100, {0x10}, 1);
  ring.free(0x2000, 1);
  wire::Question& of_host = session.ask(0, wire::QuestionKind::kDevice, "host");
  wire::Question& of_thread = session.ask(23, wire::QuestionKind::kThread, "", 0, 77);
  wire::Question& of_another = session.ask(22, wire::QuestionKind::kThread, "", 0, 78);
  session.collector->drain(RoundKind::kIfDue);
  REQUIRE(session.state(of_host) == State::kAnswered);
  CHECK(of_host.is_known == 1);
  CHECK(of_host.statistics.device.live_bytes == 1235);
  CHECK(of_host.statistics.device.live_blocks == 1);
  CHECK(of_host.statistics.device.peak_bytes == 1335);
  CHECK(of_host.statistics.device.peak_blocks == 2);
  CHECK(of_host.statistics.device.phase_peak_bytes == 1335);
  CHECK(of_host.statistics.device.total_bytes == 1335);
  CHECK(of_host.statistics.device.total_blocks == 2);
  REQUIRE(session.state(of_another) == State::kAnswered);
  CHECK(of_another.is_known == 0);
  CHECK(of_another.statistics.thread.total_blocks == 0);
  REQUIRE(session.state(of_thread) == State::kAnswered);
  CHECK(of_thread.statistics.thread.total_bytes == 1335);
  CHECK(of_thread.statistics.thread.freed_blocks == 1);
}

TEST_CASE("an answer waits for events that another thread's event holds back, as long as its thread may wait") {
  Session session;
  session.agent->control().sequence.store(10);
  RingBuilder first = session.agent->claim();
  RingBuilder second = session.agent->claim();
  first.open(77, 1);
  second.open(static_cast<uint32_t>(::getpid()), 2);  // which lives
  session.collector->drain();
  second.begin_event();  // may still be stamped 11
  session.agent->control().sequence.store(20);
  first.malloc(0x1000, 1235, {0x10}, 12);
  wire::Question& question = session.ask(0, wire::QuestionKind::kDevice, "host");
  session.collector->drain();
  ::usleep(2'200'000);
  session.collector->drain();
  CHECK(session.state(question) == State::kAsked);
  second.malloc(0x2000, 100, {0x10}, 11);
  second.end_event();
  session.agent->control().sequence.store(30);
  session.collector->drain();
  session.collector->drain();
  REQUIRE(session.state(question) == State::kAnswered);
  CHECK(question.statistics.device.live_bytes == 1335);
}

TEST_CASE("hostile questions") {
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.malloc(0x1000, 1235, {0x10}, 1);
  const std::string endless(64, 'x');
  wire::Question& kind = session.ask(0, static_cast<wire::QuestionKind>(0xdeadbeef), "host");
  wire::Question& no_ring = session.ask(1, wire::QuestionKind::kThread, "", 0xffffffff);
  wire::Question& no_end = session.ask(2, wire::QuestionKind::kDevice, endless.c_str());
  wire::Question& no_device = session.ask(3, wire::QuestionKind::kDevicePhase, "cuda:?");
  session.collector->drain();
  for (wire::Question* question : {&kind, &no_ring, &no_end, &no_device})
    CHECK(session.state(*question) == State::kAnswered);
  CHECK(kind.statistics.device.live_bytes == 1235);
  CHECK(no_ring.statistics.thread.total_blocks == 0);
  CHECK(no_end.is_known == 0);
  CHECK(no_device.is_known == 1);  // what a driver did not name is one
}

TEST_CASE("an event that waits for another is counted when that one cannot come any more") {
  Session session;
  session.agent->control().sequence.store(10);
  RingBuilder first = session.agent->claim();
  RingBuilder second = session.agent->claim();
  first.open(77, 1);
  second.open(78, 2);
  first.malloc(0x1000, 1235, {0x10}, 3);
  first.malloc(0x1000, 100, {0x10}, 4);  // its block's end was not recorded, or is still to come
  wire::Question& question = session.ask(0, wire::QuestionKind::kDevice, "host");
  session.collector->drain();
  session.collector->drain();
  REQUIRE(session.state(question) == State::kAnswered);
  CHECK(question.statistics.device.total_blocks == 2);
  CHECK(question.statistics.device.live_bytes == 100);
}

TEST_CASE("who takes a question back is not answered, and has begun no phase") {
  Session session;
  session.agent->control().sequence.store(10);
  RingBuilder ring = session.agent->claim();
  RingBuilder other = session.agent->claim();
  ring.open(77, 1);
  other.open(78, 2);
  session.collector->drain();
  ring.begin_event();
  session.agent->control().sequence.store(20);
  other.malloc(0x1000, 1235, {0x10}, 12);
  other.free(0x1000, 13);
  wire::Question& question = session.ask(0, wire::QuestionKind::kDevicePhase, "host");
  session.collector->drain();
  REQUIRE(session.state(question) == State::kAsked);
  question.word.store(wire::question_word(9, State::kWriting));  // taken back, and another's already
  ring.end_event();
  session.agent->control().sequence.store(30);
  session.collector->drain();
  session.collector->drain();
  CHECK(question.word.load() == wire::question_word(9, State::kWriting));
  wire::Question& later = session.ask(1, wire::QuestionKind::kDevice, "host");
  session.collector->drain();
  REQUIRE(session.state(later) == State::kAnswered);
  CHECK(later.statistics.device.phase_peak_bytes == 1235);
}

}  // namespace heapprof::cli
