/* Runs @NAME@ from its start and prints time and states as CSV, about a hundred rows:
   ./main [SECONDS [STEP [INPUT...]]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "@NAME@.h"

static void print(double time, const @REAL@ *state) {
    printf("%.17g", time);
    for (int k = 0; k < @STATES@; k++) printf(",%.17g", (double)state[k]);
    printf("\n");
}

@READING@@SAMPLING@

int main(int count, char **words) {
    if (count > 3 + @INPUTS@) refuse("too many numbers, the first of them ", words[3 + @INPUTS@]);
    const double seconds = count > 1 ? number("SECONDS isn't a number above 0: ", words[1], 0) : 10.0;
    const double h = count > 2 ? number("STEP isn't a number above 0: ", words[2], 0) : @STEP@;
    if (seconds / h > 2e9) refuse("SECONDS are more than 2e9 times STEP", "");
    const long steps = (long)(seconds / h + 0.5), stride = steps < 100 ? 1 : steps / 100;
    @REAL@ state[@STATES@], input[@ROOM@] = {@GIVEN@};
    for (int k = 0; k < @STATES@; k++) state[k] = @NAME@_start[k];
    for (int k = 0; k + 3 < count; k++) input[k] = (@REAL@)number("INPUT isn't a number: ", words[k + 3], -HUGE_VAL);
    puts("@COLUMNS@");
    for (long step = 0; step < steps; step++) {
@BEFORE@        if (step % stride == 0) print((double)step * h, state);
        @MOVE@
    }
@AT_END@    print((double)steps * h, state);
    return 0;
}
