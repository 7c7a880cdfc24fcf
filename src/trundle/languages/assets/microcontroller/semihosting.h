/* Words and files through the debugger or emulator that runs the program (Arm's semihosting). */
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stdint.h>

void host_print(const char *text);
void host_print_number(uint32_t number);
/* A file's handle; "rb" and "wb" are modes 1 and 5. */
int32_t host_open(const char *path, uint32_t length, uint32_t mode);
/* How many bytes were not read or written. */
uint32_t host_read(int32_t file, void *to, uint32_t bytes);
uint32_t host_write(int32_t file, const void *from, uint32_t bytes);
/* Ends the emulator. */
void host_exit(void);

#endif
