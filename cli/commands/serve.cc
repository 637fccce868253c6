// cli/commands/serve.cc: parses the flags; cli/serve/serve.h does the rest. The socket is opened first, so that a port
// in use is reported before any process is looked for.
#include "cli/serve/serve.h"

#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/serve/listen_address.h"

#include <charconv>
#include <system_error>

namespace heapprof::cli {
namespace {

struct ServeFlags {
  std::vector<std::string> pids;
  std::string listen = "127.0.0.1:7171";
  std::string token_file;
  ServeOptions options;
  ColorMode color = ColorMode::kAuto;
};

Result<int> serve_with(ServeFlags flags) {
  if (flags.pids.empty() && flags.options.follow.empty()) return missing_pid("serve");
  if (!flags.pids.empty() && !flags.options.follow.empty())
    return bad_value("PID", flags.pids[0], "left out where --follow says who is served");
  for (const std::string& text : flags.pids) {
    pid_t pid = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, pid);
    if (error != std::errc{} || rest != end || pid <= 0) return bad_value("PID", text, "the number of a process");
    flags.options.pids.push_back(pid);
  }
  Result<std::string> token = read_token(flags.token_file, kServeTokenVariable);
  if (!token) return token.problem();
  flags.options.token = std::move(*token);
  const Result<ListenAddress> address = parse_listen_address(flags.listen);
  if (!address) return address.problem();
  if (flags.options.token.empty() && !address->is_loopback()) return listen_needs_token(address->text());
  Result<Listener> listener = listen_at(*address);
  if (!listener) return listener.problem();
  return serve(std::move(flags.options), std::move(*listener));
}

}  // namespace

CommandText serve_command_text() {
  return {"serve",
          "heapprof serve [OPTIONS] PID...",
          "Serve profiles of running programs over HTTP.",
          {"heapprof serve 4711                      at http://127.0.0.1:7171/debug/pprof/",
           "heapprof serve --follow 'worker*'        all profiled programs of that name",
           "heapprof serve --listen 0.0.0.0:7171 --token-file token 4711"},
          {"exit status: 0 when those named have ended; 1 if it cannot serve, 2 for wrong",
           "usage, 128+N if signal N ended it", "manual: man heapprof-serve"}};
}

int serve_main(const std::vector<std::string>& arguments) {
  ServeFlags target;
  Options options(serve_command_text());
  const char* who = "who and where";
  options.add_texts({"--follow", "NAME", who, "all profiled programs of this name; repeatable"},
                    &target.options.follow);
  options.add_text({"--listen", "ADDRESS", who, "[ADDR:]PORT; default 127.0.0.1:7171"}, &target.listen);
  options.add_text({"--token-file", "FILE", who, "who asks needs the token in it"}, &target.token_file);
  options.add_texts({"--host", "NAME", who, "a name of this server; repeatable"}, &target.options.hosts);
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.options.is_quiet);
  options.add_color(&target.color);
  options.add_positionals(&target.pids);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? serve_with(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
