// cli/serve/question.h: a request on its way to its answer.
#pragma once

#include "cli/serve/http_server.h"
#include "cli/serve/served_processes.h"
#include "cli/serve/served_request.h"
#include "cli/serve/snapshot_store.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heapprof::cli {

// Those who ask the same, and how far it is.
struct Question {
  ServedRequest request;
  std::string key;
  std::vector<HttpExchange> waiting;
  uint64_t begin_ns = 0;
  bool is_begun = false;
  std::vector<ServedProcess> processes;
  uint64_t left_out = 0;
  std::vector<SnapshotOutcome> first;  // by process
  std::vector<SnapshotOutcome> last;
  size_t missing = 0;   // snapshots that are being taken
  uint64_t due_ns = 0;  // when the last ones are to be taken; 0: not yet, or not any more
};
// One that was made, for those who ask the same a moment later.
struct KeptAnswer {
  AnswerPtr answer;
  uint64_t good_until_ns = 0;
};
using QuestionPtr = std::shared_ptr<Question>;

}  // namespace heapprof::cli
