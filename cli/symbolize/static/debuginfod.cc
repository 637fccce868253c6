// cli/symbolize/static/debuginfod.cc: how libdw asks debuginfod when the tool is linked statically.
//
// libdw loads libdebuginfod.so with dlopen, which a static program can do only if exactly the glibc that it was linked
// with is installed. These four functions replace libdw's own (debuginfod-client.o of libdw.a is then not linked) and
// call the program debuginfod-find, which comes with elfutils. The user's DEBUGINFOD_* variables have their usual
// meaning for it. Without that program, or without DEBUGINFOD_URLS, there are no debug files from the network.
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace {

std::string hex(const unsigned char* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

// What the program prints on stdout; empty if it cannot be run or exits with a status other than 0. Its stderr is
// dropped.
std::string output_of(const char* program, char* const arguments[]) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t pid = -1;
  const bool started = posix_spawnp(&pid, program, &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (started) {
    char buffer[4096];
    ssize_t got;
    while ((got = read(ends[0], buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)) {
      if (got > 0) text.append(buffer, static_cast<size_t>(got));
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (status != 0) text.clear();
  }
  close(ends[0]);
  return text;
}

// A descriptor of the file that debuginfod has for this build id, or a negative errno.
int find(const char* kind, const unsigned char* build_id, size_t build_id_bytes) {
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || *urls == '\0' || build_id_bytes == 0) return -ENOSYS;
  std::string program = "debuginfod-find", what = kind, id = hex(build_id, build_id_bytes);
  char* arguments[] = {program.data(), what.data(), id.data(), nullptr};
  std::string path = output_of(program.c_str(), arguments);
  while (!path.empty() && path.back() == '\n') path.pop_back();
  if (path.empty()) return -ENOENT;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return fd >= 0 ? fd : -errno;
}

}  // namespace

// libdw's own names.
extern "C" {
struct debuginfod_client;
debuginfod_client* dwfl_get_debuginfod_client(Dwfl*);
int __libdwfl_debuginfod_find_executable(Dwfl*, const unsigned char* build_id, size_t build_id_bytes);
int __libdwfl_debuginfod_find_debuginfo(Dwfl*, const unsigned char* build_id, size_t build_id_bytes);
void __libdwfl_debuginfod_end(debuginfod_client*);

debuginfod_client* dwfl_get_debuginfod_client(Dwfl*) { return nullptr; }
int __libdwfl_debuginfod_find_executable(Dwfl*, const unsigned char* build_id, size_t build_id_bytes) {
  return find("executable", build_id, build_id_bytes);
}
int __libdwfl_debuginfod_find_debuginfo(Dwfl*, const unsigned char* build_id, size_t build_id_bytes) {
  return find("debuginfo", build_id, build_id_bytes);
}
void __libdwfl_debuginfod_end(debuginfod_client*) {}
}
