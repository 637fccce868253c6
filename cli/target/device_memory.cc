// cli/target/device_memory.cc: asks one question of a helper process. The CUDA context and the driver's threads are in
// the helper, because the tool may be linked statically and cannot load the driver.
#include "cli/target/device_memory.h"

#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/target/helper_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr size_t kLongestAnswer = 4096;

// All that the helper writes until it ends; nullopt: it takes too long.
std::optional<std::string> read_answer(const UniqueFd& socket, int patience_ms) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(patience_ms);
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd answer{socket.get(), POLLIN, 0};
    const int ready = poll(&answer, 1, left < 0 ? 0 : static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    char bytes[512];
    const ssize_t got = recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0 || text.size() > kLongestAnswer) return text;
    text.append(bytes, static_cast<size_t>(got));
  }
}

// Returns the word before the next blank; removes it and the blank from *text.
std::string_view take_word(std::string_view* text) {
  const size_t blank = std::min(text->find(' '), text->size());
  const std::string_view word = text->substr(0, blank);
  text->remove_prefix(std::min(blank + 1, text->size()));
  return word;
}
bool parse_bytes(std::string_view word, uint64_t* bytes) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *bytes);
  return error == std::errc() && end == word.data() + word.size();
}

// "free BYTES TOTAL CONTEXT NAME"
std::optional<DeviceMemory> parse_answer(std::string_view line) {
  DeviceMemory memory;
  uint64_t context_bytes = 0;
  if (take_word(&line) != "free" || !parse_bytes(take_word(&line), &memory.free_bytes) ||
      !parse_bytes(take_word(&line), &memory.total_bytes) || memory.free_bytes > memory.total_bytes)
    return std::nullopt;
  const std::string_view context = take_word(&line);
  if (context != "-") {
    if (!parse_bytes(context, &context_bytes)) return std::nullopt;
    memory.context_bytes = context_bytes;
  }
  memory.product = escape_controls(line);
  return memory;
}

}  // namespace

Result<DeviceMemory> measure_device(const std::string& helper, uint64_t index, int patience_ms) {
  const std::string device = fmt::format("cuda:{}", index);
  if (helper.empty()) return device_not_measured(device, "heapprof-nvml is not installed beside the agent");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return device_not_measured(device, errno_text(errno));
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  pid_t pid = 0;
  if (const int error = start_helper(helper, {"free", std::to_string(index)}, theirs, &pid); error != 0)
    return device_not_measured(device, "heapprof-nvml: " + errno_text(error));
  theirs.reset();
  const std::optional<std::string> answer = read_answer(ours, patience_ms);
  end_helper(pid);
  if (!answer) return device_not_measured(device, "the driver does not answer");
  const std::string_view line = std::string_view(*answer).substr(0, answer->find('\n'));
  if (line.starts_with("missing ")) return device_not_measured(device, escape_controls(line.substr(8)));
  const std::optional<DeviceMemory> memory = parse_answer(line);
  if (!memory) return device_not_measured(device, "heapprof-nvml ended without an answer");
  return *memory;
}

}  // namespace heapprof::cli
