// tests/targets/torch/torch_operators.cc: operators as PyTorch runs them, in several threads, which map pages in each,
// and its own books of what each path came to; and a profiler of its own, which must get what it gets without us. (The
// books themselves take memory of the heap, so that is not what they count.)
// usage: torch_operators FORM SEED THREADS [kill|throw|elsewhere|deep]     FORM: 1 to 6, of at::RecordFunction::before
//   kill       ends by SIGKILL when the books are printed
//   throw      operators end by exceptions
//   deep       300 operators, each inside of the one before, and nothing else
//   elsewhere  every second operator without inner ones is ended by another thread
// Prints "scope PATH BEGUN BLOCKS BYTES" and "backward PATH OPERATOR BEGUN BLOCKS BYTES", where bytes are with those of
// inner operators, and "seen BEGUN ENDED SUM", what the program's own profiler was told.
#include "tests/fake_torch/fake_torch.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

struct Sums {
  uint64_t begun = 0, blocks = 0, bytes = 0;
};
using Scopes = std::map<std::string, Sums>;
using Backwards = std::map<std::pair<std::string, std::string>, Sums>;

int g_form = 1;
bool g_throws = false, g_ends_elsewhere = false;
std::mutex g_books;
Scopes g_scopes;
Backwards g_backwards;
std::atomic<uint64_t> g_begun{0}, g_ended{0}, g_sum{0};

// ---- The program's own profiler ----

struct Seen : at::ObserverContext {
  uint64_t number;
};
std::unique_ptr<at::ObserverContext> note_begin(const at::RecordFunction& function) {
  auto seen = std::make_unique<Seen>();
  seen->number = static_cast<uint64_t>(function.sequence + 2) * std::strlen(function.name()) * function.form;
  ++g_begun;
  return seen;
}
void note_end(const at::RecordFunction& function, at::ObserverContext* context) {
  g_sum += static_cast<Seen*>(context)->number + function.form;
  ++g_ended;
}

// ---- A thread's work ----

struct Function {
  std::string path;  // of the operator that left it
  std::string name;
  int64_t sequence;
};

class Worker {
 public:
  Worker(int thread, uint32_t seed)
      : thread_(thread), random_(seed * 977 + static_cast<uint32_t>(thread)), sequence_(thread * 1'000'000) {}

  void work() {
    for (int round = 0; round < 20; ++round) {
      run(at::RecordScope::kUser, "step" + std::to_string(round % 2), -1, [this] {
        for (int i = 0; i < 6; ++i) forward(0);
        while (!left_.empty()) {
          const Function function = left_.back();
          left_.pop_back();
          backward(function);
        }
      });
    }
    const std::lock_guard lock(g_books);
    add(&g_scopes, scopes_);
    add(&g_backwards, backwards_);
  }

 private:
  template <typename Books>
  static void add(Books* to, const Books& from) {
    for (const auto& [key, sums] : from) {
      Sums& all = (*to)[key];
      all.begun += sums.begun;
      all.blocks += sums.blocks;
      all.bytes += sums.bytes;
    }
  }

  void allocate() {
    Sums& sums = scopes_[path_];
    for (uint32_t left = random_() % 4; left > 0; --left) {
      const size_t bytes = (1 + random_() % 5) << 12;
      void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (pages == MAP_FAILED || munmap(pages, bytes) != 0) std::abort();
      ++sums.blocks, sums.bytes += bytes;
      all_.blocks += 1, all_.bytes += bytes;
    }
  }

  // Begins as the form does it.
  void begin(at::RecordFunction* function, const std::string& name, int64_t sequence) {
    c10::FunctionSchema schema{name.c_str()};
    const std::string_view view = name;
    const at::RecordFunction::Schema reference = schema;
    const bool by_schema = function->scope == at::RecordScope::kFunction;
    switch (g_form) {
      case 1: return function->before(name.c_str(), sequence);
      case 2: return function->before(std::string(name), sequence);
      case 3: return function->before(reference, sequence);
      case 4:
        if (by_schema) return function->before(at::RecordFunction::OldDescribed(reference), sequence);
        return function->before(c10::basic_string_view<char>{name.data(), name.size()}, sequence);
      case 5:
        if (by_schema) return function->before(at::RecordFunction::Described(reference), sequence);
        return function->before(at::RecordFunction::Described(view), sequence);
      default: return function->before(at::RecordFunction::Described(view), sequence, c10::DispatchKey::kUndefined);
    }
  }

  template <typename Body>
  void run(at::RecordScope scope, const std::string& name, int64_t sequence, const Body& body) {
    const std::string before = path_;
    const std::string inner = path_.empty() ? name : path_ + " > " + name;
    ++scopes_[inner].begun;
    auto function = std::make_unique<at::RecordFunction>(at::StepCallbacks{scope});
    begin(function.get(), name, sequence);
    path_ = inner;
    allocate();
    try {
      body();
      allocate();
      if (g_throws && random_() % 3 == 0) throw 1;
      function->end();
    } catch (int) {
      function->end();
    }
    path_ = before;
  }

  std::string named(const char* name) const { return "t" + std::to_string(thread_) + "::" + name; }

  // An operator, which may consist of others. The innermost one leaves a function for the backward pass.
  void forward(int depth) {
    static constexpr const char* kNames[] = {"add", "mul", "linear", "conv", "relu"};
    const char* const name = kNames[random_() % std::size(kNames)];
    const bool is_inner = depth == 3 || random_() % 2 == 0;
    if (is_inner && g_ends_elsewhere && random_() % 2 == 0) return run_elsewhere(named(name));
    run(at::RecordScope::kFunction, named(name), sequence_, [&] {
      if (!is_inner) return forward(depth + 1);
      left_.push_back({path_, named(name) + "Back", sequence_++});
      run(at::RecordScope::kFunction, named("empty"), -1, [] {});
    });
  }

  void run_elsewhere(const std::string& name) {
    ++scopes_[path_ + " > " + name].begun;
    auto function = std::make_unique<at::RecordFunction>(at::StepCallbacks{at::RecordScope::kFunction});
    begin(function.get(), name, -1);
    std::thread([&] { function->end(); }).join();
  }

  void backward(const Function& function) {
    const Sums before = all_;
    run(at::RecordScope::kBackward, function.name, function.sequence,
        [this] { run(at::RecordScope::kFunction, named("mm"), -1, [] {}); });
    Sums& sums = backwards_[{path_ + " > " + function.name, function.path}];
    ++sums.begun;
    sums.blocks += all_.blocks - before.blocks;
    sums.bytes += all_.bytes - before.bytes;
  }

  int thread_;
  std::minstd_rand random_;
  int64_t sequence_;
  std::string path_;
  std::vector<Function> left_;
  Scopes scopes_;
  Backwards backwards_;
  Sums all_;
};

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  g_form = std::atoi(words[1]);
  const std::string end = count > 4 ? words[4] : "";
  g_throws = end == "throw";
  g_ends_elsewhere = end == "elsewhere";
  std::free(std::malloc(1));  // the first event outside of the library
  at::RecordFunctionCallback callback{note_begin, note_end};
  callback.scopes.fill(true);
  at::addGlobalCallback(callback);
  if (end == "deep") {
    std::vector<std::unique_ptr<at::RecordFunction>> open;
    for (int i = 0; i < 300; ++i) {
      open.push_back(std::make_unique<at::RecordFunction>(at::StepCallbacks{at::RecordScope::kFunction}));
      open.back()->before(at::RecordFunction::Described(std::string_view("t::deep")), -1);
    }
    while (!open.empty()) open.pop_back();
    return 0;
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(words[3]); ++i)
    threads.emplace_back([=] { Worker(i, static_cast<uint32_t>(std::atoi(words[2]))).work(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& [path, sums] : g_scopes)
    std::printf("scope %s %lu %lu %lu\n", path.c_str(), sums.begun, sums.blocks, sums.bytes);
  for (const auto& [key, sums] : g_backwards)
    std::printf("backward %s of %s %lu %lu %lu\n", key.first.c_str(), key.second.c_str(), sums.begun, sums.blocks,
                sums.bytes);
  std::printf("seen %lu %lu %lu\n", g_begun.load(), g_ended.load(), g_sum.load());
  std::fflush(stdout);
  if (end == "kill") raise(SIGKILL);
}
