// tests/judgement/mailfilter.cc: what is wrong with it, or not, stands in truth.tsv.
// mailfilter: scores messages with per-list token weights, the way the nightly job does it.
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

struct Message {
    std::string sender;
    std::string subject;
    std::string body;
    double score = 0;
};

class Random {
    std::uint64_t state_;
public:
    explicit Random(std::uint64_t s) : state_(s) {}
    unsigned next(unsigned limit)
    {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return unsigned(state_ >> 33) % limit;
    }
};

static std::string vocabulary_word(unsigned id)
{
    static const char *const part[] = {"Offer", "meet", "win", "cheap", "Plan", "ship", "bill", "note",
                                       "free", "Order", "talk", "pill", "loan", "Code", "test", "date"};
    std::string w = part[id & 15];
    w += part[(id >> 4) & 15];
    return w;
}

class Scorer {
    std::vector<std::string> lists_{"blocklist", "phishing", "newsletter", "personal", "invoices", "tracking"};
    std::unordered_map<std::string, double> weights_;

    static std::string lower(std::string s)
    {
        for (char &c : s)
            c = char(std::tolower(static_cast<unsigned char>(c)));
        return s;
    }

    static std::string token_key(const std::string &list, const std::string &field, const std::string &token)
    {
        return "weights/" + list + "/" + field + ":" + lower(token);
    }

public:
    explicit Scorer(Random &rnd)
    {
        for (const auto &list : lists_)
            for (unsigned id = 0; id < 256; id++)
                for (const char *field : {"subject", "body"})
                    weights_[token_key(list, field, vocabulary_word(id))] = (rnd.next(2001) - 1000.0) / 1000.0;
    }

    double score_field(const std::string &text, const std::string &field) const
    {
        double sum = 0;
        std::size_t pos = 0;
        while (pos < text.size()) {
            std::size_t end = text.find(' ', pos);
            if (end == std::string::npos)
                end = text.size();
            std::string token = text.substr(pos, end - pos);
            for (const auto &list : lists_) {
                auto it = weights_.find(token_key(list, field, token));
                if (it != weights_.end())
                    sum += it->second;
            }
            pos = end + 1;
        }
        return sum;
    }

    void score(Message &m) const
    {
        double raw = 3 * score_field(m.subject, "subject") + score_field(m.body, "body");
        m.score = 1 / (1 + std::exp(-raw / 20));
    }
};

static std::vector<Message> load_mailbox(Random &rnd, int count)
{
    std::vector<Message> box;
    box.reserve(count);
    for (int i = 0; i < count; i++) {
        Message m;
        m.sender = "user" + std::to_string(rnd.next(5000)) + "@example.org";
        for (unsigned w = 4 + rnd.next(5); w-- > 0;)
            m.subject += vocabulary_word(rnd.next(256)) + " ";
        unsigned words = 150 + rnd.next(200);
        m.body.reserve(words * 11);
        for (; words-- > 0;)
            m.body += vocabulary_word(rnd.next(300)) + " ";
        box.push_back(std::move(m));
    }
    return box;
}

int main()
{
    Random rnd(8);
    Scorer scorer(rnd);
    std::vector<Message> box = load_mailbox(rnd, 4500);
    std::size_t spam = 0;
    for (auto &m : box) {
        scorer.score(m);
        if (m.score > 0.5)
            spam++;
    }
    std::printf("%zu of %zu messages moved to junk\n", spam, box.size());
}
