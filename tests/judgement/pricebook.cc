// tests/judgement/pricebook.cc: what is wrong with it, or not, stands in truth.tsv.
// pricebook: keeps all prices of a year in memory and answers requests for offers.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Article {
  std::string title;
  std::vector<double> days;                                  // the price of each day of the year
};

class PriceBook {
 public:
  explicit PriceBook(int articles) {
    articles_.reserve(articles);
    for (int i = 0; i < articles; ++i) {
      Article article;
      article.title = "article in the catalogue, number " + std::to_string(i);
      article.days.assign(365, i % 800);
      articles_.push_back(std::move(article));
    }
  }
  const Article &at(uint32_t i) const { return articles_[i % articles_.size()]; }

 private:
  std::vector<Article> articles_;
};

struct Offer { std::string text; double sum; };

Offer make_offer(const PriceBook &book, uint32_t request) {
  Offer offer{"", 0};
  std::vector<std::string> rows;
  for (uint32_t k = 0; k < 12; ++k) {
    const Article &a = book.at((request * 31 + k) * 2654435761u);
    double price = a.days[request % 365];
    rows.push_back(a.title + ": " + std::to_string(price) + " EUR");
    offer.sum += price;
  }
  for (const std::string &row : rows) offer.text += row + "\n";
  return offer;
}

class Recent {
 public:
  // The last 300 offers can be shown again.
  void keep(Offer offer) {
    offers_.push_back(std::move(offer));
    if (offers_.size() > 300) offers_.pop_front();
  }
  double average() const {
    double sum = 0;
    for (const Offer &o : offers_) sum += o.sum;
    return offers_.empty() ? 0 : sum / double(offers_.size());
  }

 private:
  std::deque<Offer> offers_;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int requests = 2000 * (s ? atoi(s) : 1);
  PriceBook book(52000);
  Recent recent;
  double check = 0;
  for (int r = 0; r < requests; ++r) {
    recent.keep(make_offer(book, r));
    if (r % 100 == 0) check += recent.average();
    std::this_thread::sleep_for(1ms);
  }
  printf("%d requests, check %.1f\n", requests, check);
}
