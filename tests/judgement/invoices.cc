// tests/judgement/invoices.cc: what is wrong with it, or not, stands in truth.tsv.
// invoices: answers requests about invoices; once a year the tax office asks for everything.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Item { uint32_t article; uint32_t count; double price; };
struct Invoice {
  uint32_t number;
  std::string customer;
  std::vector<Item> items;
};

class Archive {
 public:
  explicit Archive(int invoices) {
    invoices_.reserve(invoices);
    for (int n = 0; n < invoices; ++n) {
      Invoice invoice{uint32_t(n), "customer in the town of number " + std::to_string(n % 5000), {}};
      invoice.items.reserve(25);
      for (uint32_t i = 0; i < 25; ++i) invoice.items.push_back({i * 31 + n % 17, i % 4 + 1, (n % 100) * 0.25});
      invoices_.push_back(std::move(invoice));
    }
  }
  const std::vector<Invoice> &all() const { return invoices_; }

 private:
  std::vector<Invoice> invoices_;
};

double sum_of(const Invoice &invoice) {
  double sum = 0;
  for (const Item &item : invoice.items) sum += item.count * item.price;
  return sum;
}

std::string to_xml(const Item &item) {
  char text[200];
  int n = snprintf(text, sizeof text, "  <item><article>%u</article><count>%u</count><price>%.2f</price></item>\n",
                   item.article, item.count, item.price);
  return std::string(text, n);
}

std::vector<std::string> to_elements(const Archive &archive) {
  std::vector<std::string> elements;
  elements.reserve(archive.all().size() * 26);
  for (const Invoice &invoice : archive.all()) {
    elements.push_back("<invoice customer='" + invoice.customer + "'>\n");
    for (const Item &item : invoice.items) elements.push_back(to_xml(item));
  }
  return elements;
}

size_t export_year(const Archive &archive) {
  std::vector<std::string> elements = to_elements(archive);
  size_t bytes = 0, check = 0;
  for (const std::string &e : elements) bytes += e.size(), check ^= e[e.size() / 2];
  return bytes + check;
}

double answer(const Archive &archive, uint32_t request) {
  std::map<std::string, double> sums;
  for (uint32_t i = 0; i < 40; ++i) {
    const Invoice &invoice = archive.all()[(request * 40 + i) * 2654435761u % archive.all().size()];
    sums[invoice.customer] += sum_of(invoice);
  }
  return sums.begin()->second;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int requests = 600 * (s ? atoi(s) : 1);
  Archive archive(36000);
  double sum = 0;
  size_t exported = 0;
  for (int r = 0; r < requests; ++r) {
    sum += answer(archive, r);
    if (r == 380) exported = export_year(archive);
    std::this_thread::sleep_for(4ms);
  }
  printf("%d requests, %.2f, %zu exported\n", requests, sum, exported);
}
