/* The control loop of @NAME@ on the timer of a Cortex-M's core. What a robot of yours has otherwise stands above main:
   its clock, its encoders and its motors. Here motors do what they are told, and the program ends after ten seconds;
   twists come from it ten times a second for seven of them, then the loop stops the wheels by itself. */
#include <math.h>

#include "control.h"
#include "semihosting.h"

enum {
    CLOCK = 25000000, /* Hz, of the core: the board's MPS2+ AN386 */
    SECONDS = 10,
    DRIVEN = 7,
    PERIOD = CONTROL_RATE / 10, /* loops between two twists and two rows */
    FITS = 1 / (CLOCK / CONTROL_RATE <= 0x1000000) /* SysTick counts 24 bits */
};

/* SysTick (Armv7-M Architecture Reference Manual, B3.3), and whether its next interrupt waits already (B3.2.4). */
static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u;
static volatile uint32_t *const icsr = (volatile uint32_t *)0xE000ED04u;
enum { STATUS, RELOAD, VALUE };
#define RUNS 7u /* with its interrupt, by the core's clock */
#define WAITS (1u << 26)

static volatile uint32_t late; /* loops that took longer than their time */

void SysTick_Handler(void) {
    on_timer();
    if (*icsr & WAITS) late++;
}

const float rad_per_count[CONTROL_ENCODERS] = {@PER_COUNT@};

/* The joints that encoders read, rad, and which command each follows: a place among velocities, or among positions. */
static float turned[CONTROL_ENCODERS];
static const int by_velocity[CONTROL_ENCODERS] = {@BY_VELOCITY@};
static const int by_position[CONTROL_ENCODERS] = {@BY_POSITION@};

void read_encoders(int32_t *counts) {
    for (int k = 0; k < CONTROL_ENCODERS; k++) counts[k] = (int32_t)floorf(turned[k] / rad_per_count[k]);
}

void command_joints(const float *velocity, const float *position) {
    for (int k = 0; k < CONTROL_ENCODERS; k++) {
        if (by_velocity[k] >= 0) turned[k] += velocity[by_velocity[k]] / CONTROL_RATE;
        if (by_position[k] >= 0) turned[k] += 0.2f * (position[by_position[k]] - turned[k]);
    }
}

static void print(float number) {
    const int32_t millionths = (int32_t)lrintf(1e6f * number);
    const uint32_t size = millionths < 0 ? 0u - (uint32_t)millionths : (uint32_t)millionths;
    host_print(millionths < 0 ? ",-" : ",");
    host_print_number(size / 1000000u);
    host_print(".");
    for (uint32_t place = 100000u; place > 0; place /= 10) host_print_number(size / place % 10);
}

static void print_row(uint32_t loops) {
    const Pose pose = control_pose();
    host_print_number(loops / CONTROL_RATE);
    host_print(".");
    host_print_number(10 * (loops % CONTROL_RATE) / CONTROL_RATE);
    print(pose.x);
    print(pose.y);
    print(pose.theta);
    host_print("\n");
}

int main(void) {
    control_start(&@NAME@_parameter_defaults);
    systick[RELOAD] = CLOCK / CONTROL_RATE - 1;
    systick[VALUE] = 0;
    systick[STATUS] = RUNS;
    host_print("time,x,y,theta\n");
    for (uint32_t next = PERIOD; next <= SECONDS * CONTROL_RATE;) {
        __asm volatile("wfi"); /* the core sleeps until an interrupt */
        if (control_loops() < next) continue;
        if (next < DRIVEN * CONTROL_RATE) control_drive(0.5f, 0.0f, 0.2f);
        print_row(next);
        next += PERIOD;
    }
    host_print_number(late);
    host_print(" loops were late\n");
    host_exit();
    return 0;
}
