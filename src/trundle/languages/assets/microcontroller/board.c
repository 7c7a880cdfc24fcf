/* What a board brings to the loop: encoders that count on, motors that are none. */
const float rad_per_count[CONTROL_ENCODERS] = {@PER_COUNT@};

void read_encoders(int32_t *counts) {
    static int32_t now;
    now += 40;
    for (int k = 0; k < CONTROL_ENCODERS; k++) counts[k] = now;
}

void command_joints(const float *velocity, const float *position) {
    (void)velocity;
    (void)position;
}
