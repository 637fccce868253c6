// cli/serve/push.cc: uses the program curl instead of a library. curl knows the machine's proxies and certificates, and
// the tool needs no TLS library, with which it could not be linked statically. curl reads its whole configuration from
// standard input. The profile is in a memfd that curl inherits.
#include "cli/serve/push.h"

#include "cli/base/byte_sink.h"
#include "cli/base/fd.h"
#include "cli/base/problems.h"
#include "cli/base/spawn.h"
#include "cli/base/text.h"
#include "cli/model/profile/program_name.h"
#include "cli/write/export/pprof.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace heapprof::cli {

namespace {

constexpr int kBodyFd = 3;  // the profile's descriptor in curl
constexpr size_t kMostAnswerBytes = 64u << 10;

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// Quoted for curl's configuration.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Pyroscope's labels are name=value pairs in braces. Characters that would end a value are left out.
std::string label_list(const std::vector<std::pair<std::string, std::string>>& labels) {
  std::string list;
  for (const auto& [key, value] : labels) {
    std::string plain;
    std::copy_if(value.begin(), value.end(), std::back_inserter(plain),
                 [](char c) { return c > ' ' && c != '"' && c != ',' && c != '{' && c != '}' && c != '='; });
    list += fmt::format("{}{}={}", list.empty() ? "" : ",", key, plain);
  }
  return list;
}

std::string read_all(int fd) {
  std::string text(kMostAnswerBytes, '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

struct Answer {
  int error = 0;   // errno, if curl could not be started
  int status = 0;  // as of waitpid()
  std::string output;
  std::string errors;
};

Answer run_curl(const UniqueFd& config, const UniqueFd& body) {
  Answer answer;
  const UniqueFd output(memfd_create("heapprof-push", MFD_CLOEXEC));
  const UniqueFd errors(memfd_create("heapprof-push", MFD_CLOEXEC));
  if (!output.is_open() || !errors.is_open()) {
    answer.error = errno;
    return answer;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, config.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, body.get(), kBodyFd);
  char program[] = "curl";
  char no_rc[] = "--disable";  // because the user's ~/.curlrc may change the output
  char flag[] = "--config";
  char standard_input[] = "-";
  char* const arguments[] = {program, no_rc, flag, standard_input, nullptr};
  pid_t pid = -1;
  answer.error = posix_spawnp(&pid, program, &actions, SpawnAttributes().get(), arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (answer.error != 0) return answer;
  while (waitpid(pid, &answer.status, 0) < 0 && errno == EINTR) {
  }
  answer.output = read_all(output.get());
  answer.errors = read_all(errors.get());
  return answer;
}

// The first line with text.
std::string first_line(const std::string& text) {
  constexpr size_t kMost = 200;
  const size_t begin = text.find_first_not_of(" \r\n");
  if (begin == std::string::npos) return "";
  return escape_controls(text.substr(begin, std::min(kMost, text.find_first_of("\r\n", begin) - begin)));
}

// A memfd with these bytes. Its number is above those that curl gets, so that no dup2 overwrites it.
UniqueFd file_with(const std::string& bytes) {
  const UniqueFd low(memfd_create("heapprof-push", MFD_CLOEXEC));
  UniqueFd file(low.is_open() ? fcntl(low.get(), F_DUPFD_CLOEXEC, kBodyFd + 1) : -1);
  if (!file.is_open() || write_fully(file.get(), bytes) != 0 || lseek(file.get(), 0, SEEK_SET) != 0) return {};
  return file;
}

}  // namespace

std::string ingest_url(const PushTarget& target, const PushedProfile& pushed) {
  const size_t host = target.url.find("://");
  const size_t path = host == std::string::npos ? std::string::npos : target.url.find_first_of("/?#", host + 3);
  const std::string_view rest = path == std::string::npos ? "" : std::string_view(target.url).substr(path);
  if (rest != "" && rest != "/" && rest != "/ingest") return target.url;
  const RunInfo& run = pushed.profile->run;
  const std::string name = target.name.empty() ? program_name(run.command) : target.name;
  const int64_t begin_s = run.start_unix_ns / 1'000'000'000;
  const int64_t end_s = begin_s + static_cast<int64_t>(std::min<uint64_t>(run.duration_ns, INT64_MAX) / 1'000'000'000);
  std::vector<std::pair<std::string, std::string>> labels = pushed.labels;
  labels.emplace_back("device", pushed.device->name);
  return fmt::format("{}/ingest?name={}&from={}&until={}&format=pprof",
                     path == std::string::npos ? target.url : target.url.substr(0, path),
                     percent_encoded(fmt::format("{}{{{}}}", name.empty() ? "program" : name, label_list(labels))),
                     begin_s, std::max(end_s, begin_s + 1));
}

std::string curl_config(const std::string& url, const std::string& token, const std::string& body_path) {
  std::string config = fmt::format(
      "url = {}\nproto = \"=http,https\"\ndata-binary = {}\nheader = \"Content-Type: application/octet-stream\"\n"
      "header = \"Expect:\"\ngloboff\nsilent\nshow-error\nconnect-timeout = 10\nmax-time = 120\n"
      "write-out = \"\\n%{{http_code}}\"\n",
      in_quotes(url), in_quotes("@" + body_path));
  if (!token.empty()) config += fmt::format("header = {}\n", in_quotes("Authorization: Bearer " + token));
  return config;
}

Result<uint64_t> push(const PushTarget& target, const PushedProfile& pushed) {
  const bool is_http = target.url.starts_with("http://") || target.url.starts_with("https://");
  const bool is_plain = std::all_of(target.url.begin(), target.url.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!is_http || !is_plain) return bad_value("URL", target.url, "an address that begins with http:// or https://");
  StringSink bytes;
  const GoHeapPart part{pushed.profile, pushed.device, pushed.labels};
  const RunInfo& run = pushed.profile->run;
  GoHeapView view;
  view.time_unix_ns = run.start_unix_ns + static_cast<int64_t>(std::min<uint64_t>(run.duration_ns, INT64_MAX / 4));
  view.duration_ns = run.duration_ns;
  write_go_heap({&part, 1}, view, &bytes);
  const UniqueFd body = file_with(bytes.text());
  const UniqueFd config =
      file_with(curl_config(ingest_url(target, pushed), target.token, fmt::format("/dev/fd/{}", kBodyFd)));
  if (!body.is_open() || !config.is_open()) return push_refused(target.url, errno_text(errno));
  const Answer answer = run_curl(config, body);
  if (answer.error != 0) return push_needs_curl(errno_text(answer.error));
  const size_t code_at = answer.output.rfind('\n');
  const std::string code = code_at == std::string::npos ? "" : answer.output.substr(code_at + 1);
  if (code.size() == 3 && code[0] == '2' && answer.status == 0) return bytes.text().size();
  std::string reason = first_line(answer.errors);
  if (code.size() == 3 && code != "000") {
    const std::string words = first_line(answer.output.substr(0, code_at));
    reason = fmt::format("it answered {}{}{}", code, words.empty() ? "" : ": ", words);
  }
  return push_refused(target.url, reason.empty() ? "it gave no answer" : reason);
}

}  // namespace heapprof::cli
