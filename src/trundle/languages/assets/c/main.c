/* Runs @NAME@ from its start and prints time and states as CSV, about a hundred rows:
   ./main [SECONDS [STEP [INPUT...]]] */
#include <stdio.h>
#include <stdlib.h>

#include "@NAME@.h"

static void print(double time, const @REAL@ *state) {
    printf("%.17g", time);
    for (int k = 0; k < @STATES@; k++) printf(",%.17g", (double)state[k]);
    printf("\n");
}

int main(int count, char **words) {
    const double seconds = count > 1 ? strtod(words[1], NULL) : 10.0;
    const double h = count > 2 ? strtod(words[2], NULL) : 1e-3;
    const long steps = (long)(seconds / h + 0.5), stride = steps < 100 ? 1 : steps / 100;
    @REAL@ state[@STATES@], input[@ROOM@] = {@GIVEN@};
    for (int k = 0; k < @STATES@; k++) state[k] = @NAME@_start[k];
    for (int k = 0; k < @INPUTS@ && k + 3 < count; k++) input[k] = (@REAL@)strtod(words[k + 3], NULL);
    puts("@COLUMNS@");
    for (long step = 0; step < steps; step++) {
        if (step % stride == 0) print((double)step * h, state);
        @NAME@_step(state, input, @DEFAULTS@, (@REAL@)h, state);
    }
    print((double)steps * h, state);
    return 0;
}
