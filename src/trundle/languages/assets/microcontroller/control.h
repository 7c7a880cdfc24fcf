/* The control loop of @NAME@, @SIGNATURE@: a twist in, commands of the motors' joints out; encoders in, the pose out.

   A timer's interrupt calls on_timer; everything else may call the other functions at any time. What changes is static
   in control.c; nothing is allocated. */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "@NAME@.h"

enum {
    CONTROL_RATE = 100,    /* Hz: how often the timer calls on_timer */
    CONTROL_PATIENCE = 50, /* loops that a twist counts; when they are over the wheels stand still */
    CONTROL_ENCODERS = @READINGS@,
    CONTROL_VELOCITIES = @VELOCITIES@,
    CONTROL_POSITIONS = @POSITIONS@
};

typedef struct {
    float x, y;  /* m, on the ground */
    float theta; /* rad, from -pi to pi */
} Pose;

/* Before the timer starts: the robot's measures, as described (@NAME@_parameter_defaults) or as calibrated. */
void control_start(const @NAME@_parameter *parameter);

/* The base's twist from now on, m/s and rad/s in its own axes. False where a number isn't finite: the last one stays. */
bool control_drive(float v_x, float v_y, float omega);

/* Where the base is; it starts at the origin. */
Pose control_pose(void);

/* How many loops there were. */
uint32_t control_loops(void);

/* One loop. */
void on_timer(void);

/* What the board brings; on_timer calls these two.

   Encoders, by place: @READING_NAMES@.
   Counts go on beyond whole turns and may overflow; those of steering are 0 where it is straight and may begin anew
   after a turn. */
extern const float rad_per_count[CONTROL_ENCODERS];
void read_encoders(int32_t *counts);

/* Velocities, rad/s, of @VELOCITY_NAMES@;
   positions, rad, of @POSITION_NAMES@. */
void command_joints(const float *velocity, const float *position);

#endif
