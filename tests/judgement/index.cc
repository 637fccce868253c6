// tests/judgement/index.cc: what is wrong with it, or not, stands in truth.tsv.
// index: builds an inverted index over a text collection and answers conjunctive queries.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct Posting {
    std::uint32_t document;
    std::uint16_t position, weight;
};

class Collection {
    std::uint64_t state_ = 17;
    unsigned next(unsigned limit)
    {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return unsigned(state_ >> 33) % limit;
    }
public:
    static std::string term(unsigned id)
    {
        static const char *const syl[] = {"ka", "lo", "mi", "ne", "ru", "sta", "tor", "ven"};
        std::string w;
        for (int i = 0; i < 5; i++, id >>= 3)
            w += syl[id & 7];
        return w;
    }
    // common words come up more often than rare ones
    void read_document(std::string &text)
    {
        text.clear();
        for (unsigned n = 60 + next(120); n-- > 0;) {
            unsigned a = next(32000), b = next(32000);
            text += term(std::min(a, b));
            text += ' ';
        }
    }
};

class InvertedIndex {
    std::unordered_map<std::string, std::vector<Posting>> postings_;
    std::vector<std::uint16_t> lengths_;

public:
    void add_document(std::string_view text)
    {
        auto id = std::uint32_t(lengths_.size());
        std::uint16_t position = 0;
        std::string key;
        for (std::size_t pos = 0; pos < text.size();) {
            std::size_t end = text.find(' ', pos);
            if (end == std::string_view::npos)
                end = text.size();
            key.assign(text.substr(pos, end - pos));
            std::vector<Posting> &list = postings_[key];
            if (!list.empty() && list.back().document == id)
                list.back().weight++;
            else
                list.push_back(Posting{id, position, 1});
            position++;
            pos = end + 1;
        }
        lengths_.push_back(position);
    }

    std::size_t match_both(const std::string &a, const std::string &b, double &score) const
    {
        auto ia = postings_.find(a), ib = postings_.find(b);
        if (ia == postings_.end() || ib == postings_.end())
            return 0;
        std::size_t found = 0;
        auto p = ia->second.begin(), q = ib->second.begin();
        while (p != ia->second.end() && q != ib->second.end()) {
            if (p->document < q->document)
                ++p;
            else if (q->document < p->document)
                ++q;
            else {
                score += double(p->weight + q->weight) / lengths_[p->document];
                found++;
                ++p;
                ++q;
            }
        }
        return found;
    }

    std::size_t terms() const { return postings_.size(); }
    std::size_t documents() const { return lengths_.size(); }
};

int main()
{
    Collection source;
    InvertedIndex index;
    std::string text;
    for (int i = 0; i < 30000; i++) {
        source.read_document(text);
        index.add_document(text);
    }
    std::size_t found = 0;
    double score = 0;
    for (unsigned q = 0; q < 300000; q++)
        found += index.match_both(Collection::term(q * 7919u % 25000), Collection::term(q * 104729u % 32000), score);
    std::printf("%zu documents, %zu terms, %zu matches, score %.3f\n", index.documents(), index.terms(), found, score);
}
