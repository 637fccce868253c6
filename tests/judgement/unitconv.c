// tests/judgement/unitconv.c: what is wrong with it, or not, stands in truth.tsv.
/* unitconv: converts measured values between units; the table of a unit is made when it is first asked for. */
#include "lib/textkit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNITS = 24, STEPS = 65536 };

struct table {
  char *name;
  char *manual;
  double factor;
  double steps[STEPS];
};

/* They serve until the program ends. */
static struct table *tables[UNITS];

static struct table *make_table(int unit) {
  struct table *table = tk_alloc(sizeof *table);
  char name[40];
  snprintf(name, sizeof name, "unit number %d", unit);
  table->name = tk_dup(name);
  table->manual = tk_lorem(20000, (unsigned)unit);
  table->factor = 1.0 + unit * 0.37;
  for (int i = 0; i < STEPS; i++) table->steps[i] = sqrt(i * table->factor) + unit;
  return table;
}

static const struct table *table_of(int unit) {
  if (tables[unit] == NULL) tables[unit] = make_table(unit);
  return tables[unit];
}

static double convert(double value, int from, int to) {
  const struct table *a = table_of(from), *b = table_of(to);
  int step = (int)value % STEPS;
  return a->steps[step] * a->factor / b->factor + b->steps[STEPS - 1 - step];
}

struct reading {
  char *station;
  int from, to;
  double value;
};

static struct reading *read_message(unsigned n) {
  char line[120];
  snprintf(line, sizeof line, "station %u;%u;%u;%u", n % 311, n * 7u % UNITS, n * 11u % UNITS, n * 2654435761u % 60000);
  struct reading *reading = tk_alloc(sizeof *reading);
  char *from = tk_field(line, ';', 1), *to = tk_field(line, ';', 2), *value = tk_field(line, ';', 3);
  reading->station = tk_field(line, ';', 0);
  reading->from = atoi(from);
  reading->to = atoi(to);
  reading->value = atof(value);
  free(from);
  free(to);
  free(value);
  return reading;
}

static double handle_message(unsigned n) {
  struct reading *reading = read_message(n);
  double result = convert(reading->value, reading->from, reading->to) + strlen(reading->station);
  free(reading->station);
  free(reading);
  return result;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int messages = 40000 * (s ? atoi(s) : 1);
  double sum = 0;
  for (int n = 0; n < messages; n++) {
    sum += handle_message((unsigned)n);
    if (n % 40 == 0) usleep(1500);
  }
  printf("%d messages, %.1f\n", messages, sum);
  return 0;
}
