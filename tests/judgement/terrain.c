// tests/judgement/terrain.c: what is wrong with it, or not, stands in truth.tsv.
/* terrain: builds a height field, lets rain erode it and writes the final surface as a mesh file. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EDGE 1100

struct vertex {
    float x, y, z;
    float nx, ny, nz;
};

struct mesh {
    struct vertex *vertices;
    uint32_t *indices;
    size_t vertex_count, index_count;
};

static void *must(void *p)
{
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static float lattice(int x, int y)
{
    uint32_t h = (uint32_t)x * 374761393u + (uint32_t)y * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return (float)(h >> 8) / 16777216.0f;
}

static float *make_heights(void)
{
    float *h = must(malloc(sizeof(float) * EDGE * EDGE));
    for (int y = 0; y < EDGE; y++)
        for (int x = 0; x < EDGE; x++) {
            float sum = 0, amp = 40;
            for (int step = 64; step >= 4; step /= 2, amp *= 0.5f) {
                float fx = (float)(x % step) / (float)step, fy = (float)(y % step) / (float)step;
                int gx = x / step, gy = y / step;
                float a = lattice(gx, gy) * (1 - fx) + lattice(gx + 1, gy) * fx;
                float b = lattice(gx, gy + 1) * (1 - fx) + lattice(gx + 1, gy + 1) * fx;
                sum += amp * (a * (1 - fy) + b * fy);
            }
            h[y * EDGE + x] = sum;
        }
    return h;
}

static void erode(float *h, int rounds)
{
    float *water = must(calloc(EDGE * EDGE, sizeof *water));
    for (int r = 0; r < rounds; r++)
        for (int y = 1; y < EDGE - 1; y++)
            for (int x = 1; x < EDGE - 1; x++) {
                int i = y * EDGE + x, low = i;
                static const int next[4] = { -1, 1, -EDGE, EDGE };
                for (int k = 0; k < 4; k++)
                    if (h[i + next[k]] < h[low])
                        low = i + next[k];
                float moved = (h[i] - h[low]) * 0.08f;
                h[i] -= moved;
                h[low] += moved * 0.7f;
                water[low] += moved;
            }
    free(water);
}

static struct mesh build_mesh(const float *h)
{
    struct mesh m;
    m.vertex_count = (size_t)EDGE * EDGE;
    m.index_count = (size_t)(EDGE - 1) * (EDGE - 1) * 6;
    m.vertices = must(malloc(m.vertex_count * sizeof *m.vertices));
    m.indices = must(malloc(m.index_count * sizeof *m.indices));
    uint32_t *out = m.indices;
    for (int y = 0; y < EDGE; y++)
        for (int x = 0; x < EDGE; x++) {
            int x1 = x + 1 < EDGE ? x + 1 : x, y1 = y + 1 < EDGE ? y + 1 : y;
            float dx = h[y * EDGE + x1] - h[y * EDGE + x], dy = h[y1 * EDGE + x] - h[y * EDGE + x];
            float len = sqrtf(dx * dx + dy * dy + 1);
            m.vertices[y * EDGE + x] =
                (struct vertex){ (float)x, (float)y, h[y * EDGE + x], -dx / len, -dy / len, 1 / len };
            if (x1 == x || y1 == y)
                continue;
            uint32_t a = (uint32_t)(y * EDGE + x), b = a + 1, c = a + EDGE, d = c + 1;
            *out++ = a; *out++ = b; *out++ = c;
            *out++ = b; *out++ = d; *out++ = c;
        }
    return m;
}

int main(void)
{
    char name[] = "/tmp/terrain-XXXXXX";
    float *h = make_heights();
    erode(h, 25);
    struct mesh m = build_mesh(h);
    int fd = mkstemp(name);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f)
        return 1;
    size_t n = fwrite(m.vertices, sizeof *m.vertices, m.vertex_count, f);
    n += fwrite(m.indices, sizeof *m.indices, m.index_count, f);
    printf("%zu records written\n", n);
    fclose(f);
    unlink(name);
    free(m.vertices);
    free(m.indices);
    free(h);
    return 0;
}
