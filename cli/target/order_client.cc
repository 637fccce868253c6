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
  OrderAnswer answer;
  bool has_left = false;
  const std::string_view request(reinterpret_cast<const char*>(&order), sizeof order);
  const Asked asked =
      ask_collectors(*collectors, request, kCollectorPatienceMs, [&](const std::string&, const UniqueFd& connection) {
        has_left = recv(connection.get(), &answer, sizeof answer, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof answer);
        return !has_left && answer.status != OrderStatus::kUnknown;
      });
  if (asked != Asked::kTaken)
    return collectors->is_own && (has_left || asked == Asked::kSilent) ? nobody_answers(shown)
                                                                       : process_not_profiled(shown);
  answer.text[sizeof answer.text - 1] = 0;
  if (answer.status == OrderStatus::kRefused) return order_refused(command, shown, answer.text);
  return Followers{answer.processes, std::string_view(answer.text) == kWholeRun};
}

}  // namespace heapprof::cli
