/* Instants (s) that are nearer than this are one. */
static const double APART = @APART@;
/* How often each clock was due. */
static double sampled[@COUNT@] = {0};

static double due_at(int clock) {
    return @NAME@_clocks[clock][1] + sampled[clock] * @NAME@_clocks[clock][0];
}

/* The controllers that are due at a time sample. */
static void sample(double time, const @REAL@ *input, @REAL@ *state) {
    @REAL@ due[@COUNT@] = {0}, next[@STATES@];
    int some = 0;
    for (int k = 0; k < @COUNT@; k++)
        if (due_at(k) <= time + APART) {
            sampled[k] += 1;
            due[k] = 1;
            some = 1;
        }
    if (!some) return;
    @NAME@_sampling(state, input, @DEFAULTS@, due, next);
    for (int k = 0; k < @STATES@; k++) state[k] = next[k];
}

/* From a time to another: steps end where controllers sample. What is due at the end is left to the caller. */
static void move(double time, double end, const @REAL@ *input, @REAL@ *state) {
    for (;;) {
        double stop = end;
        for (int k = 0; k < @COUNT@; k++)
            if (due_at(k) < stop && due_at(k) < end - APART) stop = due_at(k);
        @NAME@_step(state, input, @DEFAULTS@, (@REAL@)(stop - time), state);
        if (stop >= end) return;
        time = stop;
        sample(time, input, state);
    }
}
