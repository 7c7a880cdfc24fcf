// Runs many of @NAME@ from their start, all alike, and prints time and states of the last as CSV:
// ./main [SECONDS [STEP [INPUT...]]]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "@NAME@.cu"

static double *numbers(int count) {
    double *made = NULL;
    if (cudaMallocManaged(&made, (count > 0 ? count : 1) * sizeof(double)) != cudaSuccess) {
        fprintf(stderr, "no memory on a GPU\n");
        exit(1);
    }
    return made;
}

@READING@

int main(int given, char **words) {
    const int count = 1000, rows = 100;
    if (given > 3 + INPUT_SIZE) refuse("too many numbers, the first of them ", words[3 + INPUT_SIZE]);
    const double seconds = given > 1 ? number("SECONDS isn't a number above 0: ", words[1], 0) : 10.0;
    const double h = given > 2 ? number("STEP isn't a number above 0: ", words[2], 0) : 1e-3;
    if (seconds / h > 2e9) refuse("SECONDS are more than 2e9 times STEP", "");
    double held[@ROOM@] = {@GIVEN@};
    for (int i = 0; i + 3 < given; i++) held[i] = number("INPUT isn't a number: ", words[i + 3], -HUGE_VAL);
    const int steps = (int)(seconds / h + 0.5), stride = steps < rows ? 1 : steps / rows;
    double *state = numbers(STATE_SIZE * count), *input = numbers(INPUT_SIZE * count);
    double *parameter = numbers(PARAMETER_SIZE);
    for (int i = 0; i < PARAMETER_SIZE; i++) parameter[i] = parameter_default(i);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < STATE_SIZE; i++) state[i * count + k] = state_default(i);
        for (int i = 0; i < INPUT_SIZE; i++) input[i * count + k] = held[i];
    }
    puts("@COLUMNS@");
    for (int done = 0, now = 0;; done += now) {
        printf("%.17g", done * h);
        for (int i = 0; i < STATE_SIZE; i++) printf(",%.17g", state[i * count + count - 1]);
        printf("\n");
        if (done == steps) break;
        now = steps - done < stride ? steps - done : stride;
        roll<<<(count + 127) / 128, 128>>>(count, 1, now, h, state, input, parameter);
        const cudaError_t problem = cudaDeviceSynchronize();
        if (problem != cudaSuccess) {
            fprintf(stderr, "%s\n", cudaGetErrorString(problem));
            return 1;
        }
    }
    return 0;
}
