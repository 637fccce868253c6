// cli/serve/http_server.h: HTTP over libmicrohttpd: requests in, answers out; no client blocks another.
//
// Guarantees
//  - A connection has one request and one answer, and each part has a limit: the head 10 s and 16 KiB, reading the
//    answer one minute. Bodies are refused. 64 connections at a time, 48 of one address.
//  - A pending answer costs a connection and no thread; it may come from anywhere in the caller's loop.
//  - Bodies in a file are sent from the file, to any number of clients.
// Not provided: TLS: use a proxy (man heapprof-serve).
// Context:  one thread, which owns it and calls run().
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
// For a problem that was formatted elsewhere.
AnswerPtr words_answer(int status, std::string words);

enum class HttpExchange : uint64_t {};

class HttpServer {
 public:
  // The answer, or nullptr: answer() will be called for the exchange.
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
