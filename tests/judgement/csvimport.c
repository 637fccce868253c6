// tests/judgement/csvimport.c: what is wrong with it, or not, stands in truth.tsv.
/* csvimport: loads a ledger exported as CSV and prints totals per account class. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row {
    long id;
    int account, day;
    double amount;
    char currency[8];
    char memo[64];
};

struct ledger {
    struct row *rows;
    size_t used, room;
};

static unsigned long lcg = 7;
static unsigned rnd(void)
{
    lcg = lcg * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(lcg >> 33);
}

static FILE *write_sample(long rows, char *name)
{
    static const char *const what[] = { "invoice", "refund", "salary", "transfer to savings", "card payment" };
    int fd = mkstemp(name);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!f) {
        perror(name);
        exit(1);
    }
    fprintf(f, "#ledger rows=%ld\n", rows);
    for (long i = 0; i < rows; i++) {
        unsigned r = rnd();
        fprintf(f, "%ld,%u,%u,%u.%02u,EUR,%s %u\n", i, r % 9000, r % 365, r % 5000, r % 100, what[r % 5], r % 100000);
    }
    rewind(f);
    return f;
}

static struct row *append_row(struct ledger *l)
{
    if (l->used == l->room) {
        size_t room = l->room ? l->room * 2 : 1024;
        struct row *bigger = malloc(room * sizeof *bigger);
        if (!bigger)
            exit(1);
        if (l->used)
            memcpy(bigger, l->rows, l->used * sizeof *bigger);
        free(l->rows);
        l->rows = bigger;
        l->room = room;
    }
    return &l->rows[l->used++];
}

static int parse_row(char *line, struct row *r)
{
    char *p = line;
    r->id = strtol(p, &p, 10);
    if (*p++ != ',') return -1;
    r->account = (int)strtol(p, &p, 10);
    if (*p++ != ',') return -1;
    r->day = (int)strtol(p, &p, 10);
    if (*p++ != ',') return -1;
    long whole = strtol(p, &p, 10), cents = 0;
    if (*p == '.')
        cents = strtol(p + 1, &p, 10);
    r->amount = (double)whole + (double)cents / 100;
    if (*p++ != ',') return -1;
    char *comma = strchr(p, ',');
    if (!comma) return -1;
    *comma = 0;
    snprintf(r->currency, sizeof r->currency, "%s", p);
    comma[1 + strcspn(comma + 1, "\n")] = 0;
    snprintf(r->memo, sizeof r->memo, "%s", comma + 1);
    return 0;
}

static long import_ledger(FILE *f, struct ledger *l)
{
    char line[256];
    long declared = 0;
    if (!fgets(line, sizeof line, f) || sscanf(line, "#ledger rows=%ld", &declared) != 1)
        return -1;
    while (fgets(line, sizeof line, f))
        if (parse_row(line, append_row(l)) < 0)
            l->used--;
    return declared;
}

static int by_account(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->account - y->account;
}

static void report(const struct ledger *l)
{
    double total[9] = { 0 };
    for (size_t i = 0; i < l->used; i++)
        total[l->rows[i].account / 1000] += l->rows[i].amount;
    for (int c = 0; c < 9; c++)
        printf("class %d: %.2f\n", c, total[c]);
}

int main(void)
{
    char name[] = "/tmp/ledger-XXXXXX";
    struct ledger ledger = { 0 };
    FILE *f = write_sample(560000, name);
    long declared = import_ledger(f, &ledger);
    fclose(f);
    unlink(name);
    if (declared != (long)ledger.used)
        fprintf(stderr, "warning: %ld rows declared, %zu read\n", declared, ledger.used);
    if (ledger.used > 1000)
        qsort(ledger.rows, 1000, sizeof *ledger.rows, by_account);
    report(&ledger);
    free(ledger.rows);
    return 0;
}
