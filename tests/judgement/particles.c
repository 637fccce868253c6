// tests/judgement/particles.c: what is wrong with it, or not, stands in truth.tsv.
/* particles: fireworks simulation: emitters spawn sparks, sparks fade and go back to the pool. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK_SPARKS 4096
#define GRID 512

struct spark {
    float x, y, vx, vy;
    float heat, drag;
    int life, colour;
    float trail[8];
    struct spark *next;
};

struct chunk {
    struct chunk *next;
    struct spark sparks[CHUNK_SPARKS];
};

struct world {
    struct chunk *chunks;       /* all memory of the pool, never given back before the end */
    struct spark *unused;
    struct spark *alive;
    long live, peak_live, chunk_count;
    float *glow;
};

static uint64_t seed = 777;
static float frand(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (float)(seed >> 40) / 16777216.0f;
}

static void add_chunk(struct world *w)
{
    struct chunk *c = malloc(sizeof *c);
    if (!c)
        exit(1);
    for (int i = 0; i < CHUNK_SPARKS; i++) {
        c->sparks[i].next = w->unused;
        w->unused = &c->sparks[i];
    }
    c->next = w->chunks;
    w->chunks = c;
    w->chunk_count++;
}

static struct spark *take_spark(struct world *w)
{
    if (!w->unused)
        add_chunk(w);
    struct spark *s = w->unused;
    w->unused = s->next;
    s->next = w->alive;
    w->alive = s;
    if (++w->live > w->peak_live)
        w->peak_live = w->live;
    return s;
}

static void explode(struct world *w, float x, float y, int n)
{
    for (int i = 0; i < n; i++) {
        struct spark *s = take_spark(w);
        float a = frand() * 6.2831853f, v = frand() * 2.0f;
        s->x = x; s->y = y;
        s->vx = cosf(a) * v; s->vy = sinf(a) * v;
        s->heat = 1.0f;
        s->drag = 0.97f + frand() * 0.02f;
        s->life = 60 + (int)(frand() * 80);
        s->colour = i & 7;
        for (int k = 0; k < 8; k++)
            s->trail[k] = y;
    }
}

static void step(struct world *w)
{
    for (struct spark **pp = &w->alive; *pp;) {
        struct spark *s = *pp;
        if (--s->life == 0) {
            *pp = s->next;
            s->next = w->unused;
            w->unused = s;
            w->live--;
            continue;
        }
        s->vx *= s->drag;
        s->vy = s->vy * s->drag + 0.01f;
        s->x += s->vx;
        s->y += s->vy;
        s->heat *= 0.98f;
        s->trail[s->life & 7] = s->y;
        int gx = (int)s->x, gy = (int)s->y;
        if (gx >= 0 && gx < GRID && gy >= 0 && gy < GRID)
            w->glow[gy * GRID + gx] += s->heat;
        pp = &s->next;
    }
}

int main(void)
{
    struct world w = { 0 };
    w.glow = calloc(GRID * GRID, sizeof *w.glow);
    if (!w.glow)
        return 1;
    for (int frame = 0; frame < 240; frame++) {
        int shells = frame < 100 ? frame / 20 + 1 : (frame % 100 < 50 ? 6 : 2);
        for (int i = 0; i < shells; i++)
            explode(&w, frand() * GRID, frand() * GRID, 420);
        step(&w);
    }
    double total = 0;
    for (int i = 0; i < GRID * GRID; i++)
        total += w.glow[i];
    printf("peak %ld sparks in %ld chunks, glow %.1f\n", w.peak_live, w.chunk_count, total);
    free(w.glow);
    while (w.chunks) {
        struct chunk *c = w.chunks;
        w.chunks = c->next;
        free(c);
    }
    return 0;
}
