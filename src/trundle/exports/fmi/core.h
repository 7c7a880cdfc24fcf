/* What both versions of FMI share: the numbers of one instance, and how they follow from each other and go on in time.
 *
 * All of an instance's numbers stand in one array, in which a value reference is a place:
 * time, states, their rates, inputs, parameters, outputs. Nothing here allocates, and nothing is global.
 */
#ifndef CORE_H
#define CORE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "settle.h"

enum {
    STATE_AT = 1,
    RATE_AT = STATE_AT + STATES,
    INPUT_AT = RATE_AT + STATES,
    PARAMETER_AT = INPUT_AT + INPUTS,
    OUTPUT_AT = PARAMETER_AT + PARAMETERS,
    VARIABLES = OUTPUT_AT + OUTPUTS
};

typedef enum { INSTANTIATED, INITIALIZING, RUNNING, TERMINATED } Phase;

/* What is copied where a tool keeps or restores an instance. */
typedef struct {
    double values[VARIABLES];
    double set[ROOM]; /* states at the start, before loops are closed */
    double tolerance; /* of a step's error, relative to each state's size and absolute */
    double step;      /* s, what the last step's error allows for the next one */
    double begin;     /* s, what samples are counted from */
    double sampled[CLOCKS + 1]; /* how often each clock was due; an array has an element at least */
    Phase phase;
    int rates_known, outputs_known, settled;
} Numbers;

typedef struct {
    Numbers now;
    double scratch[8][ROOM];
    double changes[VARIABLES];
    char reason[400]; /* why a start is refused */
} Core;

static const double TOLERANCE = 1e-6;
/* A step that is shorter than this part of the time leaves the time where it is. */
static const double SHORTEST = 1e-14;
/* Steps within one call, after which nobody waits. */
static const long MOST_STEPS = 10000000;

/* What is said to a tool that asks for Model Exchange. */
static const char *const SAMPLED_SAID = "the controllers sample: this FMU is for Co-Simulation alone";

static void forget(Core *core)
{
    core->now.rates_known = core->now.outputs_known = 0;
}

static void reset(Core *core)
{
    memset(core, 0, sizeof *core);
    memcpy(core->now.values + STATE_AT, first_state, STATES * sizeof(double));
    memcpy(core->now.set, first_state, STATES * sizeof(double));
    memcpy(core->now.values + PARAMETER_AT, first_parameter, PARAMETERS * sizeof(double));
    core->now.tolerance = TOLERANCE;
}

/* The time at which a simulation starts. */
static void begin_at(Core *core, double time)
{
    core->now.values[0] = core->now.begin = time;
}

static void rate_at(const Core *core, const double *state, double *rate)
{
    model_rate(state, core->now.values + INPUT_AT, core->now.values + PARAMETER_AT, rate);
}

static void project(const Core *core, const double *state, double *closed)
{
    model_project(state, core->now.values + INPUT_AT, core->now.values + PARAMETER_AT, closed);
}

/* The state on its constraints, by `times` of Newton's steps: what rates and outputs are functions of. */
static const double *closed_state(Core *core, int times)
{
    const double *state = core->now.values + STATE_AT;
    for (int k = 0; LOOPS && k < times; k++) {
        project(core, state, core->scratch[k % 2]);
        state = core->scratch[k % 2];
    }
    return state;
}

static void find_rates(Core *core)
{
    if (!core->now.rates_known) {
        rate_at(core, closed_state(core, 1), core->now.values + RATE_AT);
        core->now.rates_known = 1;
    }
}

static void find_outputs(Core *core)
{
    if (!core->now.outputs_known) {
        const double *values = core->now.values;
        model_output(closed_state(core, 2), values + INPUT_AT, values + PARAMETER_AT, core->now.values + OUTPUT_AT);
        core->now.outputs_known = 1;
    }
}

static void set_states(Core *core, const double *states)
{
    memcpy(core->now.values + STATE_AT, states, STATES * sizeof(double));
    forget(core);
}

/* Close the loops at the start, where states or parameters may have been set; why that can't be, NULL where it can. */
static const char *start(Core *core)
{
    const double *values = core->now.values;
    if (!LOOPS || core->now.settled)
        return NULL;
    const double left = settle(core->now.set, values + INPUT_AT, values + PARAMETER_AT, core->scratch[0]);
    core->now.settled = left <= BROKEN;
    if (core->now.settled) {
        set_states(core, core->scratch[0]);
        return NULL;
    }
    Choice given;
    const int some = choose_given(core->now.set, given);
    size_t size = (size_t)snprintf(core->reason, sizeof core->reason, "the loops stay open by %.3g at these parameters%s",
                                   left, some ? "; set fewer starts, or others, than those of" : "");
    for (int j = 0; j < STATES && size < sizeof core->reason; j++)
        if (given[j])
            size += (size_t)snprintf(core->reason + size, sizeof core->reason - size, " %s", state_names[j]);
    return core->reason;
}

/* Values by reference; 0 where there is no such variable. */
static int get(Core *core, const unsigned *references, size_t count, double *values)
{
    if (core->now.phase == INITIALIZING)
        start(core); /* where it can't, states are those that were set */
    for (size_t k = 0; k < count; k++) {
        const unsigned at = references[k];
        if (at >= VARIABLES)
            return 0;
        if (at >= OUTPUT_AT)
            find_outputs(core);
        else if (at >= RATE_AT && at < INPUT_AT)
            find_rates(core);
        values[k] = core->now.values[at];
    }
    return 1;
}

static int can_set(const Core *core, unsigned at)
{
    const int starts = at >= STATE_AT && at < RATE_AT && core->now.phase < RUNNING;
    return starts || (at >= INPUT_AT && at < OUTPUT_AT);
}

/* Set inputs and parameters, and states before the start; 0, and nothing changed, where another one is among them. */
static int set(Core *core, const unsigned *references, size_t count, const double *values)
{
    for (size_t k = 0; k < count; k++)
        if (!can_set(core, references[k]))
            return 0;
    for (size_t k = 0; k < count; k++) {
        double *place = core->now.values + references[k];
        if (*place != values[k])
            forget(core);
        *place = values[k];
        if (references[k] >= STATE_AT && references[k] < RATE_AT)
            core->now.set[references[k] - STATE_AT] = values[k];
    }
    core->now.settled = 0;
    return 1;
}

/* One step of the classical method, into scratch[5]; its error relative to what is tolerated.
 *
 * With the rate k5 at the end in the place of k4 the formula is of third order; their difference is the error.
 * scratch: 0 the state of a stage, 1 to 4 the rates, 5 the new state, 6 k5.
 */
static double try_step(Core *core, double h)
{
    const double *x = core->now.values + STATE_AT;
    double *stage = core->scratch[0], *k1 = core->scratch[1], *k2 = core->scratch[2], *k3 = core->scratch[3],
           *k4 = core->scratch[4], *next = core->scratch[5], *k5 = core->scratch[6];
    if (LOOPS)
        rate_at(core, x, k1);
    else {
        find_rates(core); /* k5 of the step before, if the inputs haven't changed since */
        memcpy(k1, core->now.values + RATE_AT, STATES * sizeof(double));
    }
    for (int i = 0; i < STATES; i++)
        stage[i] = x[i] + h / 2 * k1[i];
    rate_at(core, stage, k2);
    for (int i = 0; i < STATES; i++)
        stage[i] = x[i] + h / 2 * k2[i];
    rate_at(core, stage, k3);
    for (int i = 0; i < STATES; i++)
        stage[i] = x[i] + h * k3[i];
    rate_at(core, stage, k4);
    for (int i = 0; i < STATES; i++)
        next[i] = x[i] + h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
    rate_at(core, next, k5);
    double worst = 0;
    for (int i = 0; i < STATES; i++) {
        const double error = h / 6 * fabs(k5[i] - k4[i]) / (1 + fmax(fabs(x[i]), fabs(next[i])));
        worst = larger(worst, error); /* not a number: stays, and is no step */
    }
    return worst / core->now.tolerance;
}

static void take_step(Core *core)
{
    set_states(core, core->scratch[5]);
    if (LOOPS) {
        project(core, core->scratch[5], core->scratch[0]);
        set_states(core, core->scratch[0]);
    } else {
        memcpy(core->now.values + RATE_AT, core->scratch[6], STATES * sizeof(double));
        core->now.rates_known = 1;
    }
}

typedef enum { ARRIVED, STUCK, TIRED } Progress;

/* What is said where a call doesn't arrive. A tool may go on where the FMU got tired; where it is stuck, never. */
static const char *const STUCK_SAID =
    "no step is short enough for the tolerance: the motion is too stiff, or its rates are no finite numbers";
static const char *const TIRED_SAID = "ten million steps didn't reach the end of this one: the motion is too stiff";

/* Go on to a time without samples, by one step if its error allows, else by shorter ones. */
static Progress move(Core *core, double end, long *taken)
{
    double *time = core->now.values;
    for (; *time < end; ++*taken) {
        const double left = end - *time, allowed = core->now.step;
        const int last = !(allowed > 0 && allowed < left);
        const double h = last ? left : left / ceil(left / allowed);
        const double error = try_step(core, h);
        const double wanted = error == 0 ? 5 : 0.9 * pow(error, -0.25); /* not a number: the least below */
        core->now.step = h * (wanted > 5 ? 5 : wanted > 0.2 ? wanted : 0.2);
        if (error <= 1) {
            take_step(core);
            *time = last ? end : *time + h;
        } else if (core->now.step <= SHORTEST * (1 + fabs(*time)))
            return STUCK;
        if (*taken == MOST_STEPS)
            return TIRED;
    }
    return ARRIVED;
}

/* When a clock is due next, in s. */
static double due_at(const Core *core, int clock)
{
    return core->now.begin + clocks[clock][1] + core->now.sampled[clock] * clocks[clock][0];
}

/* Times that are nearer than this (s) are one. */
static double apart_at(double time)
{
    return APART + 1e-15 * fabs(time);
}

/* What is due now: states go where the controllers that sample put them. */
static void sample(Core *core)
{
    double due[CLOCKS + 1] = {0};
    const double *values = core->now.values, latest = values[0] + apart_at(values[0]);
    int some = 0;
    for (int k = 0; k < CLOCKS; k++)
        if (due_at(core, k) <= latest) {
            const double passed = floor((latest - core->now.begin - clocks[k][1]) / clocks[k][0]);
            core->now.sampled[k] = fmax(core->now.sampled[k], passed) + 1;
            due[k] = some = 1;
        }
    if (some) {
        model_sample(values + STATE_AT, values + INPUT_AT, values + PARAMETER_AT, due, core->scratch[0]);
        set_states(core, core->scratch[0]);
    }
}

/* Go on to a time, from sample to sample. What is due at the end is sampled by the next call, with its inputs. */
static Progress advance(Core *core, double end)
{
    Progress progress = ARRIVED;
    long taken = 0;
    while (progress == ARRIVED && core->now.values[0] < end) {
        sample(core);
        double stop = end;
        for (int k = 0; k < CLOCKS; k++)
            if (due_at(core, k) < fmin(stop, end - apart_at(end)))
                stop = due_at(core, k);
        progress = move(core, stop, &taken);
    }
    return progress;
}

/* How unknowns change where knowns (states, inputs, parameters) change; 0 where another one is among them. */
static int change(Core *core, const unsigned *unknowns, size_t wanted, const unsigned *knowns, size_t given,
                  const double *changes, double *found)
{
    double *change_of = core->changes;
    const double *now = core->now.values;
    memset(change_of, 0, sizeof core->changes);
    for (size_t k = 0; k < given; k++) {
        if (knowns[k] >= OUTPUT_AT || (knowns[k] >= RATE_AT && knowns[k] < INPUT_AT))
            return 0;
        change_of[knowns[k]] = changes[k];
    }
    model_change(closed_state(core, 1), now + INPUT_AT, now + PARAMETER_AT, change_of + STATE_AT, change_of + INPUT_AT,
                 change_of + PARAMETER_AT, change_of + RATE_AT, change_of + OUTPUT_AT);
    for (size_t k = 0; k < wanted; k++) {
        if (unknowns[k] >= VARIABLES)
            return 0;
        found[k] = change_of[unknowns[k]];
    }
    return 1;
}

#endif
