// tests/judgement/docsearch.cc: what is wrong with it, or not, stands in truth.tsv.
// docsearch: loads an inverted index, then answers the searches of many visitors.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
using namespace std::chrono_literals;

struct Posting { uint32_t document; uint32_t position; };
using PostingList = std::vector<Posting>;

class Index {
 public:
  explicit Index(int terms) : lists_(terms) {
    for (int t = 0; t < terms; ++t) {
      load_term(t);
      if (t % 500 == 0) std::this_thread::sleep_for(20ms);  // the index file arrives in parts
    }
  }
  const PostingList &find(uint32_t term) const { return lists_[term % lists_.size()]; }

 private:
  void load_term(int t) {
    PostingList &list = lists_[t];
    list.reserve(120);
    for (uint32_t i = 0; i < 120; ++i) list.push_back({seed_ = seed_ * 1664525 + 1013904223, i * 7});
  }
  std::vector<PostingList> lists_;
  uint32_t seed_ = 12345;
};

struct Visit {
  std::string user;
  std::vector<std::string> pages;                            // for the "back" button
};

class SessionStore {
 public:
  void remember(const std::string &session, const std::string &user, const std::string &page) {
    Visit &visit = visits_[session];
    if (visit.user.empty()) visit.user = user;
    visit.pages.push_back(page);
  }
  size_t sessions() const { return visits_.size(); }

 private:
  std::unordered_map<std::string, Visit> visits_;
};

std::string render_page(const PostingList &hits, uint32_t term) {
  std::string page;
  page.reserve(40 << 10);
  char row[160];
  for (int line = 0; page.size() + sizeof row < (40u << 10); ++line) {
    const Posting &p = hits[line % hits.size()];
    page.append(row, snprintf(row, sizeof row, "<li>term %u in document %u at %u, <a href=/d/%u>open</a></li>\n", term,
                              p.document, p.position, p.document));
  }
  return page;
}

class Service {
 public:
  explicit Service(int terms) : index_(terms) {}
  size_t answer(int request) {
    uint32_t term = uint32_t(request) * 2654435761u >> 7;
    std::string page = render_page(index_.find(term), term);
    store_.remember("session-" + std::to_string(request / 3), "visitor-" + std::to_string(request % 97), page);
    return page.size();
  }
  size_t sessions() const { return store_.sessions(); }

 private:
  Index index_;
  SessionStore store_;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int requests = 900 * (s ? atoi(s) : 1);
  Service service(30000);
  size_t sent = 0;
  for (int r = 0; r < requests; ++r) {
    sent += service.answer(r);
    std::this_thread::sleep_for(1500us);
  }
  printf("%d requests, %zu sessions, %zu bytes sent\n", requests, service.sessions(), sent);
}
