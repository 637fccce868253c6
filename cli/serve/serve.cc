// cli/serve/serve.cc: a request goes through steps, each of which may have to wait: list the processes, take a snapshot
// of each, after an interval take another one, and make the answer of them. A request that waits is a Question in a
// list, and the loop waits for all of them at once. If an equal request is in the list already, a new one joins its
// Question.
#include "cli/serve/serve.h"

#include "cli/base/clock.h"
#include "cli/base/problems.h"
#include "cli/model/top/top_sample.h"
#include "cli/serve/http_server.h"
#include "cli/serve/metrics_text.h"
#include "cli/serve/served_processes.h"
#include "cli/serve/served_request.h"
#include "cli/serve/served_work.h"
#include "cli/serve/snapshot_store.h"
#include "cli/serve/worker.h"
#include "cli/target/collector_search.h"
#include "cli/target/top_client.h"
#include "cli/write/export/pprof.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kMostProcesses = 64;
constexpr size_t kMostIntervals = 8;
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr int kListPatienceMs = 1000;

// The equal requests of several clients, and their progress.
struct Question {
  ServedRequest request;
  std::string key;
  std::vector<HttpExchange> waiting;
  uint64_t begin_ns = 0;
  bool is_begun = false;
  std::vector<ServedProcess> processes;
  uint64_t left_out = 0;
  std::vector<SnapshotOutcome> first;  // by process
  std::vector<SnapshotOutcome> last;
  size_t missing = 0;   // snapshots that are being taken
  uint64_t due_ns = 0;  // when to take `last`; 0: not known yet, or begun already
};
// A finished answer, kept a short time for equal requests.
struct KeptAnswer {
  AnswerPtr answer;
  uint64_t good_until_ns = 0;
};
using QuestionPtr = std::shared_ptr<Question>;

class Serve {
 public:
  explicit Serve(ServeOptions options) : options_(std::move(options)) {}

  Result<int> run(Listener listener);

 private:
  AnswerPtr handle(HttpExchange exchange, const HttpHead& head);
  void find_processes(const QuestionPtr& question);
  void go_on(const QuestionPtr& question, std::vector<ServedProcess> processes);
  void take_snapshots(const QuestionPtr& question, std::vector<SnapshotOutcome> Question::*into);
  void have_snapshots(const QuestionPtr& question, std::vector<SnapshotOutcome> Question::*into);
  void make_heap(const QuestionPtr& question);
  void make_metrics(const QuestionPtr& question);
  void start(const QuestionPtr& question, Work work);
  void finish(const QuestionPtr& question, AnswerPtr answer);
  void refuse(const QuestionPtr& question, int status, const Problem& problem);
  Result<Done> find_named();
  bool have_all_ended();
  void serve_due();
  int wait_ms() const;

  ServeOptions options_;
  AccessRules rules_;
  Workers workers_;
  std::unique_ptr<SnapshotStore> snapshots_;
  std::unique_ptr<HttpServer> http_;
  std::vector<UniqueFd> named_;  // pidfds of the processes in options_.pids that live
  std::list<QuestionPtr> questions_;
  std::map<std::string, KeptAnswer> kept_;
  std::vector<pid_t> listed_;  // pids found by the last search of all collectors
  uint64_t listed_until_ns_ = 0;
};

AnswerPtr Serve::handle(HttpExchange exchange, const HttpHead& head) {
  if (const std::optional<HttpRefusal> refused = refuse_access(head, rules_))
    return problem_answer(refused->status, refused->problem);
  const std::variant<ServedRequest, HttpRefusal> parsed = parse_request(head);
  if (const auto* refused = std::get_if<HttpRefusal>(&parsed)) return problem_answer(refused->status, refused->problem);
  const auto& request = std::get<ServedRequest>(parsed);
  const std::string key = request.key();
  const uint64_t now_ns = monotonic_ns();
  if (const auto kept = kept_.find(key); kept != kept_.end() && now_ns < kept->second.good_until_ns)
    return kept->second.answer;
  size_t intervals = 0;
  for (const QuestionPtr& question : questions_) {
    // A request for an interval does not join one that began more than a second ago.
    if (question->key == key && (request.seconds == 0 || now_ns - question->begin_ns < kSecondNs)) {
      question->waiting.push_back(exchange);
      return nullptr;
    }
    if (question->request.seconds != 0) ++intervals;
  }
  if (request.seconds != 0 && intervals >= kMostIntervals)
    return problem_answer(503, server_is_busy(fmt::format("{} intervals are being measured", kMostIntervals)));
  auto question = std::make_shared<Question>();
  question->request = request;
  question->key = key;
  question->waiting.push_back(exchange);
  question->begin_ns = now_ns;
  questions_.push_back(question);  // serve_due() begins it, after the client is suspended
  return nullptr;
}

void Serve::find_processes(const QuestionPtr& question) {
  if (!options_.pids.empty()) return go_on(question, describe_processes(options_.pids, {}));
  if (monotonic_ns() < listed_until_ns_) return go_on(question, describe_processes(listed_, options_.follow));
  Work work;
  work.make = [collector = options_.collector](ByteSink* sink) {
    const std::vector<std::string> paths = collector.empty() ? all_collectors() : std::vector<std::string>{collector};
    TopProcesses found;
    for (const pid_t pid : list_profiled_processes(paths, kListPatienceMs))
      found.pids.push_back(static_cast<uint32_t>(pid));
    sink->write(to_bytes(found));
    return 200;
  };
  work.done = [this, question](WorkDone done) {
    std::string bytes(std::min<uint64_t>(done.size_bytes, 1u << 20), '\0');
    const bool is_read = done.status == 200 &&
                         pread(done.file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    const std::optional<TopProcesses> found = is_read ? parse_top_processes(bytes) : std::nullopt;
    if (!found) return refuse(question, 503, server_is_busy("who is profiled cannot be found out"));
    listed_.assign(found->pids.begin(), found->pids.end());
    listed_until_ns_ = monotonic_ns() + kSecondNs;
    go_on(question, describe_processes(listed_, options_.follow));
  };
  start(question, std::move(work));
}

void Serve::go_on(const QuestionPtr& question, std::vector<ServedProcess> processes) {
  const ServedRequest& request = question->request;
  if (request.pid) {
    std::erase_if(processes, [&](const ServedProcess& process) { return process.pid != *request.pid; });
    if (processes.empty())
      return refuse(question, 404, bad_http_request(fmt::format("process {} is not served here", *request.pid)));
  }
  if (processes.size() > kMostProcesses) {
    question->left_out = processes.size() - kMostProcesses;
    processes.resize(kMostProcesses);
  }
  question->processes = std::move(processes);
  if (request.thing == ServedThing::kIndex)
    return finish(question, text_answer("text/html; charset=utf-8", index_page(question->processes)));
  if (request.thing == ServedThing::kMetrics) return make_metrics(question);
  if (question->processes.empty()) return refuse(question, 404, bad_http_request("no process is profiled just now"));
  const bool is_of_one = request.thing == ServedThing::kProfile || request.thing == ServedThing::kCommandLine;
  if (is_of_one && question->processes.size() > 1) {
    return refuse(question, 400,
                  bad_http_request(fmt::format("{} processes are served, and this is of one: add ?pid={}",
                                               question->processes.size(), question->processes[0].pid)));
  }
  if (request.thing == ServedThing::kCommandLine) {
    std::string words;
    for (const std::string& word : question->processes[0].command)
      words += (words.empty() ? "" : std::string(1, '\0')) + word;
    return finish(question, text_answer("text/plain; charset=utf-8", std::move(words)));
  }
  take_snapshots(question, &Question::first);
}

void Serve::take_snapshots(const QuestionPtr& question, std::vector<SnapshotOutcome> Question::*into) {
  std::vector<SnapshotOutcome>& outcomes = (*question).*into;
  outcomes.resize(question->processes.size());
  question->missing = outcomes.size();
  for (size_t i = 0; i < outcomes.size(); ++i) {
    // The second snapshot of an interval is taken the requested time after the process's first one, or later.
    const std::shared_ptr<const StoredSnapshot> begin = into == &Question::last ? question->first[i].snapshot : nullptr;
    const uint64_t not_before_ns = begin == nullptr ? 0 : begin->monotonic_ns + question->request.seconds * kSecondNs;
    snapshots_->get(question->processes[i].pid, not_before_ns,
                    [this, question, into, i](const SnapshotOutcome& outcome) {
                      ((*question).*into)[i] = outcome;
                      if (--question->missing == 0) have_snapshots(question, into);
                    });
  }
}

void Serve::have_snapshots(const QuestionPtr& question, std::vector<SnapshotOutcome> Question::*into) {
  const std::vector<SnapshotOutcome>& outcomes = (*question).*into;
  const auto is_there = [](const SnapshotOutcome& outcome) { return outcome.snapshot != nullptr; };
  if (std::none_of(outcomes.begin(), outcomes.end(), is_there))
    return finish(question, words_answer(outcomes[0].status, outcomes[0].words));
  const ServedRequest& request = question->request;
  if (request.thing == ServedThing::kProfile) {
    const StoredSnapshot& snapshot = *outcomes[0].snapshot;
    auto answer = std::make_shared<HttpAnswer>();
    answer->type = "application/json";
    answer->headers.emplace_back("Content-Disposition",
                                 fmt::format("attachment; filename=\"heapprof.{}.json\"", question->processes[0].pid));
    answer->file = UniqueFd(fcntl(snapshot.file.get(), F_DUPFD_CLOEXEC, 0));
    answer->size_bytes = snapshot.size_bytes;
    if (!answer->file.is_open()) return refuse(question, 503, server_is_busy(errno_text(errno)));
    return finish(question, std::move(answer));
  }
  if (request.seconds != 0 && into == &Question::first) {
    uint64_t begin_ns = 0;
    for (const SnapshotOutcome& outcome : outcomes) {
      if (outcome.snapshot != nullptr) begin_ns = std::max(begin_ns, outcome.snapshot->monotonic_ns);
    }
    question->due_ns = begin_ns + request.seconds * kSecondNs;
    return;
  }
  make_heap(question);
}

void Serve::make_heap(const QuestionPtr& question) {
  const ServedRequest& request = question->request;
  const bool is_interval = request.seconds != 0;
  const std::vector<SnapshotOutcome>& ends = is_interval ? question->last : question->first;
  Work work;
  std::vector<ReadPart> parts;
  GoHeapView view;
  view.shows_allocations = request.thing == ServedThing::kAllocs;
  for (size_t i = 0; i < ends.size(); ++i) {
    const ServedProcess& process = question->processes[i];
    const std::shared_ptr<const StoredSnapshot>& end = ends[i].snapshot;
    const std::shared_ptr<const StoredSnapshot>& begin = question->first[i].snapshot;
    if (end == nullptr || begin == nullptr) {
      view.comments.push_back(
          fmt::format("process {} {} is left out: there was no snapshot of it", process.pid, process.program));
      continue;
    }
    parts.push_back({end->file.get(), false, process.labels()});
    work.descriptors.push_back(end->file.get());
    view.time_unix_ns = std::max(view.time_unix_ns, end->unix_ns);
    if (!is_interval) continue;
    parts.push_back({begin->file.get(), true, process.labels()});
    work.descriptors.push_back(begin->file.get());
    view.duration_ns = std::max(view.duration_ns, end->monotonic_ns - begin->monotonic_ns);
  }
  if (question->left_out != 0)
    view.comments.push_back(fmt::format("{} more processes are left out", question->left_out));
  if (parts.empty())
    return refuse(question, 503, server_is_busy("no process could be seen at both ends of the interval"));
  work.make = [parts = std::move(parts), request, view](ByteSink* sink) {
    return write_heap(parts, request, view, sink);
  };
  work.done = [this, question](WorkDone done) {
    const ServedRequest& asked = question->request;
    auto answer = std::make_shared<HttpAnswer>();
    answer->status = done.status;
    answer->file = std::move(done.file);
    answer->size_bytes = done.size_bytes;
    if (done.status == 500 || !answer->file.is_open())
      return refuse(question, 503, server_is_busy("the profile could not be made in time, or in memory"));
    if (done.status == 200 && !asked.is_text) {
      const char* name = asked.thing == ServedThing::kAllocs ? "allocs" : "heap";
      answer->type = "application/octet-stream";
      answer->headers.emplace_back("Content-Disposition", fmt::format("attachment; filename=\"{}{}\"", name,
                                                                      asked.seconds != 0 ? "-delta" : ""));
    }
    finish(question, std::move(answer));
  };
  start(question, std::move(work));
}

void Serve::make_metrics(const QuestionPtr& question) {
  Work work;
  const MetricsView view{question->request.takes_open_metrics, question->left_out};
  work.make = [processes = question->processes, view](ByteSink* sink) { return write_metrics(processes, view, sink); };
  work.done = [this, question, view](WorkDone done) {
    if (done.status != 200) return refuse(question, 503, server_is_busy("the numbers did not arrive in time"));
    auto answer = std::make_shared<HttpAnswer>();
    answer->type = view.is_open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                        : "text/plain; version=0.0.4; charset=utf-8";
    answer->file = std::move(done.file);
    answer->size_bytes = done.size_bytes;
    finish(question, std::move(answer));
  };
  start(question, std::move(work));
}

void Serve::start(const QuestionPtr& question, Work work) {
  if (!workers_.start(std::move(work))) refuse(question, 503, server_is_busy("too many requests wait for their turn"));
}

void Serve::refuse(const QuestionPtr& question, int status, const Problem& problem) {
  finish(question, problem_answer(status, problem));
}

void Serve::finish(const QuestionPtr& question, AnswerPtr answer) {
  const uint64_t now_ns = monotonic_ns();
  if (question->request.seconds == 0)
    kept_[question->key] = {answer, now_ns + std::max(kSecondNs, now_ns - question->begin_ns)};
  for (const HttpExchange exchange : std::exchange(question->waiting, {})) http_->answer(exchange, answer);
  questions_.remove(question);
}

// Opens the processes in options_.pids. The pid of a heapprof is replaced by that of the program that it started.
Result<Done> Serve::find_named() {
  for (pid_t& pid : options_.pids) {
    const Result<TopReply> reply = ask_totals(pid, kCollectorPatienceMs);
    if (!reply) return reply.problem();
    if (reply->pid > 0) pid = reply->pid;
    UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!process.is_open()) return process_not_found(std::to_string(pid));
    named_.push_back(std::move(process));
  }
  std::sort(options_.pids.begin(), options_.pids.end());
  options_.pids.erase(std::unique(options_.pids.begin(), options_.pids.end()), options_.pids.end());
  return Done{};
}

bool Serve::have_all_ended() {
  if (named_.empty()) return false;
  std::erase_if(named_, [](const UniqueFd& process) {
    pollfd ended{process.get(), POLLIN, 0};
    return poll(&ended, 1, 0) == 1;
  });
  return named_.empty();
}

void Serve::serve_due() {
  const uint64_t now_ns = monotonic_ns();
  const std::vector<QuestionPtr> all(questions_.begin(), questions_.end());
  for (const QuestionPtr& question : all) {
    if (!std::exchange(question->is_begun, true)) find_processes(question);
    if (question->due_ns == 0 || now_ns < question->due_ns) continue;
    question->due_ns = 0;
    take_snapshots(question, &Question::last);
  }
  std::erase_if(kept_, [now_ns](const auto& kept) { return now_ns >= kept.second.good_until_ns; });
  snapshots_->serve();
}

int Serve::wait_ms() const {
  uint64_t next_ns = std::min(http_->next_ns(), snapshots_->next_ns());
  const uint64_t now_ns = monotonic_ns();
  for (const QuestionPtr& question : questions_) {
    if (question->due_ns != 0) next_ns = std::min(next_ns, question->due_ns);
    next_ns = std::min(next_ns, now_ns + kSecondNs);  // to end workers that take too long
  }
  if (!kept_.empty()) next_ns = std::min(next_ns, now_ns + kSecondNs);  // to drop outdated answers
  if (next_ns == UINT64_MAX) return -1;
  return next_ns <= now_ns ? 0 : static_cast<int>((next_ns - now_ns) / 1'000'000 + 1);
}

Result<int> Serve::run(Listener listener) {
  rules_.hosts = options_.hosts;
  rules_.token = options_.token;
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ends, signal);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  if (options_.is_of_run) {
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
  }
  signal(SIGPIPE, SIG_IGN);
  const UniqueFd signals(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  if (const Result<Done> found = find_named(); !found) return found.problem();
  Result<std::unique_ptr<SnapshotStore>> store = SnapshotStore::open(&workers_);
  if (!store) return store.problem();
  snapshots_ = std::move(*store);
  const std::string text = serve_text(listener.address);
  Result<std::unique_ptr<HttpServer>> http =
      HttpServer::open(std::move(listener.socket),
                       [this](HttpExchange exchange, const HttpHead& head) { return handle(exchange, head); });
  if (!http) return http.problem();
  http_ = std::move(*http);
  if (!options_.is_quiet) fmt::print(stderr, "{}", text);
  std::vector<pollfd> waiting;
  for (;;) {
    waiting = {{signals.get(), POLLIN, 0}, {http_->fd(), POLLIN, 0}};
    for (const UniqueFd& process : named_) waiting.push_back({process.get(), POLLIN, 0});
    workers_.add_waiting(&waiting);
    poll(waiting.data(), waiting.size(), wait_ms());
    signalfd_siginfo signal{};
    if (read(signals.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal))
      return 128 + static_cast<int>(signal.ssi_signo);
    http_->run();
    workers_.serve();
    serve_due();
    if (have_all_ended()) break;
  }
  if (!options_.is_quiet) fmt::print(stderr, "the processes have ended\n");
  return 0;
}

}  // namespace

std::string serve_text(const ListenAddress& address) {
  ListenAddress shown = address;
  if (shown.address == "0.0.0.0") shown.address = "127.0.0.1";
  if (shown.address == "::") shown.address = "::1";
  return fmt::format(
      "serving http://{0}/debug/pprof/  http://{0}/metrics\nnext    go tool pprof http://{0}/debug/pprof/heap\n",
      shown.text());
}

Result<int> serve(ServeOptions options, Listener listener) {
  return Serve(std::move(options)).run(std::move(listener));
}

}  // namespace heapprof::cli
