// tests/judgement/imgpipe.cc: what is wrong with it, or not, stands in truth.tsv.
// imgpipe: decodes, denoises and scales a clip; frames come from a pool and go back to it.
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

struct Frame {
    int width, height;
    long number = 0;
    std::vector<std::uint8_t> luma;
    std::vector<std::uint16_t> work;
    Frame(int w, int h) : width(w), height(h), luma(std::size_t(w) * h), work(std::size_t(w) * h) {}
};

class FramePool {
    std::vector<std::unique_ptr<Frame>> idle_;
    int width_, height_, made_ = 0;

public:
    FramePool(int w, int h) : width_(w), height_(h) {}
    std::unique_ptr<Frame> take()
    {
        if (idle_.empty()) {
            made_++;
            return std::make_unique<Frame>(width_, height_);
        }
        std::unique_ptr<Frame> f = std::move(idle_.back());
        idle_.pop_back();
        return f;
    }
    void give_back(std::unique_ptr<Frame> f) { idle_.push_back(std::move(f)); }
    int made() const { return made_; }
};

static void decode(Frame &f, long number)
{
    f.number = number;
    std::uint32_t noise = std::uint32_t(number) * 2654435761u + 1;
    for (int y = 0; y < f.height; y++)
        for (int x = 0; x < f.width; x++) {
            noise = noise * 1664525u + 1013904223u;
            f.luma[std::size_t(y) * f.width + x] = std::uint8_t(((x + number * 3) ^ y) / 2 + (noise >> 28));
        }
}

static void denoise(Frame &out, const std::deque<std::unique_ptr<Frame>> &window)
{
    for (std::size_t i = 0; i < out.work.size(); i++) {
        unsigned sum = 0;
        for (const auto &f : window)
            sum += f->luma[i];
        out.work[i] = std::uint16_t(sum * 16 / window.size());
    }
}

static std::vector<std::uint8_t> scale_half(const Frame &f)
{
    std::vector<std::uint8_t> small(std::size_t(f.width / 2) * (f.height / 2));
    for (int y = 0; y < f.height / 2; y++)
        for (int x = 0; x < f.width / 2; x++) {
            const std::uint16_t *p = &f.work[std::size_t(2 * y) * f.width + 2 * x];
            small[std::size_t(y) * (f.width / 2) + x] = std::uint8_t((p[0] + p[1] + p[f.width] + p[f.width + 1]) / 64);
        }
    return small;
}

static std::array<long, 256> histogram(const std::vector<std::uint8_t> &img)
{
    std::array<long, 256> h{};
    for (std::uint8_t v : img)
        h[v]++;
    return h;
}

int main()
{
    constexpr std::size_t window_frames = 9;
    FramePool pool(1280, 720);
    std::deque<std::unique_ptr<Frame>> window;
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> out(std::tmpfile(), std::fclose);
    if (!out)
        return 1;
    double brightness = 0;
    for (long n = 0; n < 150; n++) {
        std::unique_ptr<Frame> f = pool.take();
        decode(*f, n);
        window.push_back(std::move(f));
        if (window.size() > window_frames) {
            pool.give_back(std::move(window.front()));
            window.pop_front();
        }
        std::unique_ptr<Frame> result = pool.take();
        denoise(*result, window);
        std::vector<std::uint8_t> small = scale_half(*result);
        pool.give_back(std::move(result));
        std::fwrite(small.data(), 1, small.size(), out.get());
        std::array<long, 256> h = histogram(small);
        for (int v = 0; v < 256; v++)
            brightness += double(h[v]) * v / double(small.size());
    }
    std::printf("%d frames allocated, mean brightness %.3f\n", pool.made(), brightness / 150);
}
