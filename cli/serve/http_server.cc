// cli/serve/http_server.cc: adds to libmicrohttpd a time limit for the whole connection.
//
// Debian 12 has two libraries to choose from. In cpp-httplib 0.11, a thread reads from one connection until the head is
// complete. Each byte restarts its timeout, and the number of headers has no limit. So eight slow clients can stop a
// server of eight threads for as long as they like. libmicrohttpd reads all connections in one loop, gives each a
// memory pool of fixed size, limits connections in total and by address, and can suspend a connection until its answer
// is ready. But its own timeout only limits the time without a byte. So here each connection has a deadline, at which
// its socket is shut down; the library then finds it closed.
#include "cli/serve/http_server.h"

#include "cli/base/clock.h"
#include "cli/base/problems.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <map>

namespace heapprof::cli {

namespace {

constexpr unsigned kMostConnections = 64;
constexpr unsigned kMostOfAddress = 48;
constexpr size_t kConnectionBytes = 16u << 10;
constexpr size_t kMostArguments = 16;
constexpr unsigned kSilenceSeconds = 10;
constexpr uint64_t kHeadNs = 10'000'000'000;
constexpr uint64_t kAnswerNs = 60'000'000'000;
constexpr uint64_t kSweepNs = 500'000'000;

struct Connection {
  int fd = -1;
  uint64_t deadline_ns = 0;  // 0: no deadline while the client waits for its answer
};

struct Exchange {
  uint64_t id = 0;
  MHD_Connection* connection = nullptr;
  Connection* of = nullptr;
  HttpHead head;
  AnswerPtr answer;
  bool is_suspended = false;
};

std::string text_of(const char* bytes, size_t size) { return bytes == nullptr ? "" : std::string(bytes, size); }

MHD_Result take_argument(void* context, MHD_ValueKind, const char* key, size_t key_size, const char* value,
                         size_t value_size) {
  auto* head = static_cast<HttpHead*>(context);
  head->arguments.emplace_back(text_of(key, key_size), text_of(value, value_size));
  return head->arguments.size() > kMostArguments ? MHD_NO : MHD_YES;
}

struct Named {
  const char* name;
  std::optional<std::string> value;
  int count = 0;
};

MHD_Result take_header(void* context, MHD_ValueKind, const char* key, size_t, const char* value, size_t value_size) {
  auto* named = static_cast<Named*>(context);
  if (strcasecmp(key, named->name) != 0) return MHD_YES;
  ++named->count;
  named->value = text_of(value, value_size);
  return MHD_YES;
}

// Proxies and servers disagree about which value counts if a header comes twice. Here it counts as empty.
std::optional<std::string> header_of(MHD_Connection* connection, const char* name) {
  Named named{name, std::nullopt};
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_header, &named);
  if (named.count > 1) named.value = "";
  return named.value;
}

void say_nothing(void*, const char*, va_list) {}

}  // namespace

AnswerPtr problem_answer(int status, const Problem& problem) {
  return words_answer(status, format_problem(problem, {}));
}

AnswerPtr text_answer(std::string type, std::string text) {
  auto answer = std::make_shared<HttpAnswer>();
  answer->type = std::move(type);
  answer->text = std::move(text);
  return answer;
}

AnswerPtr words_answer(int status, std::string words) {
  auto answer = std::make_shared<HttpAnswer>();
  answer->status = status;
  answer->text = std::move(words);
  if (status == 401)
    answer->headers.emplace_back("WWW-Authenticate", "Bearer realm=\"heapprof\", Basic realm=\"heapprof\"");
  if (status == 405) answer->headers.emplace_back("Allow", "GET, HEAD");
  if (status == 503) answer->headers.emplace_back("Retry-After", "5");
  return answer;
}

struct HttpServer::Inside {
  Handler handler;
  UniqueFd listener;
  MHD_Daemon* daemon = nullptr;
  int epoll = -1;
  uint64_t last_id = 0;
  uint64_t next_sweep_ns = 0;
  std::map<Connection*, std::unique_ptr<Connection>> connections;
  std::map<uint64_t, Exchange*> exchanges;  // suspended, by id: they wait for their answer

  ~Inside() {
    if (daemon == nullptr) return;
    // MHD_stop_daemon() requires that no connection is suspended.
    for (auto& [id, exchange] : exchanges) {
      exchange->answer = problem_answer(503, server_is_busy("it is ending"));
      if (std::exchange(exchange->is_suspended, false)) MHD_resume_connection(exchange->connection);
    }
    exchanges.clear();
    MHD_run(daemon);
    MHD_stop_daemon(daemon);
  }

  static void on_connection(void* context, MHD_Connection* connection, void** socket_context,
                            MHD_ConnectionNotificationCode what) {
    auto* inside = static_cast<Inside*>(context);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
      auto one = std::make_unique<Connection>();
      const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      if (info != nullptr) one->fd = info->connect_fd;
      one->deadline_ns = monotonic_ns() + kHeadNs;
      *socket_context = one.get();
      inside->connections.emplace(one.get(), std::move(one));
    } else {
      inside->connections.erase(static_cast<Connection*>(*socket_context));
      *socket_context = nullptr;
    }
  }

  static void on_completed(void* context, MHD_Connection*, void** request_context, MHD_RequestTerminationCode) {
    auto* inside = static_cast<Inside*>(context);
    auto* exchange = static_cast<Exchange*>(*request_context);
    if (exchange == nullptr) return;
    inside->exchanges.erase(exchange->id);
    delete exchange;
    *request_context = nullptr;
  }

  static MHD_Result on_request(void* context, MHD_Connection* connection, const char* url, const char* method,
                               const char*, const char*, size_t* body_size, void** request_context) {
    auto* inside = static_cast<Inside*>(context);
    try {
      return inside->take(connection, url, method, body_size, request_context);
    } catch (const std::exception&) {  // out of memory: the connection is closed
      return MHD_NO;
    }
  }

  // The library calls this with the head, again when it knows that there is no body, and again after a suspended
  // exchange was resumed.
  MHD_Result take(MHD_Connection* connection, const char* url, const char* method, size_t* body_size,
                  void** request_context) {
    if (*request_context == nullptr) {
      auto exchange = std::make_unique<Exchange>();
      exchange->id = ++last_id;
      exchange->connection = connection;
      const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
      exchange->of = info == nullptr ? nullptr : static_cast<Connection*>(info->socket_context);
      const bool is_read = read_head(connection, url, method, &exchange->head);
      const bool has_body = exchange->head.has_body;
      *request_context = exchange.release();
      if (!is_read)
        return send(connection, problem_answer(400, bad_http_request("the request has too many parameters")));
      // Does not wait for the body: the refusal is sent at once, and the connection ends.
      if (has_body) return dispatch(static_cast<Exchange*>(*request_context));
      return MHD_YES;
    }
    auto* exchange = static_cast<Exchange*>(*request_context);
    if (*body_size != 0) {
      *body_size = 0;
      return MHD_YES;
    }
    return exchange->answer == nullptr ? dispatch(exchange)
                                       : send(connection, std::exchange(exchange->answer, nullptr));
  }

  static bool read_head(MHD_Connection* connection, const char* url, const char* method, HttpHead* head) {
    head->method = method;
    head->path = url;
    head->host = header_of(connection, "Host");
    head->authorization = header_of(connection, "Authorization");
    head->accept = header_of(connection, "Accept");
    head->fetch_site = header_of(connection, "Sec-Fetch-Site");
    head->fetch_mode = header_of(connection, "Sec-Fetch-Mode");
    head->has_body = header_of(connection, "Content-Length").value_or("0") != "0" ||
                     header_of(connection, "Transfer-Encoding").has_value();
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, take_argument, head);
    return head->arguments.size() <= kMostArguments;
  }

  MHD_Result dispatch(Exchange* exchange) {
    if (AnswerPtr answer = handler(HttpExchange{exchange->id}, exchange->head))
      return send(exchange->connection, answer);
    if (exchange->of != nullptr) exchange->of->deadline_ns = 0;
    exchanges.emplace(exchange->id, exchange);
    exchange->is_suspended = true;
    MHD_suspend_connection(exchange->connection);
    return MHD_YES;
  }

  static MHD_Result send(MHD_Connection* connection, const AnswerPtr& answer) {
    MHD_Response* response = nullptr;
    if (answer->file.is_open()) {
      const int own = fcntl(answer->file.get(), F_DUPFD_CLOEXEC, 0);
      if (own >= 0) response = MHD_create_response_from_fd64(answer->size_bytes, own);
      if (response == nullptr && own >= 0) close(own);
    } else {
      response = MHD_create_response_from_buffer(answer->text.size(), const_cast<char*>(answer->text.data()),
                                                 MHD_RESPMEM_MUST_COPY);
    }
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", answer->type.c_str());
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Connection", "close");
    // with this header, go tool pprof shows the text of an error
    if (answer->status >= 400) MHD_add_response_header(response, "X-Go-Pprof", "1");
    for (const auto& [name, value] : answer->headers) MHD_add_response_header(response, name.c_str(), value.c_str());
    const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned>(answer->status), response);
    MHD_destroy_response(response);
    const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info != nullptr && info->socket_context != nullptr)
      static_cast<Connection*>(info->socket_context)->deadline_ns = monotonic_ns() + kAnswerNs;
    return queued;
  }

  void sweep(uint64_t now_ns) {
    if (now_ns < next_sweep_ns) return;
    next_sweep_ns = now_ns + kSweepNs;
    for (auto& [key, connection] : connections) {
      if (connection->deadline_ns == 0 || now_ns < connection->deadline_ns) continue;
      shutdown(connection->fd, SHUT_RDWR);
      connection->deadline_ns = now_ns + kAnswerNs;
    }
  }
};

HttpServer::HttpServer(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::open(UniqueFd listener, Handler handler) {
  auto inside = std::make_unique<Inside>();
  inside->handler = std::move(handler);
  // The library reads the options in order, and stops at the first error. The logger comes first, so that no error is
  // printed to our stderr.
  inside->daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, nullptr, nullptr, &Inside::on_request,
      inside.get(), MHD_OPTION_EXTERNAL_LOGGER, &say_nothing, nullptr, MHD_OPTION_LISTEN_SOCKET, listener.get(),
      MHD_OPTION_CONNECTION_LIMIT, kMostConnections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, kMostOfAddress,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes, MHD_OPTION_CONNECTION_TIMEOUT, kSilenceSeconds,
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, &Inside::on_connection, inside.get(),
      MHD_OPTION_NOTIFY_COMPLETED, &Inside::on_completed, inside.get(), MHD_OPTION_END);
  if (inside->daemon == nullptr) return cannot_listen("the server's socket", errno_text(errno));
  listener.release();  // the library will close it
  const MHD_DaemonInfo* info = MHD_get_daemon_info(inside->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  if (info != nullptr) inside->epoll = info->epoll_fd;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(inside)));
}

int HttpServer::fd() const { return inside_->epoll; }

uint64_t HttpServer::next_ns() const {
  const uint64_t now_ns = monotonic_ns();
  uint64_t next_ns = inside_->connections.empty() ? UINT64_MAX : std::max(inside_->next_sweep_ns, now_ns);
  MHD_UNSIGNED_LONG_LONG timeout_ms = 0;
  if (MHD_get_timeout(inside_->daemon, &timeout_ms) == MHD_YES)
    next_ns = std::min<uint64_t>(next_ns, now_ns + std::min<uint64_t>(timeout_ms, 1000) * 1'000'000);
  return next_ns;
}

void HttpServer::run() {
  inside_->sweep(monotonic_ns());
  MHD_run(inside_->daemon);
}

void HttpServer::answer(HttpExchange exchange, AnswerPtr answer) {
  const auto found = inside_->exchanges.find(static_cast<uint64_t>(exchange));
  if (found == inside_->exchanges.end()) return;
  Exchange* const waiting = found->second;
  inside_->exchanges.erase(found);
  waiting->answer = std::move(answer);
  waiting->is_suspended = false;
  MHD_resume_connection(waiting->connection);
}

}  // namespace heapprof::cli
