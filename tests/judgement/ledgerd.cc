// tests/judgement/ledgerd.cc: what is wrong with it, or not, stands in truth.tsv.
// ledgerd: keeps all accounts in memory and books transfers between them.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Account {
  std::string owner;
  std::vector<double> days;                                  // the balance of each day of the year
};

class Ledger {
 public:
  explicit Ledger(int accounts) {
    accounts_.reserve(accounts);
    for (int i = 0; i < accounts; ++i) {
      Account account;
      account.owner = "account holder number " + std::to_string(i);
      account.days.assign(365, i);
      accounts_.push_back(std::move(account));
    }
  }
  bool move(uint32_t from, uint32_t to, int day, double amount) {
    Account &a = at(from), &b = at(to);
    if (a.days[day] < amount) return false;
    a.days[day] -= amount;
    b.days[day] += amount;
    return true;
  }
  const std::string &owner(uint32_t i) const { return accounts_[i % accounts_.size()].owner; }

 private:
  Account &at(uint32_t i) { return accounts_[i % accounts_.size()]; }
  std::vector<Account> accounts_;
};

class Audit {
 public:
  void note(const std::string &from, const std::string &to, double amount, bool done) {
    char head[200];
    int n = snprintf(head, sizeof head, "%s>%s: %.2f %s ", from.c_str(), to.c_str(), amount, done ? "done" : "refused");
    std::string entry(head, n);
    entry.resize(560, '.');
    by_day_[int(notes_++ / 2000)].push_back(std::move(entry));
  }
  size_t notes() const { return notes_; }

 private:
  size_t notes_ = 0;
  std::map<int, std::vector<std::string>> by_day_;
};

class Server {
 public:
  explicit Server(int accounts) : ledger_(accounts) {}
  int serve(uint32_t request) {
    int done = 0;
    for (uint32_t k = 0; k < 6; ++k) {
      uint32_t from = (request * 31 + k) * 2654435761u, to = from ^ 0x5bd1e995u;
      double amount = from % 1000;
      bool ok = ledger_.move(from, to, int(request % 365), amount);
      audit_.note(ledger_.owner(from), ledger_.owner(to), amount, ok);
      done += ok;
    }
    return done;
  }
  size_t notes() const { return audit_.notes(); }

 private:
  Ledger ledger_;
  Audit audit_;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int requests = 2000 * (s ? atoi(s) : 1);
  Server server(52000);
  size_t done = 0;
  for (int r = 0; r < requests; ++r) {
    done += server.serve(r);
    std::this_thread::sleep_for(1ms);
  }
  printf("%zu transfers, %zu notes\n", done, server.notes());
}
