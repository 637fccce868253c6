// tests/judgement/addresses.c: what is wrong with it, or not, stands in truth.tsv.
/* addresses: resolves street names to coordinates, exactly or by nearest spelling. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREETS 220000
#define BUCKETS (1 << 17)
#define MAX_CANDIDATES 48

struct street {
    struct street *next;
    struct street *next_prefix;
    char *name;
    double lat, lon;
};

struct candidate {
    const struct street *street;
    int distance, length_gap;
    double lat, lon;
};

static struct street *by_name[BUCKETS];
static struct street *by_prefix[26 * 26 * 26 * 26];
static uint64_t state = 4711;

static uint32_t rnd(void)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(state >> 33);
}

static unsigned hash_name(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 ^ (unsigned char)*s++;
    return h % BUCKETS;
}

static unsigned prefix_of(const char *s)
{
    unsigned p = 0;
    for (int i = 0; i < 4; i++)
        p = p * 26 + (unsigned)(s[i] - 'a');
    return p;
}

static void make_name(char *buf)
{
    static const char *const end[] = { "strasse", "weg", "allee", "platz", "gasse", "ufer" };
    int n = 7 + (int)(rnd() % 9);
    for (int i = 0; i < n; i++)
        buf[i] = (char)('a' + rnd() % (i < 4 ? 8 : 26));
    strcpy(buf + n, end[rnd() % 6]);
}

static void load_streets(void)
{
    char buf[64];
    for (int i = 0; i < STREETS; i++) {
        make_name(buf);
        struct street *s = malloc(sizeof *s);
        if (!s)
            exit(1);
        s->name = strdup(buf);
        s->lat = 47.0 + rnd() % 8000 / 1000.0;
        s->lon = 6.0 + rnd() % 9000 / 1000.0;
        unsigned h = hash_name(buf), p = prefix_of(buf);
        s->next = by_name[h];
        by_name[h] = s;
        s->next_prefix = by_prefix[p];
        by_prefix[p] = s;
    }
}

static const struct street *exact(const char *name)
{
    for (const struct street *s = by_name[hash_name(name)]; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static int spelling_distance(const char *a, const char *b)
{
    int row[64], la = (int)strlen(a), lb = (int)strlen(b);
    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; i <= la; i++) {
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int up = row[j], best = diag + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diag = up;
        }
    }
    return row[lb];
}

static struct candidate *collect_candidates(const char *name, int *count)
{
    struct candidate *list = malloc(MAX_CANDIDATES * sizeof *list);
    if (!list)
        exit(1);
    *count = 0;
    for (const struct street *s = by_prefix[prefix_of(name)]; s && *count < MAX_CANDIDATES; s = s->next_prefix) {
        int gap = abs((int)strlen(name) - (int)strlen(s->name));
        if (gap > 2)
            continue;
        struct candidate *c = &list[(*count)++];
        c->street = s;
        c->length_gap = gap;
        c->distance = spelling_distance(name, s->name);
        c->lat = s->lat;
        c->lon = s->lon;
    }
    return list;
}

static const struct street *nearest(const char *name)
{
    int n, best = -1;
    struct candidate *list = collect_candidates(name, &n);
    for (int i = 0; i < n; i++)
        if (best < 0 || list[i].distance < list[best].distance)
            best = i;
    return best < 0 ? NULL : list[best].street;
}

int main(void)
{
    char query[64];
    long found = 0, guessed = 0;
    double lat = 0;
    load_streets();
    for (int q = 0; q < 40000; q++) {
        make_name(query);
        if (q % 4 == 0 && by_name[q])
            snprintf(query, sizeof query, "%s", by_name[q]->name);
        const struct street *s = exact(query);
        if (s)
            found++;
        else if ((s = nearest(query)))
            guessed++;
        if (s)
            lat += s->lat;
    }
    printf("exact %ld, guessed %ld, mean latitude %.4f\n", found, guessed, lat / (double)(found + guessed));
    return 0;
}
