/* What a Cortex-M4F does before main: its vector table, and data where the program expects it. */
#include <stdint.h>

extern uint32_t stack_top[], data_start[], data_end[], data_image[], bss_start[], bss_end[];

int main(void);
void reset(void);
void fault(void);
/* Called as CMSIS calls it; a fault where the program has none. */
__attribute__((weak, alias("fault"))) void SysTick_Handler(void);

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} Vector;

/* The stack, the start, the faults and the core's timer; the chip's own interrupts come behind them. */
__attribute__((section(".vectors"), used)) static const Vector vectors[16] = {
    {.stack = stack_top}, {.handler = reset}, {.handler = fault}, {.handler = fault},
    {.handler = fault}, {.handler = fault}, {.handler = fault}, [15] = {.handler = SysTick_Handler},
};

void reset(void) {
    volatile uint32_t *const coprocessors = (volatile uint32_t *)0xE000ED88u; /* CPACR */
    *coprocessors |= 0xFu << 20; /* the floating-point unit is off after a reset */
    __asm volatile("dsb\n isb");
    const uint32_t *from = data_image;
    for (uint32_t *to = data_start; to < data_end; to++) *to = *from++;
    for (uint32_t *to = bss_start; to < bss_end; to++) *to = 0;
    main();
    for (;;) {
    }
}

void fault(void) {
    for (;;) {
    }
}
