// tests/judgement/risks.cc: what is wrong with it, or not, stands in truth.tsv.
// risks: end-of-day risk run over the order book.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct Order {
    std::string client;
    std::string instrument;
    std::string remark;
    double price;
    int quantity;
    bool buy;
};

class OrderBook {
    std::vector<Order> orders_;
    std::uint64_t state_ = 1001;

    unsigned next(unsigned limit)
    {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return unsigned(state_ >> 33) % limit;
    }

public:
    void load(std::size_t count)
    {
        orders_.reserve(count);
        for (std::size_t i = 0; i < count; i++) {
            Order o;
            o.client = "client-account-" + std::to_string(100000 + next(20000));
            o.instrument = "XETR:" + std::to_string(next(400));
            o.remark = "entered by desk " + std::to_string(next(30)) + " via terminal " + std::to_string(next(900));
            o.price = 10 + next(50000) / 100.0;
            o.quantity = 1 + int(next(500));
            o.buy = next(2) != 0;
            orders_.push_back(std::move(o));
        }
    }
    const std::vector<Order> &orders() const { return orders_; }
};

class RiskEngine {
    std::vector<Order> orders_;
    std::map<std::string, double> exposure_;

public:
    explicit RiskEngine(const std::vector<Order> &orders) : orders_(orders) {}

    void collect_exposure()
    {
        for (const Order &o : orders_)
            exposure_[o.instrument] += (o.buy ? 1 : -1) * o.price * o.quantity;
    }

    double simulate(int scenario) const
    {
        double loss = 0;
        for (const Order &o : orders_) {
            double shift = std::sin(scenario * 0.7 + o.price) * 0.03;
            loss += (o.buy ? -shift : shift) * o.price * o.quantity;
        }
        return loss;
    }

    double net_exposure() const
    {
        double sum = 0;
        for (const auto &[name, value] : exposure_)
            sum += std::fabs(value);
        return sum;
    }
};

static void print_largest(const OrderBook &book)
{
    const Order *largest = nullptr;
    for (const Order &o : book.orders())
        if (!largest || o.price * o.quantity > largest->price * largest->quantity)
            largest = &o;
    std::printf("largest order: %s %s %.2f x %d (%s)\n", largest->client.c_str(),
                largest->instrument.c_str(), largest->price, largest->quantity, largest->remark.c_str());
}

int main()
{
    OrderBook book;
    book.load(330000);
    RiskEngine engine(book.orders());
    engine.collect_exposure();
    std::vector<double> losses;
    for (int scenario = 0; scenario < 60; scenario++)
        losses.push_back(engine.simulate(scenario));
    std::sort(losses.begin(), losses.end());
    std::printf("net exposure %.0f, 95%% loss %.0f\n", engine.net_exposure(), losses[losses.size() * 95 / 100]);
    print_largest(book);
}
