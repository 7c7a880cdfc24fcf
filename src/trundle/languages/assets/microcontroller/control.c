/* The control loop of @NAME@, @SIGNATURE@: what control.h declares. C99 that knows no board. */
#include "control.h"

#include <math.h>
#include <stddef.h>

/* Encoders whose increments are counted, those of angles on which the motion depends, and those that are counted and
   steer; wheels that trail behind their pivots; pivots that encoders read. Arrays without elements have room for one. */
enum {
    WHEELS = @WHEELS@,
    INCREMENTS = @INCREMENTS@,
    ANGLES = @ANGLES@,
    TRAILING = @TRAILING_COUNT@,
    PIVOTS = @PIVOT_COUNT@
};
static const int angles[@ANGLES_ROOM@] = {@ANGLE_PLACES@};
static const int trailing[@TRAILING_ROOM@] = {@TRAILING@};
static const struct {
    int wheel, encoder;
    bool trails; /* a caster is led by its encoder, other wheels by what they are told */
} pivots[@PIVOTS_ROOM@] = {@PIVOTS@};

#define TURN 6.2831853f

/* A sum and what its additions have rounded away (Kahan 1965): small steps far from the origin are not lost. */
typedef struct {
    float value, missing;
} Sum;

static float prepared[@UPPER@_PREPARED_COUNT], heading[WHEELS];
static float angle[WHEELS], speed[WHEELS], turning[WHEELS]; /* of the wheels on the base, as they were told last */
static int32_t last[CONTROL_ENCODERS];
static Sum x, y, theta;

/* The interrupt interrupts and is never interrupted, so no mask is needed: a twist is written where on_timer doesn't
   read yet, a pose is read again where a loop came between. */
static volatile float twists[2][3];
static volatile uint32_t renewed, loops;
static volatile Pose pose;
static uint32_t taken, age;
static bool follows; /* whether encoders were read already */

static void add(Sum *sum, float step) {
    const float whole = step - sum->missing, after = sum->value + whole;
    sum->missing = (after - sum->value) - whole;
    sum->value = after;
}

static float reading(const int32_t *counts, int encoder) {
    return (float)counts[encoder] * rad_per_count[encoder];
}

/* Wheels point on where their encoders have them; `all` of them at first, later those that trail. */
static void lead(const int32_t *counts, bool all) {
    for (int k = 0; k < PIVOTS; k++) {
        const int wheel = pivots[k].wheel;
        if (all || pivots[k].trails) angle[wheel] = heading[wheel] + reading(counts, pivots[k].encoder);
    }
}

/* Moves the pose on along the arc that the encoders have counted: from where the base stood, then onto the ground. */
static void move(const int32_t *counts) {
    const float here[3] = {0};
    float increment[INCREMENTS], held[@ANGLES_ROOM@] = {0}, step[3];
    float by_pose[9], by_increment[3 * INCREMENTS], by_angle[3 * @ANGLES_ROOM@]; /* for covariances */
    for (int k = 0; k < INCREMENTS; k++) {
        const uint32_t counted = (uint32_t)counts[k] - (uint32_t)last[k];
        increment[k] = (float)(int32_t)counted * rad_per_count[k];
    }
    for (int k = 0; k < ANGLES; k++) held[k] = reading(last, angles[k]);
    @NAME@_odometry_step_prepared(
        here, increment, held, prepared, step, by_pose, by_increment, by_angle);
    const float c = cosf(theta.value), s = sinf(theta.value);
    add(&x, c * step[0] - s * step[1]);
    add(&y, s * step[0] + c * step[1]);
    add(&theta, step[2]);
    if (fabsf(theta.value) > TURN / 2) {
        theta.value -= copysignf(TURN, theta.value);
        theta.missing += copysignf(1.7484555e-7f, theta.value); /* by which 2 pi and the float differ */
    }
}

/* Tells the joints the newest twist, or to stand still where nobody has renewed it in time. */
static void drive(void) {
    const uint32_t newest = renewed;
    if (newest != taken) age = 0;
    else if (age < CONTROL_PATIENCE) age++;
    taken = newest;
    float twist[3] = {0}, allowed[3], next_angle[WHEELS], next_speed[WHEELS];
    float rate[@TRAILING_ROOM@] = {0}, velocity[CONTROL_VELOCITIES], position[@POSITIONS_ROOM@] = {0};
    if (age < CONTROL_PATIENCE)
        for (int k = 0; k < 3; k++) twist[k] = twists[newest % 2][k];
    @ALLOWED@
    @NAME@_next_wheel_states_prepared(
        allowed, angle, speed, prepared, next_angle, next_speed@TRAILING_ARGUMENT@);
    for (int k = 0; k < WHEELS; k++) {
        angle[k] = next_angle[k];
        speed[k] = next_speed[k];
    }
    for (int k = 0; k < TRAILING; k++) turning[trailing[k]] = rate[k];
    @NAME@_joint_commands_prepared(angle, speed, turning, prepared, velocity@POSITION_ARGUMENT@);
    command_joints(velocity, position);
}

void control_start(const @NAME@_parameter *parameter) {
    float radius[WHEELS];
    @NAME@_prepare(parameter, prepared);
    @NAME@_wheel_measures(parameter, radius, heading);
    for (int k = 0; k < WHEELS; k++) {
        angle[k] = heading[k];
        speed[k] = turning[k] = 0;
    }
    x = y = theta = (Sum){0};
    loops = 0;
    follows = false;
    taken = renewed;
    age = CONTROL_PATIENCE;
}

bool control_drive(float v_x, float v_y, float omega) {
    if (!isfinite(v_x) || !isfinite(v_y) || !isfinite(omega)) return false;
    volatile float *const twist = twists[(renewed + 1) % 2];
    twist[0] = v_x;
    twist[1] = v_y;
    twist[2] = omega;
    renewed++;
    return true;
}

Pose control_pose(void) {
    Pose now;
    uint32_t before;
    do {
        before = loops;
        now.x = pose.x;
        now.y = pose.y;
        now.theta = pose.theta;
    } while (loops != before);
    return now;
}

uint32_t control_loops(void) {
    return loops;
}

void on_timer(void) {
    int32_t counts[CONTROL_ENCODERS];
    read_encoders(counts);
    lead(counts, !follows);
    if (follows) move(counts);
    follows = true;
    for (int k = 0; k < CONTROL_ENCODERS; k++) last[k] = counts[k];
    drive();
    pose.x = x.value;
    pose.y = y.value;
    pose.theta = theta.value;
    loops++;
}
