// cli/target/order_client.cc: see order_client.h.
#include "cli/target/order_client.h"

#include "cli/base/problems.h"
#include "cli/target/collector_search.h"

#include <sys/socket.h>

#include <string>
#include <string_view>

namespace heapprof::cli {

Result<Followers> give_order(const Order& order, const char* command) {
  const std::string shown = std::to_string(order.pid);
  const Result<Collectors> collectors = find_collectors(order.pid, command);
  if (!collectors) return collectors.problem();
  for (const std::string& collector : collectors->paths) {
    const UniqueFd connection = connect_to_collector(collector);
    if (!connection.is_open()) continue;
    if (send(connection.get(), &order, sizeof order, MSG_NOSIGNAL) < 0) continue;
    OrderAnswer answer;
    if (!wait_readable(connection.get(), kCollectorPatienceMs) ||
        recv(connection.get(), &answer, sizeof answer, 0) != static_cast<ssize_t>(sizeof answer)) {
      if (collectors->is_own) return nobody_answers(shown);
      continue;
    }
    answer.text[sizeof answer.text - 1] = 0;
    if (answer.status == OrderStatus::kUnknown) continue;
    if (answer.status == OrderStatus::kRefused) return order_refused(command, shown, answer.text);
    return Followers{answer.processes, std::string_view(answer.text) == kWholeRun};
  }
  return process_not_profiled(shown);
}

}  // namespace heapprof::cli
