// tests/judgement/deps.cc: what is wrong with it, or not, stands in truth.tsv.
// deps: resolves package dependencies; all nodes live in an arena until the plan is printed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

class Arena {
    static constexpr std::size_t block_size = 1 << 20;
    std::vector<char *> blocks_;
    std::size_t used_ = block_size;

public:
    Arena() = default;
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;
    ~Arena()
    {
        for (char *b : blocks_)
            std::free(b);
    }
    void *take(std::size_t n)
    {
        n = (n + 15) & ~std::size_t(15);
        if (used_ + n > block_size) {
            char *b = static_cast<char *>(std::malloc(block_size));
            if (!b)
                throw std::bad_alloc();
            blocks_.push_back(b);
            used_ = 0;
        }
        void *p = blocks_.back() + used_;
        used_ += n;
        return p;
    }
    template <class T, class... A> T *make(A &&...a) { return new (take(sizeof(T))) T{std::forward<A>(a)...}; }
    std::size_t blocks() const { return blocks_.size(); }
};

struct Edge;

struct Package {
    const char *name;
    unsigned id;
    int version = 0;
    int state = 0;              // 0 new, 1 open, 2 placed
    Edge *needs = nullptr;
    Package *next_in_plan = nullptr;
};

struct Edge {
    Package *target;
    int min_version;
    Edge *next;
};

class Resolver {
    Arena arena_;
    std::unordered_map<unsigned, Package *> known_;
    Package *first_ = nullptr, **tail_ = &first_;
    long cycles_ = 0;

    static unsigned mix(unsigned a, unsigned b)
    {
        a = (a + b * 0x9e3779b9u) * 2654435761u;
        return a ^ (a >> 15);
    }

    Package *package(unsigned id)
    {
        Package *&slot = known_[id];
        if (!slot) {
            char label[64];
            int n = std::snprintf(label, sizeof label, "lib%u-%s", id, id % 3 ? "core" : "plugins");
            char *name = static_cast<char *>(arena_.take(std::size_t(n) + 1));
            std::memcpy(name, label, std::size_t(n) + 1);
            slot = arena_.make<Package>(name, id);
            slot->version = int(mix(id, 3) % 40);
        }
        return slot;
    }

    void load_manifest(Package *p)
    {
        for (unsigned k = 0, n = mix(p->id, 11) % 12; k < n; k++) {
            unsigned target = p->id + 1 + mix(p->id, k + 20) % 5000;
            if (target < 400000)
                p->needs = arena_.make<Edge>(package(target), int(mix(target, k) % 40), p->needs);
        }
    }

public:
    void resolve(unsigned root)
    {
        std::vector<std::pair<Package *, Edge *>> stack;
        Package *start = package(root);
        if (start->state)
            return;
        start->state = 1;
        load_manifest(start);
        stack.emplace_back(start, start->needs);
        while (!stack.empty()) {
            auto &[p, edge] = stack.back();
            if (!edge) {
                p->state = 2;
                *tail_ = p;
                tail_ = &p->next_in_plan;
                stack.pop_back();
                continue;
            }
            Package *t = edge->target;
            if (t->version < edge->min_version)
                t->version = edge->min_version;
            edge = edge->next;
            if (t->state == 1)
                cycles_++;
            if (t->state == 0) {
                t->state = 1;
                load_manifest(t);
                stack.emplace_back(t, t->needs);
            }
        }
    }

    void print_plan() const
    {
        unsigned long sum = 0, n = 0;
        for (const Package *p = first_; p; p = p->next_in_plan, n++)
            sum = sum * 31 + unsigned(p->version) + std::strlen(p->name);
        std::printf("%lu packages, checksum %lx, %ld cycles, %zu arena blocks\n", n, sum, cycles_, arena_.blocks());
    }
};

int main()
{
    Resolver r;
    for (unsigned root = 0; root < 400000; root += 3)
        r.resolve(root);
    r.print_plan();
}
