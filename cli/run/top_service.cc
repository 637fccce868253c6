// cli/run/top_service.cc: an answer is a message of fixed size; its data is in a memfd that is sent with the message.
//
// A socket's buffer takes 200 KiB, and a first sample may have 4 MiB. If data were sent in pieces, the collector would
// have to keep the rest and wait for room, for a client that may be stopped. A memfd takes all of it at once, and the
// kernel frees it when the last reader has closed it.
#include "cli/run/top_service.h"

#include "cli/base/clock.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/run/init.h"
#include "cli/run/look_up_names.h"
#include "cli/run/top_names.h"
#include "cli/write/text/run_text.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr size_t kMostWatchers = 4;
constexpr size_t kMostNaming = 2;
constexpr size_t kMostAskers = 16;
constexpr uint64_t kRestTimes = 19;  // a watcher waits for its next answer this multiple of the last one's time

// A memfd with these bytes; closed if there is no memory for it.
UniqueFd file_of(std::string_view bytes) {
  UniqueFd file(memfd_create("heapprof-top", MFD_CLOEXEC));
  while (file.is_open() && !bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return {};
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return file;
}

// False: the answer could not be sent; the client may not read.
bool send_answer(int connection, TopAnswer answer, std::string_view bytes) {
  UniqueFd file;
  if (!bytes.empty()) {
    file = file_of(bytes);
    if (!file.is_open()) return false;
    answer.size_bytes = bytes.size();
  }
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file.is_open()) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = file.get();
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(sizeof answer);
}

bool refuse(int connection, TopStatus status, std::string_view why) {
  TopAnswer answer;
  answer.status = status;
  why.copy(answer.text, sizeof answer.text - 1);
  return send_answer(connection, answer, "");
}

// Why the request is refused; empty if it may be served.
std::string refusal(const TopRequest& request, uid_t uid) {
  if (uid != geteuid() && uid != 0) return "its heapprof belongs to another user";
  if (request.magic != kTopMagic || request.version != kTopVersion) return "its heapprof is of another version";
  return "";
}

// nullptr: the process is not being profiled, or no longer.
ProcessCollector* find_collector(Processes* processes, pid_t of) {
  ProcessCollector* collector = nullptr;
  processes->for_each([&](pid_t pid, ProcessCollector& one) {
    if (pid == of) collector = &one;
  });
  return collector;
}

bool refuse_unseen(int connection, pid_t of, Processes* processes) {
  return processes->has(of) ? refuse(connection, TopStatus::kRefused, "memory ran short, and it is recorded no more")
                            : refuse(connection, TopStatus::kUnknown, "");
}

void tell_processes(int connection, Processes* processes) {
  TopAnswer answer;
  answer.status = TopStatus::kProcesses;
  try {
    TopProcesses told;
    processes->for_each([&](pid_t pid, ProcessCollector&) { told.pids.push_back(static_cast<uint32_t>(pid)); });
    send_answer(connection, answer, to_bytes(told));
  } catch (const std::bad_alloc&) {  // out of memory, which the books need more: no answer
  }
}

// Whether the client has not read the last answer yet.
bool has_unread(int connection) {
  int bytes = 0;
  return ioctl(connection, SIOCOUTQ, &bytes) != 0 || bytes != 0;
}

TopEnd end_of(const RunInfo& run, const std::string& path) {
  TopEnd end;
  end.how = end_text(run.end);
  end.path = path;
  end.duration_ns = run.duration_ns;
  return end;
}

template <typename Devices>
void add_devices(const Devices& devices, TopEnd* end) {
  for (const auto& device : devices)
    end->devices.push_back(
        {device.name, device.totals.peak_bytes, device.totals.leaked_bytes, device.totals.total_blocks});
}

}  // namespace

TopService::~TopService() {
  for (const pid_t writer : at_work_) {
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
  }
}

void TopService::reap() {
  std::erase_if(at_work_, [](pid_t writer) { return waitpid(writer, nullptr, WNOHANG) != 0; });
}

void TopService::admit(Caller caller, Server* server, Processes* processes) {
  const int connection = caller.connection.get();
  if (const std::string why = refusal(*caller.top, caller.uid); !why.empty()) {
    refuse(connection, TopStatus::kRefused, why);
    return;
  }
  const pid_t of = is_pid_of_run(caller.top->pid) ? root_pid_ : caller.top->pid;
  if (caller.top->ask == TopAsk::kProcesses) {
    tell_processes(connection, processes);
  } else if (!processes->has(of)) {
    refuse(connection, TopStatus::kUnknown, "");
  } else if (caller.top->ask == TopAsk::kNames) {
    begin_names(caller, of, server, processes);
  } else if (caller.top->ask == TopAsk::kTotals) {
    if (askers_.size() == kMostAskers) {
      refuse(connection, TopStatus::kRefused, "sixteen others wait for totals of its run");
    } else {
      askers_.push_back({std::move(caller.connection), of});
      answer_totals(processes);
    }
  } else if (caller.top->ask != TopAsk::kSample) {
    refuse(connection, TopStatus::kRefused, "its heapprof does not know what is asked");
  } else if (watchers_.size() == kMostWatchers) {
    refuse(connection, TopStatus::kRefused, "four others watch it, or processes of the same run");
  } else {
    watchers_.push_back({std::move(caller.connection), of, {}});
    answer_sample(&watchers_.back(), processes);
  }
}

void TopService::add_waiting(std::vector<pollfd>* waiting) const {
  const uint64_t now_ns = monotonic_ns();
  for (const Watcher& watcher : watchers_) {
    if (!watcher.is_told && now_ns >= watcher.next_ns) waiting->push_back({watcher.connection.get(), POLLIN, 0});
  }
}

void TopService::serve(Processes* processes) {
  for (Watcher& watcher : watchers_) {
    if (watcher.is_told || monotonic_ns() < watcher.next_ns) continue;  // Watch calls serve() again later
    TopRequest request;
    const ssize_t got = recv(watcher.connection.get(), &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    const bool is_sound = got == static_cast<ssize_t>(sizeof request) && request.ask == TopAsk::kSample &&
                          refusal(request, geteuid()).empty();
    if (!is_sound || has_unread(watcher.connection.get())) {
      watcher.connection.reset();
      continue;
    }
    if (request.from_begin != 0) watcher.cursor.forget();
    answer_sample(&watcher, processes);
  }
  std::erase_if(watchers_, [](const Watcher& watcher) { return !watcher.connection.is_open(); });
  if (!at_work_.empty()) reap();
  answer_totals(processes);
}

void TopService::answer_totals(Processes* processes) {
  if (askers_.empty() || monotonic_ns() < next_totals_ns_) return;
  const uint64_t begin_ns = monotonic_ns();
  processes->drain(RoundKind::kAll);
  for (const Asker& asker : askers_) {
    ProcessCollector* collector = find_collector(processes, asker.pid);
    TopAnswer answer;
    answer.status = TopStatus::kSample;
    answer.pid = asker.pid;
    try {
      if (collector == nullptr) {
        refuse_unseen(asker.connection.get(), asker.pid, processes);
      } else {
        const TopSource source = collector->top_source();
        answer.image = source.image;
        send_answer(asker.connection.get(), answer, to_bytes(look_at_totals(source)));
      }
    } catch (const std::bad_alloc&) {  // out of memory: the client finds its connection closed
    }
  }
  askers_.clear();
  const uint64_t end_ns = monotonic_ns();
  next_totals_ns_ = end_ns + kRestTimes * (end_ns - begin_ns);
}

void TopService::answer_sample(Watcher* watcher, Processes* processes) {
  const uint64_t begin_ns = monotonic_ns();
  processes->drain(RoundKind::kAll);  // takes all events published so far
  ProcessCollector* collector = find_collector(processes, watcher->pid);
  TopAnswer answer;
  answer.status = TopStatus::kSample;
  answer.pid = watcher->pid;
  bool is_taken = false;
  try {
    if (collector == nullptr) {
      is_taken = refuse_unseen(watcher->connection.get(), watcher->pid, processes);
    } else {
      const TopSource source = collector->top_source();
      answer.image = source.image;
      is_taken = send_answer(watcher->connection.get(), answer, to_bytes(watcher->cursor.look(source)));
    }
  } catch (const std::bad_alloc&) {  // out of memory, which the books need more: no answer
  }
  if (!is_taken) watcher->connection.reset();
  const uint64_t end_ns = monotonic_ns();
  watcher->next_ns = end_ns + kRestTimes * (end_ns - begin_ns);
}

void TopService::begin_names(const Caller& caller, pid_t of, Server* server, Processes* processes) {
  reap();
  if (at_work_.size() >= kMostNaming) {
    refuse(caller.connection.get(), TopStatus::kRefused, "names are being looked up for others");
    return;
  }
  processes->drain(RoundKind::kAll);
  const pid_t parent = getpid();
  const pid_t writer = fork();
  if (writer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    write_names(caller, of, server, processes);
  }
  if (writer < 0) {
    refuse(caller.connection.get(), TopStatus::kRefused, errno_text(errno));
  } else {
    at_work_.push_back(writer);
  }
}

// Runs in the forked copy.
void TopService::write_names(const Caller& caller, pid_t of, Server* server, Processes* processes) const {
  server->abandon();
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) dup2(null, fd);
  unsetenv("DEBUGINFOD_URLS");  // only names from this machine's files: do not wait for a server
  try {
    TopAnswer answer;
    answer.status = TopStatus::kNames;
    answer.pid = of;
    const CallTree* tree = nullptr;
    processes->for_each([&](pid_t pid, ProcessCollector& collector) {
      if (pid != of || collector.has_stopped()) return;
      answer.image = collector.top_source().image;
      tree = collector.top_source().tree;
    });
    if (tree == nullptr) {
      refuse(caller.connection.get(), TopStatus::kUnknown, "");
      _exit(0);
    }
    Recording recording = processes->snapshot(of);
    const SiteIds ids = find_site_ids(*tree, recording);
    SymbolTable symbols;
    {
      SymbolCache cache(options_.names_folder);
      SymbolizeOptions options;
      options.worker_data_bytes = options_.names_bytes;
      symbols = look_up_names(options, &cache, &recording);
    }
    send_answer(caller.connection.get(), answer, to_bytes(name_top_sites(recording, symbols, ids, folds_)));
  } catch (const std::exception&) {
    refuse(caller.connection.get(), TopStatus::kRefused, "there is not enough memory for a copy of its numbers");
  }
  _exit(0);
}

void TopService::note_end(const EndedImage& image) {
  if (!image.is_last) return;
  const auto pid = static_cast<pid_t>(image.recording.run.pid);
  TopAnswer answer;
  answer.status = image.is_root ? TopStatus::kEnding : TopStatus::kEnded;
  answer.pid = pid;
  for (Watcher& watcher : watchers_) {
    if (watcher.pid != pid) continue;
    TopEnd end = end_of(image.recording.run, "");
    add_devices(image.recording.devices, &end);
    send_answer(watcher.connection.get(), answer, image.is_root ? "" : to_bytes(end));
    watcher.is_told = true;
  }
  if (!image.is_root) std::erase_if(watchers_, [pid](const Watcher& watcher) { return watcher.pid == pid; });
}

void TopService::end_run(const Finished* root) {
  TopAnswer answer;
  answer.status = TopStatus::kEnded;
  answer.pid = root_pid_;
  for (Watcher& watcher : watchers_) {
    if (root == nullptr || watcher.pid != root_pid_) continue;
    TopEnd end = end_of(root->profile->run, absolute_path(root->saved.path));
    add_devices(root->profile->devices, &end);
    send_answer(watcher.connection.get(), answer, to_bytes(end));
  }
  watchers_.clear();
}

}  // namespace heapprof::cli
