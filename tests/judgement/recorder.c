// tests/judgement/recorder.c: what is wrong with it, or not, stands in truth.tsv.
/* recorder: collects samples of many measuring channels and prints a summary for each group. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS 1400
#define GROUPS 20
#define DAY_SECONDS 10800

struct sample {
    double value;
    int64_t stamp;
};

struct channel {
    char *label;
    int group, period;          /* seconds between two samples */
    size_t count, room;
    struct sample *samples;
};

struct group_stat {
    double min, max, sum, sumsq;
    size_t n;
};

static uint64_t rs = 31337;
static uint32_t rnd(void)
{
    rs = rs * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(rs >> 33);
}

static struct channel *open_channel(int i)
{
    char label[48];
    struct channel *c = calloc(1, sizeof *c);
    if (!c)
        exit(1);
    snprintf(label, sizeof label, "rack%02d/probe%04d/temperature", i % GROUPS, i);
    c->label = strdup(label);
    c->group = i % GROUPS;
    c->period = 30 + (int)(rnd() % 570);
    c->room = DAY_SECONDS;
    c->samples = malloc(c->room * sizeof *c->samples);
    if (!c->samples)
        exit(1);
    return c;
}

static void close_channel(struct channel *c)
{
    free(c->samples);
    free(c->label);
    free(c);
}

static double read_probe(const struct channel *c, int64_t now)
{
    double v = 20.0 + c->group;
    for (int k = 1; k < 200; k++)
        v += sin((double)now / (300.0 * k)) / k;
    return v + (double)(rnd() % 100) / 100.0;
}

static void record(struct channel *c, int64_t now)
{
    if (c->count == c->room)
        return;
    c->samples[c->count].value = read_probe(c, now);
    c->samples[c->count].stamp = now;
    c->count++;
}

static void summarise(struct channel **all, struct group_stat *g)
{
    for (int i = 0; i < CHANNELS; i++) {
        struct group_stat *s = &g[all[i]->group];
        for (size_t k = 0; k < all[i]->count; k++) {
            double v = all[i]->samples[k].value;
            if (!s->n || v < s->min) s->min = v;
            if (!s->n || v > s->max) s->max = v;
            s->sum += v;
            s->sumsq += v * v;
            s->n++;
        }
    }
}

int main(void)
{
    struct channel **all = malloc(CHANNELS * sizeof *all);
    struct group_stat groups[GROUPS];
    if (!all)
        return 1;
    memset(groups, 0, sizeof groups);
    for (int i = 0; i < CHANNELS; i++)
        all[i] = open_channel(i);
    for (int64_t now = 0; now < DAY_SECONDS; now++)
        for (int i = 0; i < CHANNELS; i++)
            if (now % all[i]->period == 0)
                record(all[i], now);
    summarise(all, groups);
    for (int g = 0; g < GROUPS; g++)
        printf("rack%02d n=%zu min=%.2f max=%.2f mean=%.3f\n", g, groups[g].n, groups[g].min,
               groups[g].max, groups[g].sum / (double)groups[g].n);
    for (int i = 0; i < CHANNELS; i++)
        close_channel(all[i]);
    free(all);
    return 0;
}
