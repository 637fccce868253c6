// cli/serve/http_server.h: an HTTP server on libmicrohttpd in which no client blocks another.
//
// Guarantees
//  - A connection has one request and one answer, with limits: the head may take 10 s and 16 KiB, and reading the
//    answer one minute. Requests with a body are refused. At most 64 connections are open at a time, at most 48 from
//    one address.
//  - A client that waits for its answer costs a connection but no thread. The caller may give the answer at any time,
//    by answer().
//  - An answer's body may be a file; it is sent from the file, to any number of clients.
// Not provided: TLS: use a proxy (man heapprof-serve).
// Context:  one thread, which owns the server and calls run().
// Trust:    clients are hostile.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"
#include "cli/serve/served_request.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string text;  // the body, if there is no file
  UniqueFd file;
  uint64_t size_bytes = 0;  // of the file
};
using AnswerPtr = std::shared_ptr<const HttpAnswer>;

AnswerPtr problem_answer(int status, const Problem& problem);
AnswerPtr text_answer(std::string type, std::string text);
// For a problem that is already formatted.
AnswerPtr words_answer(int status, std::string words);

enum class HttpExchange : uint64_t {};

class HttpServer {
 public:
  // Returns the answer, or nullptr if answer() will be called for the exchange later.
  using Handler = std::function<AnswerPtr(HttpExchange, const HttpHead&)>;

  static Result<std::unique_ptr<HttpServer>> open(UniqueFd listener, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int fd() const;  // readable when run() has something to do
  // The latest time for the next run(), by monotonic_ns().
  uint64_t next_ns() const;
  void run();
  // Does nothing if the client has gone.
  void answer(HttpExchange exchange, AnswerPtr answer);

 private:
  struct Inside;
  explicit HttpServer(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

}  // namespace heapprof::cli
