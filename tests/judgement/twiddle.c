/* tests/judgement/twiddle.c: what is wrong with it, or not, stands in truth.tsv.
 * twiddle: an equalizer. It changes to a transform of twice the size now and then, and fades over from the last one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct plan {
  size_t count;
  float *factors;
};

static __attribute__((noinline)) struct plan new_plan(size_t count) {
  struct plan p = {count, malloc(count * sizeof(float))};
  if (p.factors == NULL) exit(1);
  for (size_t i = 0; i < count; i++) p.factors[i] = (float)(i % 977) / 977.0f;
  return p;
}

int main(void) {
  struct plan old = {0, NULL}, now = new_plan(1 << 11);
  double out = 0;
  for (int l = 12; l <= 21; l++) {
    free(old.factors);
    old = now;
    now = new_plan((size_t)1 << l);
    for (int step = 0; step < 100; step++) { /* both are heard */
      out += now.factors[step * 3] * step + old.factors[step * 3] * (100 - step);
      usleep(1000);
    }
  }
  printf("%.1f\n", out);
  free(old.factors);
  free(now.factors);
  return 0;
}
