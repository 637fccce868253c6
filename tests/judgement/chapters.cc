// tests/judgement/chapters.cc: what is wrong with it, or not, stands in truth.tsv.
// chapters: parses documents to element trees and prints the average depth of their headings.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

struct Element {
    std::string tag;
    std::string text;
    std::shared_ptr<Element> parent;
    std::vector<std::shared_ptr<Element>> children;
    int line = 0;

    int depth() const
    {
        int d = 0;
        for (const Element *e = parent.get(); e; e = e->parent.get())
            d++;
        return d;
    }
};

using ElementPtr = std::shared_ptr<Element>;

class DocumentSource {
    std::uint64_t state_ = 5150;
    unsigned next(unsigned limit)
    {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return unsigned(state_ >> 33) % limit;
    }
public:
    std::string read()
    {
        std::string doc;
        int depth = 0;
        for (int i = 0; i < 900; i++) {
            unsigned r = next(10);
            if (r < 3 && depth < 9) {
                doc += "<section\n";
                depth++;
            } else if (r < 5 && depth > 0) {
                doc += ">\n";
                depth--;
            } else if (r < 7) {
                doc += "#Heading number " + std::to_string(next(1000)) + "\n";
            } else {
                doc += "Paragraph text with a few words about topic " + std::to_string(next(100000)) + "\n";
            }
        }
        return doc;
    }
};

class Parser {
    ElementPtr open_;
    int line_ = 0;

    ElementPtr add(const char *tag, std::string text)
    {
        auto e = std::make_shared<Element>();
        e->tag = tag;
        e->text = std::move(text);
        e->line = line_;
        e->parent = open_;
        if (open_)
            open_->children.push_back(e);
        return e;
    }

public:
    ElementPtr parse(const std::string &source)
    {
        line_ = 0;
        open_.reset();
        ElementPtr root = add("document", "");
        open_ = root;
        for (std::size_t pos = 0; pos < source.size(); line_++) {
            std::size_t end = source.find('\n', pos);
            std::string text = source.substr(pos, end - pos);
            pos = end + 1;
            if (text[0] == '<')
                open_ = add("section", text.substr(1));
            else if (text[0] == '>')
                open_ = open_->parent ? open_->parent : root;
            else if (text[0] == '#')
                add("heading", text.substr(1));
            else
                add("paragraph", std::move(text));
        }
        open_.reset();
        return root;
    }
};

struct HeadingStats {
    long count = 0, depth = 0, longest = 0;

    void visit(const ElementPtr &e)
    {
        if (e->tag == "heading") {
            count++;
            depth += e->depth();
            longest = std::max(longest, long(e->text.size()));
        }
        for (const auto &c : e->children)
            visit(c);
    }
};

int main()
{
    DocumentSource source;
    Parser parser;
    HeadingStats stats;
    std::size_t bytes = 0;
    for (int i = 0; i < 550; i++) {
        std::string text = source.read();
        bytes += text.size();
        ElementPtr doc = parser.parse(text);
        stats.visit(doc);
    }
    std::printf("%zu bytes, %ld headings, mean depth %.3f\n", bytes, stats.count,
                double(stats.depth) / double(stats.count));
}
