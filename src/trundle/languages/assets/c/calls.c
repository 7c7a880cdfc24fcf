/* Calls every function of @NAME@ once, most numbers at zero, and prints what it gives. */
#include <stdio.h>

#include "@NAME@.h"

static void print(const char *what, const @REAL@ *numbers, int count) {
    printf("%s", what);
    for (int k = 0; k < count; k++) printf(" %.9g", (double)numbers[k]);
    printf("\n");
}

int main(void) {
@CALLS@
    return 0;
}
