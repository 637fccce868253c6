// tests/judgement/reviews.cc: what is wrong with it, or not, stands in truth.tsv.
// reviews: finds near-duplicate product reviews by comparing word-shingle signatures.
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

using Signature = std::array<std::uint32_t, 32>;

struct Review {
    long id;
    std::string text;
    Signature signature;
};

static void write_sample(const std::string &path, int count)
{
    static const char *const words[] = {"extraordinarily", "the", "battery", "disappointing", "was", "recommendation",
                                        "good", "unfortunately", "price", "comfortable", "delivery", "straightforward"};
    std::uint64_t s = 555;
    std::ofstream out(path);
    for (int i = 0; i < count; i++) {
        out << i * 3 + 100000;
        for (int k = 0; k < 20; k++) {
            s = s * 6364136223846793005ULL + 1442695040888963407ULL;
            out << ' ' << words[(s >> 33) % 12];
        }
        out << '\n';
    }
}

static std::uint32_t hash_text(const std::string &s, std::uint32_t seed)
{
    std::uint32_t h = 2166136261u ^ seed;
    for (unsigned char c : s)
        h = (h ^ c) * 16777619u;
    return h ^ (h >> 16);
}

static Signature make_signature(const std::string &text)
{
    Signature sig;
    sig.fill(0xffffffffu);
    std::istringstream in(text);
    std::string previous, word;
    while (in >> word) {
        std::string shingle = previous + ' ' + word;
        std::uint32_t base = hash_text(shingle, 0);
        for (std::size_t k = 0; k < sig.size(); k++) {
            std::uint32_t h = base * std::uint32_t(2 * k + 1) + std::uint32_t(k) * 0x9e3779b9u;
            h ^= h >> 13;
            if (h < sig[k])
                sig[k] = h;
        }
        previous = word;
    }
    return sig;
}

static std::vector<Review> load_reviews(const std::string &path, int expected)
{
    std::vector<Review> all;
    all.reserve(expected);
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
        std::size_t blank = line.find(' ');
        Review r{std::stol(line.substr(0, blank)), line.substr(blank + 1), {}};
        r.signature = make_signature(r.text);
        all.push_back(std::move(r));
    }
    return all;
}

static int agreement(const Signature &a, const Signature &b)
{
    int same = 0;
    for (std::size_t k = 0; k < a.size(); k++)
        same += a[k] == b[k];
    return same;
}

int main()
{
    const int count = 22000;
    const std::string path = "/tmp/reviews-" + std::to_string(getpid()) + ".txt";
    write_sample(path, count);
    std::vector<Review> reviews = load_reviews(path, count);
    unlink(path.c_str());
    long pairs = 0;
    std::size_t best_a = 0, best_b = 1;
    int best = -1;
    for (std::size_t a = 0; a < reviews.size(); a++)
        for (std::size_t b = a + 1; b < reviews.size(); b++) {
            int same = agreement(reviews[a].signature, reviews[b].signature);
            pairs += same >= 16;
            if (same > best) {
                best = same;
                best_a = a;
                best_b = b;
            }
        }
    std::printf("%ld similar pairs, closest %ld/%ld (%d of 32): %.40s...\n", pairs, reviews[best_a].id,
                reviews[best_b].id, best, reviews[best_a].text.c_str());
}
