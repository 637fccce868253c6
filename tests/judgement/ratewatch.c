// tests/judgement/ratewatch.c: what is wrong with it, or not, stands in truth.tsv.
/* ratewatch: reads access log lines and reports clients above a request rate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENT_BUCKETS 8192
#define WINDOW_SECONDS 60
#define ALARM_LIMIT 9

struct hit {
    struct hit *next;
    long when;
    int status;
    char *path;
};

struct client {
    struct client *next;
    char addr[20];
    struct hit *hits;           /* newest first */
    long total, alarms;
};

static struct client *clients[CLIENT_BUCKETS];
static unsigned long seed = 20240117;

static unsigned next_random(void)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(seed >> 33);
}

/* stands in for tail -f on the proxy's log */
static void read_line(long n, char *buf, size_t size)
{
    static const char *const section[] = { "product", "account/orders", "search", "static/img", "api/v2/cart" };
    unsigned who = next_random() % 6000;
    if (next_random() % 4 == 0)
        who %= 40;
    snprintf(buf, size, "10.%u.%u.%u %ld %d /%s/%06u", who >> 8, who & 255, who % 7, n / 300,
             next_random() % 50 ? 200 : 404, section[next_random() % 5], next_random() % 900000);
}

static struct client *find_client(const char *addr)
{
    unsigned h = 2166136261u;
    for (const char *p = addr; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    h %= CLIENT_BUCKETS;
    for (struct client *c = clients[h]; c; c = c->next)
        if (strcmp(c->addr, addr) == 0)
            return c;
    struct client *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    snprintf(c->addr, sizeof c->addr, "%s", addr);
    c->next = clients[h];
    clients[h] = c;
    return c;
}

static void add_hit(struct client *c, long when, int status, const char *path)
{
    struct hit *h = malloc(sizeof *h);
    if (!h)
        abort();
    h->when = when;
    h->status = status;
    h->path = strdup(path);
    h->next = c->hits;
    c->hits = h;
    c->total++;
}

static int hits_in_window(const struct client *c, long now)
{
    int n = 0;
    for (const struct hit *h = c->hits; h && h->when > now - WINDOW_SECONDS; h = h->next)
        if (strncmp(h->path, "/static", 7) != 0)
            n++;
    return n;
}

static void release_clients(void)
{
    for (int i = 0; i < CLIENT_BUCKETS; i++)
        while (clients[i]) {
            struct client *c = clients[i];
            clients[i] = c->next;
            while (c->hits) {
                struct hit *h = c->hits;
                c->hits = h->next;
                free(h->path);
                free(h);
            }
            free(c);
        }
}

int main(void)
{
    char line[256], addr[20], path[128];
    long when, alarms = 0;
    int status;
    for (long n = 0; n < 900000; n++) {
        read_line(n, line, sizeof line);
        if (sscanf(line, "%19s %ld %d %127s", addr, &when, &status, path) != 4)
            continue;
        struct client *c = find_client(addr);
        add_hit(c, when, status, path);
        if (hits_in_window(c, when) > ALARM_LIMIT) {
            c->alarms++;
            alarms++;
        }
    }
    printf("%ld alarms\n", alarms);
    release_clients();
    return 0;
}
