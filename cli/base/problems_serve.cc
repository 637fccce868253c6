// cli/base/problems_serve.cc: the words of errors: serving profiles over HTTP, and sending them to a server. The texts
// about requests are also sent to HTTP clients.
#include "cli/base/problem_words.h"

#include <fmt/format.h>

namespace heapprof::cli {

Problem bad_listen_address(const std::string& address, const std::string& reason) {
  return {"HP260", fmt::format("nothing can listen at '{}': {}", address, reason),
          "name a port, or an address of this machine and a port: --listen 127.0.0.1:7171",
          "let the system choose a port: --listen 0", kUsage};
}

Problem cannot_listen(const std::string& address, const std::string& reason) {
  return {"HP261", fmt::format("{} cannot be listened at: {}", address, reason), "see who has the port: ss -ltnp",
          "let the system choose a port: --listen 0", kFailed};
}

Problem listen_needs_token(const std::string& address) {
  return {"HP262", fmt::format("{} can be reached from other machines, and no token keeps them out", address),
          "make one: openssl rand -hex 32 >token; chmod 600 token; and name it: --token-file token",
          "listen on this machine alone, and tunnel: --listen 127.0.0.1:7171", kUsage};
}

Problem bad_token(const std::string& source, const std::string& reason) {
  return {"HP263", fmt::format("{} holds no token: {}", source, reason),
          "make one: openssl rand -hex 32 >token; chmod 600 token", "serve on this machine alone, without one", kUsage};
}

Problem host_refused(const std::string& host) {
  return {"HP264",
          host.empty() ? std::string("the request names no host")
                       : fmt::format("the request is for the host '{}', which is no name of this server", host),
          "ask by the server's address: http://127.0.0.1:7171/",
          "let the server have that name: heapprof serve --host NAME", kFailed};
}

Problem token_refused() {
  return {"HP265", "the request has no token, or not this server's",
          "send it in the header \"Authorization: Bearer TOKEN\"",
          "send it as the password, with any user: http://heapprof:TOKEN@HOST:PORT/", kFailed};
}

Problem bad_http_request(const std::string& what) {
  return {"HP266", what, "see what there is: /debug/pprof/", "man heapprof-serve lists paths and parameters", kFailed};
}

Problem server_is_busy(const std::string& reason) {
  return {"HP267", fmt::format("the server has too much to do: {}", reason), "ask again in some seconds",
          "ask less often: what is asked for within a second is answered from one snapshot", kFailed};
}

Problem push_refused(const std::string& url, const std::string& reason) {
  return {"HP268", fmt::format("{} did not take the profile: {}", url, reason),
          "see that the server runs, and that the address is that of its ingest endpoint: man heapprof-push",
          "write a file, and send that by other means: heapprof export --format pprof FILE", kFailed};
}

Problem push_needs_curl(const std::string& reason) {
  return {"HP269", fmt::format("the program curl, which speaks to servers, cannot be started: {}", reason),
          "apt-get install curl", "write a file, and send that by other means: heapprof export --format pprof FILE",
          kFailed};
}

}  // namespace heapprof::cli
