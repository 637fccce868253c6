// tests/judgement/accounts.cc: what is wrong with it, or not, stands in truth.tsv.
// accounts: keeps customer balances, books transfers, and writes the regulator's extract at noon.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

struct Account {
    std::string holder;
    std::string iban;
    long balance = 0;
    int transfers = 0;
};

struct XmlNode {
    std::string name;
    std::string value;
    std::map<std::string, std::string> attributes;
    std::vector<std::unique_ptr<XmlNode>> children;

    explicit XmlNode(std::string n, std::string v = "") : name(std::move(n)), value(std::move(v)) {}

    XmlNode &child(const std::string &n, const std::string &v = "")
    {
        children.push_back(std::make_unique<XmlNode>(n, v));
        return *children.back();
    }

    void write(std::FILE *out) const
    {
        std::fprintf(out, "<%s", name.c_str());
        for (const auto &[key, val] : attributes)
            std::fprintf(out, " %s=\"%s\"", key.c_str(), val.c_str());
        std::fprintf(out, ">%s", value.c_str());
        for (const auto &c : children)
            c->write(out);
        std::fprintf(out, "</%s>\n", name.c_str());
    }
};

class Bank {
    std::vector<Account> accounts_;
    std::uint64_t state_ = 2;

    unsigned next(unsigned limit)
    {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return unsigned(state_ >> 33) % limit;
    }

public:
    explicit Bank(std::size_t n)
    {
        accounts_.reserve(n);
        for (std::size_t i = 0; i < n; i++) {
            Account a;
            a.holder = "Customer Number " + std::to_string(i);
            a.iban = "DE" + std::to_string(1000000000000000000UL + i * 7919);
            a.balance = 10000 + next(500000);
            accounts_.push_back(std::move(a));
        }
    }

    void book_transfers(long count)
    {
        while (count-- > 0) {
            Account &from = accounts_[next(unsigned(accounts_.size()))];
            Account &to = accounts_[next(unsigned(accounts_.size()))];
            long amount = 1 + next(2000);
            if (from.balance < amount)
                continue;
            from.balance -= amount;
            to.balance += amount;
            from.transfers++;
            to.transfers++;
        }
    }

    void export_extract(const std::string &path) const
    {
        XmlNode root("extract");
        for (const Account &a : accounts_) {
            XmlNode &node = root.child("account");
            node.attributes["currency"] = "EUR";
            node.child("holder", a.holder);
            node.child("iban", a.iban);
            node.child("balance", std::to_string(a.balance));
        }
        std::FILE *out = std::fopen(path.c_str(), "w");
        if (!out) {
            std::perror(path.c_str());
            std::exit(1);
        }
        root.write(out);
        std::fclose(out);
    }

    long total() const
    {
        long sum = 0;
        for (const Account &a : accounts_)
            sum += a.balance;
        return sum;
    }
};

int main()
{
    const std::string path = "/tmp/extract-" + std::to_string(getpid()) + ".xml";
    Bank bank(120000);
    bank.book_transfers(40000000);
    bank.export_extract(path);
    bank.book_transfers(70000000);
    std::printf("total %ld\n", bank.total());
    unlink(path.c_str());
}
