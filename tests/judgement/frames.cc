// tests/judgement/frames.cc: what is wrong with it, or not, stands in truth.tsv.
// frames: a camera delivers pictures; an encoder works on them one by one.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
using namespace std::chrono_literals;

struct Picture {
  uint32_t number;
  std::string exposure, pixels;
};

class Channel {
 public:
  explicit Channel(size_t room) : room_(room) {}
  void push(Picture picture) {
    std::unique_lock<std::mutex> lock(mutex_);
    left_.wait(lock, [this] { return pictures_.size() < room_; });
    pictures_.push_back(std::move(picture));
    came_.notify_one();
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    came_.notify_all();
  }
  bool pop(Picture &picture) {
    std::unique_lock<std::mutex> lock(mutex_);
    came_.wait(lock, [this] { return closed_ || !pictures_.empty(); });
    if (pictures_.empty()) return false;
    picture = std::move(pictures_.front());
    pictures_.pop_front();
    left_.notify_one();
    return true;
  }

 private:
  size_t room_;
  std::mutex mutex_;
  std::condition_variable came_, left_;
  std::deque<Picture> pictures_;
  bool closed_ = false;
};

Picture grab(uint32_t n) {
  Picture picture{n, "exposure in the afternoon: " + std::to_string(n % 40), {}};
  picture.pixels.assign(60000, char(n % 251));
  return picture;
}

void film(Channel &channel, int pictures) {
  for (int n = 0; n < pictures; ++n) {
    channel.push(grab(n));
    if (n % 10 == 9) std::this_thread::sleep_for(1ms);
  }
  channel.close();
}

class Encoder {
 public:
  void run(Channel &channel) {
    Picture picture;
    for (int n = 0; channel.pop(picture); ++n) {
      bits_ += encode(picture);
      if (n % 10 == 9) std::this_thread::sleep_for(8ms);     // the disk is slow
    }
  }
  uint64_t bits() const { return bits_; }

 private:
  static uint64_t encode(const Picture &picture) {
    uint64_t sum = picture.number;
    for (unsigned char c : picture.pixels) sum += c * picture.exposure.size();
    return sum % 100000;
  }
  uint64_t bits_ = 0;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int pictures = 2500 * (s ? atoi(s) : 1);
  Channel channel(192);
  Encoder encoder;
  std::thread camera(film, std::ref(channel), pictures);
  std::thread worker([&] { encoder.run(channel); });
  camera.join();
  worker.join();
  printf("%d pictures, %llu bits\n", pictures, (unsigned long long)encoder.bits());
}
