// tests/targets/start/early/needs.c: a library whose data needs the indirect function of another one, which is resolved
// while this one is relocated.
extern int chosen(void);
int (*pointer)(void) = chosen;
