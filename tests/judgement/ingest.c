// tests/judgement/ingest.c: what is wrong with it, or not, stands in truth.tsv.
/* ingest: decodes framed telemetry messages and keeps the last value of every topic. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOPICS 400
#define FRAMES 45000
#define MAX_BODY 40000

struct message {
    char *topic;
    unsigned char *body;
    size_t len;
};

struct frame {
    char topic[32];
    uint32_t len, crc;
    unsigned char data[MAX_BODY];
};

struct topic_slot {
    struct message *last;
    long updates;
};

static struct topic_slot slots[TOPICS];
static struct { long good, bad_crc, bad_topic; } stats;
static uint64_t lcg = 99;

static uint32_t rnd(void)
{
    lcg = lcg * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(lcg >> 32);
}

static uint32_t checksum(const unsigned char *p, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i += 4) {
        a += p[i];
        b += a;
    }
    return (b << 16) ^ a;
}

static void receive_frame(struct frame *f, long n)
{
    uint32_t id = rnd() % TOPICS;
    snprintf(f->topic, sizeof f->topic, "plant/line%u/s%03u", id % 7, id);
    if (rnd() % 200 == 0)
        snprintf(f->topic, sizeof f->topic, "unknown");
    f->len = 8000 + rnd() % (MAX_BODY - 8000);
    memset(f->data, (int)(n & 0xff), f->len);
    for (uint32_t i = 0; i < f->len; i += 64)
        f->data[i] = (unsigned char)(i + n);
    f->crc = checksum(f->data, f->len);
    if (rnd() % 40 == 0)
        f->crc ^= 0x10;                         /* line noise */
}

static void free_message(struct message *m)
{
    if (!m)
        return;
    free(m->topic);
    free(m->body);
    free(m);
}

static struct message *decode_frame(const struct frame *f)
{
    struct message *m = malloc(sizeof *m);
    if (!m)
        return NULL;
    m->topic = strdup(f->topic);
    m->len = f->len;
    m->body = malloc(f->len);
    if (!m->topic || !m->body) {
        free_message(m);
        return NULL;
    }
    memcpy(m->body, f->data, f->len);
    if (checksum(m->body, m->len) != f->crc) {
        stats.bad_crc++;
        free(m->topic);
        free(m);
        return NULL;
    }
    return m;
}

static int route_message(struct message *m)
{
    unsigned line, id;
    if (sscanf(m->topic, "plant/line%u/s%u", &line, &id) != 2 || id >= TOPICS) {
        stats.bad_topic++;
        free_message(m);
        return -1;
    }
    free_message(slots[id].last);
    slots[id].last = m;
    slots[id].updates++;
    stats.good++;
    return 0;
}

int main(void)
{
    struct frame *f = malloc(sizeof *f);
    if (!f)
        return 1;
    for (long n = 0; n < FRAMES; n++) {
        receive_frame(f, n);
        struct message *m = decode_frame(f);
        if (m)
            route_message(m);
    }
    printf("good %ld, bad crc %ld, bad topic %ld\n", stats.good, stats.bad_crc, stats.bad_topic);
    for (int i = 0; i < TOPICS; i++)
        free_message(slots[i].last);
    free(f);
    return 0;
}
