// tests/judgement/tiles.c: what is wrong with it, or not, stands in truth.tsv.
/* tiles: serves map tiles to a wandering viewport, keeping rendered tiles in an LRU cache. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILE_EDGE 256
#define TILE_BYTES (TILE_EDGE * TILE_EDGE * 4)
#define CACHE_TILES 200
#define BUCKETS 512

struct tile {
    int32_t x, y, zoom;
    uint32_t *pixels;
    struct tile *hash_next;
    struct tile *newer, *older;
};

struct cache {
    struct tile *bucket[BUCKETS];
    struct tile *newest, *oldest;
    int count;
    long hits, misses, evictions;
};

static uint64_t rng_state = 0x51ed27f1;
static uint32_t rng(void)
{
    rng_state = rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(rng_state >> 33);
}

static unsigned tile_hash(int x, int y, int zoom)
{
    return ((unsigned)x * 73856093u ^ (unsigned)y * 19349663u ^ (unsigned)zoom * 83492791u) % BUCKETS;
}

static uint32_t *render_tile(int x, int y, int zoom)
{
    uint32_t *px = malloc(TILE_BYTES);
    if (!px)
        exit(2);
    for (int row = 0; row < TILE_EDGE; row++)
        for (int col = 0; col < TILE_EDGE; col++) {
            uint32_t u = (uint32_t)(x * TILE_EDGE + col) << zoom;
            uint32_t v = (uint32_t)(y * TILE_EDGE + row) << zoom;
            uint32_t h = u * 2654435761u ^ v * 2246822519u;
            h ^= h >> 15;
            h *= 3266489917u;
            px[row * TILE_EDGE + col] = h | 0xff000000u;
        }
    return px;
}

static void lru_unlink(struct cache *c, struct tile *t)
{
    if (t->newer) t->newer->older = t->older; else c->newest = t->older;
    if (t->older) t->older->newer = t->newer; else c->oldest = t->newer;
    t->newer = t->older = NULL;
}

static void lru_push(struct cache *c, struct tile *t)
{
    t->older = c->newest;
    if (c->newest) c->newest->newer = t; else c->oldest = t;
    c->newest = t;
}

static void drop_oldest(struct cache *c)
{
    struct tile *t = c->oldest;
    struct tile **pp = &c->bucket[tile_hash(t->x, t->y, t->zoom)];
    while (*pp != t)
        pp = &(*pp)->hash_next;
    *pp = t->hash_next;
    lru_unlink(c, t);
    free(t->pixels);
    free(t);
    c->count--;
}

static struct tile *get_tile(struct cache *c, int x, int y, int zoom)
{
    unsigned b = tile_hash(x, y, zoom);
    for (struct tile *t = c->bucket[b]; t; t = t->hash_next)
        if (t->x == x && t->y == y && t->zoom == zoom) {
            c->hits++;
            lru_unlink(c, t);
            lru_push(c, t);
            return t;
        }
    c->misses++;
    if (c->count == CACHE_TILES) {
        drop_oldest(c);
        c->evictions++;
    }
    struct tile *t = calloc(1, sizeof *t);
    if (!t)
        exit(2);
    t->x = x; t->y = y; t->zoom = zoom;
    t->pixels = render_tile(x, y, zoom);
    t->hash_next = c->bucket[b];
    c->bucket[b] = t;
    lru_push(c, t);
    c->count++;
    return t;
}

int main(void)
{
    static struct cache cache;
    int cx = 40, cy = 40;
    uint64_t sum = 0;
    for (int frame = 0; frame < 2600; frame++) {
        if (frame % 3 == 0) {
            cx += (int)(rng() % 3) - 1;
            cy += (int)(rng() % 3) - 1;
        }
        for (int dy = 0; dy < 4; dy++)
            for (int dx = 0; dx < 6; dx++) {
                struct tile *t = get_tile(&cache, cx + dx, cy + dy, 3);
                for (int i = 0; i < TILE_EDGE * TILE_EDGE; i += 97)
                    sum += t->pixels[i];
            }
    }
    printf("hits %ld misses %ld evictions %ld sum %llx\n", cache.hits, cache.misses,
           cache.evictions, (unsigned long long)sum);
    while (cache.count)
        drop_oldest(&cache);
    return 0;
}
