// Runs many of @NAME@ from their start, all alike, and prints time and states of the last as CSV:
// ./main [SECONDS [STEP [INPUT...]]]
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

static const double moved[] = {@GIVEN@};

int main(int given, char **words) {
    const int count = 1000, rows = 100;
    const double seconds = given > 1 ? strtod(words[1], NULL) : 10.0, h = given > 2 ? strtod(words[2], NULL) : 1e-3;
    const int steps = (int)(seconds / h + 0.5), stride = steps < rows ? 1 : steps / rows;
    double *state = numbers(STATE_SIZE * count), *input = numbers(INPUT_SIZE * count);
    double *parameter = numbers(PARAMETER_SIZE);
    for (int i = 0; i < PARAMETER_SIZE; i++) parameter[i] = parameter_default(i);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < STATE_SIZE; i++) state[i * count + k] = state_default(i);
        for (int i = 0; i < INPUT_SIZE; i++) input[i * count + k] = i + 3 < given ? strtod(words[i + 3], NULL) : moved[i];
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
