/* Where an instance starts: the state that was set, completed so that loops are closed, as Trundle's own runs start
 * (model/manifold.py and mechanics/closing.py, whose steps and bounds these are).
 */
#ifndef SETTLE_H
#define SETTLE_H

#include <math.h>
#include <string.h>

#include "model.h"

enum { ROOM = STATES ? STATES : 1 /* an array has an element at least */ };

/* Residuals (m, rad, m/s, rad/s) that count as closed, and those that a start may have. */
static const double CLOSED = 1e-9, BROKEN = 1e-8;
/* Starts that differ by no more than this part of their size are one: what units to and fro leave. */
static const double ALIKE = 1e-14;

/* What is seen at a state: residuals `from` to `to` (the configuration's, or the velocity's) and their slopes. */
typedef struct {
    const double *input, *parameter;
    int from, to;
    double phi[RESIDUALS + 1], slope[RESIDUALS + 1][ROOM], rows[RESIDUALS + 1][ROOM + 1];
} Look;

typedef char Choice[ROOM]; /* of states: 1 or 0 each */

/* Of two numbers; not a number where one isn't. */
static double larger(double a, double b)
{
    return a >= b || a != a ? a : b;
}

static double dot(const double *a, const double *b, int count)
{
    double sum = 0;
    for (int j = 0; j < count; j++)
        sum += a[j] * b[j];
    return sum;
}

/* The largest residual at a state; infinite where one is no number. */
static double look_at(Look *look, const double *x)
{
    double largest = 0;
    model_residual(x, look->input, look->parameter, look->phi);
    model_slope(x, look->input, look->parameter, look->slope[0]);
    for (int i = look->from; i < look->to; i++)
        largest = larger(largest, fabs(look->phi[i]));
    return largest == largest ? largest : HUGE_VAL;
}

static double norm(const Look *look)
{
    return sqrt(dot(look->phi + look->from, look->phi + look->from, look->to - look->from));
}

/* Of the slopes by what moves. */
static double square(const Look *look, const char *moves)
{
    double sum = 0;
    for (int i = look->from; i < look->to; i++)
        for (int j = 0; j < STATES; j++)
            sum += moves[j] ? look->slope[i][j] * look->slope[i][j] : 0;
    return sum;
}

/* The step J^T (J J^T + damping)^-1 phi of what moves: the rows of (J phi) are turned into each other until those of J
 * are orthogonal (Hestenes 1958). Of these, squares below the part `rounding` of the largest count as zeros.
 */
static void find_step(Look *look, const char *moves, double damping, double rounding, double *step)
{
    double(*rows)[ROOM + 1] = look->rows, most = 0;
    for (int i = look->from; i < look->to; i++) {
        for (int j = 0; j < STATES; j++)
            rows[i][j] = moves[j] ? look->slope[i][j] : 0;
        rows[i][STATES] = look->phi[i];
    }
    for (int sweep = 0, turned = 1; turned && sweep < 60; sweep++) {
        turned = 0;
        for (int i = look->from; i < look->to; i++)
            for (int k = i + 1; k < look->to; k++) {
                const double a = dot(rows[i], rows[i], STATES), b = dot(rows[k], rows[k], STATES);
                const double c = dot(rows[i], rows[k], STATES);
                if (!(fabs(c) > 1e-15 * sqrt(a * b)))
                    continue;
                const double z = (b - a) / (2 * c), t = copysign(1, z) / (fabs(z) + sqrt(1 + z * z));
                const double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
                for (int j = 0; j <= STATES; j++) {
                    const double before = rows[i][j];
                    rows[i][j] = cosine * before - sine * rows[k][j];
                    rows[k][j] = sine * before + cosine * rows[k][j];
                }
                turned = 1;
            }
    }
    memset(step, 0, ROOM * sizeof *step);
    for (int i = look->from; i < look->to; i++)
        most = larger(most, dot(rows[i], rows[i], STATES));
    for (int i = look->from; i < look->to; i++) {
        const double own = dot(rows[i], rows[i], STATES);
        for (int j = 0; own > rounding * most && j < STATES; j++)
            step[j] += rows[i][j] * rows[i][STATES] / (own + damping);
    }
}

/* Move a state to where the residuals vanish, in the same way of assembly (`closed`); the largest residual left. */
static double approach(Look *look, double *best, const char *moves)
{
    double x[ROOM], trial[ROOM], step[ROOM], size = look_at(look, best), least = size;
    memcpy(x, best, sizeof x);
    for (int k = 0, idle = 0; k < 50 && size < HUGE_VAL && least > 0 && idle < (least > CLOSED ? 50 : 1); k++) {
        const double before = norm(look);
        double promised = 0, longest = 1;
        find_step(look, moves, fmin(before, square(look, moves) / 10), 1e-15, step);
        for (int i = look->from; i < look->to; i++)
            promised += pow(look->phi[i] - dot(look->slope[i], step, STATES), 2);
        if (!(sqrt(promised) < (1 - 1e-3) * before))
            break;
        for (int j = 0; j < STATES; j++)
            longest = larger(longest, fabs(step[j]));
        for (int halved = 0; halved <= 7; halved++) {
            for (int j = 0; j < STATES; j++)
                trial[j] = x[j] - ldexp(step[j] / longest, -halved);
            size = look_at(look, trial);
            if (norm(look) < before || before <= CLOSED)
                break;
        }
        memcpy(x, trial, sizeof x);
        idle = size < least / 2 ? 0 : idle + 1;
        if (size < least) {
            least = size;
            memcpy(best, x, sizeof x);
        }
    }
    return least;
}

/* From where a state is, then a bit beside, then from all around: the first that closes, or comes closest (`_sought`). */
static double seek(Look *look, double *best, double least, const char *moves, int restarts)
{
    double first[ROOM], trial[ROOM];
    int places = 0;
    memcpy(first, best, sizeof first);
    for (int j = 0; j < STATES; j++)
        places += moves[j];
    for (int k = -2; places && k < restarts && !(least <= CLOSED); k++) {
        int place = 0;
        for (int j = 0; j < STATES; j++)
            trial[j] = first[j] + (!moves[j] || k == -2 ? 0 : k == -1 ? 0.1 : around[k * places + place++]);
        const double left = approach(look, trial, moves);
        if (left < least) {
            least = left;
            memcpy(best, trial, sizeof trial);
        }
    }
    return least;
}

/* Coordinates that close the loops (`settled`): those that follow, then all that are free, then those that follow and
 * were set, which are a guess then.
 */
static void settle_coordinates(Look *look, double *x, const char *both, const char *free_ones, const char *follow)
{
    double nearest[ROOM], moved[ROOM], left = look_at(look, x), gap;
    memcpy(nearest, x, sizeof nearest);
    gap = seek(look, nearest, left, both, 8);
    memcpy(moved, gap <= CLOSED ? nearest : x, sizeof moved);
    left = seek(look, moved, gap <= CLOSED ? gap : left, free_ones, 8);
    if (!(left <= CLOSED) && seek(look, nearest, gap, follow, 0) <= CLOSED)
        memcpy(moved, nearest, sizeof moved);
    else if (!(left <= CLOSED))
        return;
    memcpy(x, moved, sizeof moved);
}

/* Speeds that keep them closed (`_settled_speeds`): conditions are linear, and a second step takes rounding away. */
static void settle_speeds(Look *look, double *x, const char *both, const char *free_ones, const char *follow)
{
    const char *const choices[] = {both, free_ones};
    double best[ROOM], moved[ROOM], step[ROOM], least = HUGE_VAL;
    (void)follow;
    memcpy(best, x, sizeof best);
    for (int k = 0; k < 2 && !(least <= BROKEN); k++) {
        memcpy(moved, x, sizeof moved);
        for (int again = 0; again < 2; again++) {
            look_at(look, moved);
            find_step(look, choices[k], 0, 1e-24, step);
            for (int j = 0; j < STATES; j++)
                moved[j] -= step[j];
        }
        const double left = look_at(look, moved);
        if (left < least) {
            least = left;
            memcpy(best, moved, sizeof best);
        }
    }
    memcpy(x, best, sizeof best);
}

/* Which of the states that were set differ from those that the FMU declares: they are given, and stay. */
static int choose_given(const double *set, char *given)
{
    int some = 0;
    for (int j = 0; j < STATES; j++) {
        given[j] = !(fabs(set[j] - first_state[j]) <= ALIKE * (1 + fabs(first_state[j])));
        some |= given[j];
    }
    return some;
}

/* The state at the start, x, of what was set; the largest residual left. */
static double settle(const double *set, const double *input, const double *parameter, double *x)
{
    static void (*const solve[])(Look *, double *, const char *, const char *, const char *) = {
        settle_coordinates,
        settle_speeds,
    };
    const int rows[] = {0, CONFIGURATION, RESIDUALS}, columns[] = {0, COORDINATES, COORDINATES + SPEEDS};
    Look look = {input, parameter, 0, RESIDUALS, {0}, {{0}}, {{0}}};
    Choice given, both, free_ones, follow;
    memcpy(x, first_state, STATES * sizeof *x);
    if (!choose_given(set, given) && look_at(&look, x) <= 1e-13)
        return 0;
    for (int j = 0; j < STATES; j++)
        x[j] = given[j] ? set[j] : guess[j];
    for (int part = 0; part < 2; part++) {
        for (int j = 0; j < STATES; j++) {
            const int own = j >= columns[part] && j < columns[part + 1];
            free_ones[j] = (char)(own && !given[j]);
            follow[j] = (char)(own && dependent[j]);
            both[j] = free_ones[j] && follow[j];
        }
        look.from = rows[part], look.to = rows[part + 1];
        if (!(look_at(&look, x) <= BROKEN))
            solve[part](&look, x, both, free_ones, follow);
    }
    look.from = 0;
    return look_at(&look, x);
}

#endif
