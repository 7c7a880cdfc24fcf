/* Arm's semihosting for the M profile: an operation and its argument in r0 and r1 at the breakpoint 0xab. */
#include "semihosting.h"

static uint32_t ask(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void host_print(const char *text) {
    ask(0x04, text);
}

void host_print_number(uint32_t number) {
    char digits[11];
    int at = 10;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    host_print(digits + at);
}

int32_t host_open(const char *path, uint32_t length, uint32_t mode) {
    const uint32_t block[3] = {(uint32_t)(uintptr_t)path, mode, length};
    return (int32_t)ask(0x01, block);
}

uint32_t host_read(int32_t file, void *to, uint32_t bytes) {
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)(uintptr_t)to, bytes};
    return ask(0x06, block);
}

uint32_t host_write(int32_t file, const void *from, uint32_t bytes) {
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)(uintptr_t)from, bytes};
    return ask(0x05, block);
}

void host_exit(void) {
    ask(0x18, (const void *)(uintptr_t)0x20026); /* the application ended */
}
