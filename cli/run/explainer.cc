// cli/run/explainer.cc: forks the collector: the child has a copy of the collector's data (the books) that does not
// change, as for snapshots. The child writes its answer to the memory that the program, the collector and the child
// share; the program waits for it there.
#include "cli/run/explainer.h"

#include "cli/base/clock.h"
#include "cli/collect/recorded_changes.h"
#include "cli/run/explanation.h"
#include "cli/run/look_up_names.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <optional>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kMostAtOnce = 4;
constexpr uint64_t kMostNs = 15'000'000'000;  // then the copy is killed; the program waits for 20 s

// nullptr: that image has ended.
ProcessCollector* find_collector(uint64_t image, Processes* processes) {
  ProcessCollector* found = nullptr;
  processes->for_each([&](pid_t, ProcessCollector& collector) {
    if (collector.serial() == image) found = &collector;
  });
  return found;
}

}  // namespace

Explainer::~Explainer() {
  for (const Work& work : at_work_) {  // the process that asked has ended
    kill(work.writer, SIGKILL);
    waitpid(work.writer, nullptr, 0);
  }
}

void Explainer::reap(Processes* processes) {
  const uint64_t now_ns = monotonic_ns();
  std::erase_if(at_work_, [processes, now_ns](const Work& work) {
    if (now_ns - work.begin_ns > kMostNs) kill(work.writer, SIGKILL);
    if (waitpid(work.writer, nullptr, WNOHANG) == 0) return false;
    if (ProcessCollector* collector = find_collector(work.asked.image, processes))
      collector->reply(work.asked.wanted, "");
    return true;
  });
}

void Explainer::serve(Server* server, Processes* processes) {
  if (!at_work_.empty()) reap(processes);
  processes->for_each([this](pid_t, ProcessCollector& collector) {
    if (!collector.wants_names()) return;
    for (const NamesWanted& wanted : collector.take_wanted()) asked_.push_back({collector.serial(), wanted});
  });
  for (; !asked_.empty() && at_work_.size() < kMostAtOnce; asked_.pop_front()) begin(asked_.front(), server, processes);
}

void Explainer::begin(const Asked& asked, Server* server, Processes* processes) {
  ProcessCollector* const collector = find_collector(asked.image, processes);
  if (collector == nullptr) return;  // the image that asked has ended
  const pid_t parent = getpid();
  const pid_t writer = fork();
  if (writer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    write(asked, server, collector);
  }
  if (writer < 0) return collector->reply(asked.wanted, "");
  at_work_.push_back({writer, asked, monotonic_ns()});
}

// Runs in the copy.
void Explainer::write(const Asked& asked, Server* server, ProcessCollector* collector) const {
  server->abandon();
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) dup2(null, fd);
  unsetenv("DEBUGINFOD_URLS");
  try {
    std::optional<RecordedChanges> changes = collector->record_wanted(asked.wanted);
    if (!changes) _exit(0);
    SymbolTable symbols;
    {
      SymbolCache cache(options_.names_folder);
      SymbolizeOptions options;
      options.worker_data_bytes = options_.names_bytes;
      symbols = look_up_names(options, &cache, &changes->recording);
    }
    collector->reply(asked.wanted, explanation_text(*changes, symbols));
  } catch (const std::exception&) {  // the collector replies when it has reaped this copy
  }
  _exit(0);
}

}  // namespace heapprof::cli
