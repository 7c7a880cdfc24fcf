/* Calls every function of @NAME@ with all numbers but parameters at 0.3 and prints, under QEMU with -icount shift=10, how
   many instructions and how many bytes of stack a call takes, those of math.h's functions included. */
#include "@NAME@.h"
@INCLUDED@#include "semihosting.h"

#define NONE ((void *)0)

@CALLS@
static void nothing(void) {
}

static const struct {
    const char *name;
    void (*call)(void);
} measured[] = {
@TABLE@
};

extern uint32_t stack_bottom[];

/* The board's timer 0 counts down at 25 MHz. */
static volatile uint32_t *const timer = (volatile uint32_t *)0x40000000u;
enum { CONTROL, VALUE, RELOAD };

#define PAINT 0x5AFE5AFEu

static uint32_t deepest; /* bytes of stack that the last call took */

static uint32_t ticks(void (*call)(void)) {
    volatile uint32_t *top;
    __asm volatile("mov %0, sp" : "=r"(top));
    for (volatile uint32_t *at = stack_bottom; at < top; at++) *at = PAINT;
    const uint32_t before = timer[VALUE];
    call();
    const uint32_t after = timer[VALUE];
    volatile uint32_t *at = stack_bottom;
    while (at < top && *at == PAINT) at++;
    deepest = 4 * (uint32_t)(top - at);
    return before - after;
}

int main(void) {
    for (unsigned k = 0; k < sizeof work / sizeof *work; k++) work[k] = 0.3f;
@BEGUN@    timer[RELOAD] = timer[VALUE] = 0xFFFFFFFFu;
    timer[CONTROL] = 1;
    const uint32_t empty = ticks(nothing);
    for (unsigned k = 0; k < sizeof measured / sizeof *measured; k++) {
        const uint32_t taken = ticks(measured[k].call) - empty;
        host_print(measured[k].name);
        host_print(" ");
        host_print_number(taken / 256 * 10 + (taken % 256 * 10 + 128) / 256); /* 25.6 ticks each */
        host_print(" ");
        host_print_number(deepest);
        host_print("\n");
    }
    host_exit();
    return 0;
}
