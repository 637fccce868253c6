// tests/targets/gate/paced.h: for programs whose heap changes over time: what fraction of their run is over.
#pragma once

#include <time.h>
#include <unistd.h>

class Pace {
 public:
  explicit Pace(double seconds) : seconds_(seconds), start_(now()) {}
  // 0 to 1; sleeps for a moment, so that thousands of calls make up the run.
  double passed() const {
    usleep(500);
    const double part = (now() - start_) / seconds_;
    return part < 1 ? part : 1;
  }

 private:
  static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }
  double seconds_;
  double start_;
};
