/* `steps` steps of h for `count` robots, inputs held; their states are read and written. */
extern "C" __global__ void roll(int count, int sets, int steps, double h, double *state, const double *input,
                                const double *parameter) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    double own_state[@N@], own_input[@INPUTS@], own_parameter[@PARAMETERS@];
    gather(state, STATE_SIZE, count, k, own_state);
    gather(input, INPUT_SIZE, count, k, own_input);
    gather(parameter, PARAMETER_SIZE, sets, sets == 1 ? 0 : k, own_parameter);
    for (int i = 0; i < steps; i++) step(own_state, own_input, own_parameter, h, own_state);
    scatter(own_state, STATE_SIZE, count, k, state);
}
