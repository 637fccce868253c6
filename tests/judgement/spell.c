// tests/judgement/spell.c: what is wrong with it, or not, stands in truth.tsv.
/* spell: checks words of a text against a dictionary and proposes corrections. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 320000
#define SLOTS (1u << 19)

struct entry {
    char *word;
    uint32_t hash, frequency;
    struct entry *next;
};

static struct entry **table;
static uint64_t lcg = 12;

static uint32_t rnd(void)
{
    lcg = lcg * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(lcg >> 33);
}

static uint32_t hash_bytes(const char *s, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

static size_t make_word(uint32_t id, char *buf)
{
    static const char *const syl[] = { "ba", "con", "der", "es", "fu", "gra", "hil", "in",
                                       "jo", "ken", "lum", "mor", "ne", "ost", "pre", "tion" };
    size_t n = 0;
    id = id * 2654435761u;
    for (int i = 0; i < 5; i++, id >>= 4) {
        const char *s = syl[id & 15];
        size_t l = strlen(s);
        memcpy(buf + n, s, l);
        n += l;
    }
    buf[n] = 0;
    return n;
}

static struct entry *lookup(const char *word, size_t n)
{
    uint32_t h = hash_bytes(word, n);
    for (struct entry *e = table[h % SLOTS]; e; e = e->next)
        if (e->hash == h && strlen(e->word) == n && memcmp(e->word, word, n) == 0)
            return e;
    return NULL;
}

static void load_dictionary(void)
{
    char buf[64];
    table = calloc(SLOTS, sizeof *table);
    if (!table)
        exit(1);
    for (uint32_t i = 0; i < WORDS; i++) {
        size_t n = make_word(i, buf);
        struct entry *e = lookup(buf, n);
        if (e) {
            e->frequency++;
            continue;
        }
        e = malloc(sizeof *e);
        if (!e)
            exit(1);
        e->word = strdup(buf);
        e->hash = hash_bytes(buf, n);
        e->frequency = 1;
        e->next = table[e->hash % SLOTS];
        table[e->hash % SLOTS] = e;
    }
}

/* all words one substitution away which are in the dictionary, most frequent one wins */
static struct entry *propose(const char *word, size_t n)
{
    char trial[64];
    struct entry *best = NULL;
    memcpy(trial, word, n + 1);
    for (size_t i = 0; i < n; i++) {
        for (char c = 'a'; c <= 'z'; c++) {
            trial[i] = c;
            struct entry *e = lookup(trial, n);
            if (e && (!best || e->frequency > best->frequency))
                best = e;
        }
        trial[i] = word[i];
    }
    return best;
}

int main(void)
{
    char word[64];
    long known = 0, corrected = 0, unknown = 0;
    load_dictionary();
    for (long i = 0; i < 200000; i++) {
        size_t n = make_word(rnd() % WORDS, word);
        if (rnd() % 8 == 0)
            word[rnd() % n] = (char)('a' + rnd() % 26);
        if (lookup(word, n))
            known++;
        else if (propose(word, n))
            corrected++;
        else
            unknown++;
    }
    printf("known %ld corrected %ld unknown %ld\n", known, corrected, unknown);
    /* the dictionary is needed to the last word; leave it to the process exit */
    return 0;
}
