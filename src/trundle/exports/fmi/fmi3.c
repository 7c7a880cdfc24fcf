/* FMI 3.0: Model Exchange and Co-Simulation. What is computed stands in core.h. */
#include <stdlib.h>

#include "fmi3Functions.h"

#include "core.h"

typedef struct {
    Core core;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
} Instance;

static Core *core_of(fmi3Instance instance)
{
    return &((Instance *)instance)->core;
}

static fmi3Status told(fmi3Instance instance, int done, fmi3Status otherwise, const char *message)
{
    const Instance *own = instance;
    if (done)
        return fmi3OK;
    if (own->log)
        own->log(own->environment, otherwise, "logStatusError", message);
    return otherwise;
}

static fmi3Status not_had(fmi3Instance instance)
{
    return told(instance, 0, fmi3Error, "this FMU has no clocks, partitions, structural parameters or adjoint derivatives");
}

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t count, const fmi3String categories[])
{
    (void)instance, (void)on, (void)count, (void)categories;
    return fmi3OK; /* only errors are told, and always */
}

static const char *const NO_EVENTS = "there are no events and no scheduled execution";

static fmi3Instance instantiated(fmi3String name, fmi3String token, fmi3InstanceEnvironment environment,
                                 fmi3LogMessageCallback log, const char *problem)
{
    if (!problem && (!name || !token || strcmp(token, TOKEN) != 0))
        problem = "the instantiation token is not that of this FMU's modelDescription.xml";
    Instance *instance = problem ? NULL : calloc(1, sizeof *instance);
    if (problem && log)
        log(environment, fmi3Error, "logStatusError", problem);
    if (!instance)
        return NULL;
    instance->log = log;
    instance->environment = environment;
    reset(&instance->core);
    return instance;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log)
{
    (void)resources, (void)visible, (void)logging;
    return instantiated(name, token, environment, log, CLOCKS ? SAMPLED_SAID : NULL);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean events, fmi3Boolean early,
                                         const fmi3ValueReference required[], size_t count,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback update)
{
    (void)resources, (void)visible, (void)logging, (void)early, (void)required, (void)count, (void)update;
    return instantiated(name, token, environment, log, events ? NO_EVENTS : NULL);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3ClockUpdateCallback clock, fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock)
{
    (void)resources, (void)visible, (void)logging, (void)clock, (void)lock, (void)unlock;
    return instantiated(name, token, environment, log, NO_EVENTS);
}

void fmi3FreeInstance(fmi3Instance instance)
{
    free(instance);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean tolerated, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stops, fmi3Float64 stop)
{
    (void)stops, (void)stop;
    Numbers *now = &core_of(instance)->now;
    if (tolerated && tolerance > 0)
        now->tolerance = tolerance;
    begin_at(core_of(instance), start);
    now->phase = INITIALIZING;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance)
{
    const char *reason = start(core_of(instance));
    if (!reason)
        core_of(instance)->now.phase = RUNNING;
    return told(instance, !reason, fmi3Error, reason);
}

fmi3Status fmi3Terminate(fmi3Instance instance)
{
    core_of(instance)->now.phase = TERMINATED;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance instance)
{
    reset(core_of(instance));
    return fmi3OK;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                          fmi3Float64 values[], size_t size)
{
    return told(instance, size == count && get(core_of(instance), references, count, values), fmi3Error,
                "no variable has this value reference");
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                          const fmi3Float64 values[], size_t size)
{
    return told(instance, size == count && set(core_of(instance), references, count, values), fmi3Error,
                "only inputs and parameters can be set, and states before the start");
}

#define OTHER_TYPE(TYPE)                                                                                             \
    fmi3Status fmi3Get##TYPE(fmi3Instance instance, const fmi3ValueReference references[], size_t count,             \
                             fmi3##TYPE values[], size_t size)                                                       \
    {                                                                                                                \
        (void)references, (void)values, (void)size;                                                                  \
        return told(instance, count == 0, fmi3Error, "all variables are of the type Float64");                       \
    }                                                                                                                \
    fmi3Status fmi3Set##TYPE(fmi3Instance instance, const fmi3ValueReference references[], size_t count,             \
                             const fmi3##TYPE values[], size_t size)                                                 \
    {                                                                                                                \
        (void)references, (void)values, (void)size;                                                                  \
        return told(instance, count == 0, fmi3Error, "all variables are of the type Float64");                       \
    }
OTHER_TYPE(Float32)
OTHER_TYPE(Int8)
OTHER_TYPE(UInt8)
OTHER_TYPE(Int16)
OTHER_TYPE(UInt16)
OTHER_TYPE(Int32)
OTHER_TYPE(UInt32)
OTHER_TYPE(Int64)
OTHER_TYPE(UInt64)
OTHER_TYPE(Boolean)
OTHER_TYPE(String)

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t count, size_t sizes[],
                         fmi3Binary values[], size_t size)
{
    (void)references, (void)sizes, (void)values, (void)size;
    return told(instance, count == 0, fmi3Error, "all variables are of the type Float64");
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                         const size_t sizes[], const fmi3Binary values[], size_t size)
{
    (void)references, (void)sizes, (void)values, (void)size;
    return told(instance, count == 0, fmi3Error, "all variables are of the type Float64");
}

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t count, fmi3Clock values[])
{
    (void)references, (void)values;
    return told(instance, count == 0, fmi3Error, "there are no clocks");
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        const fmi3Clock values[])
{
    (void)references, (void)values;
    return told(instance, count == 0, fmi3Error, "there are no clocks");
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference reference, size_t *count)
{
    (void)reference, (void)count;
    return not_had(instance);
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent, size_t elements[],
                                       fmi3ValueReference independents[], size_t their_elements[],
                                       fmi3DependencyKind kinds[], size_t count)
{
    (void)dependent, (void)elements, (void)independents, (void)their_elements, (void)kinds, (void)count;
    return not_had(instance);
}

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    if (!*state && !(*state = malloc(sizeof(Numbers))))
        return told(instance, 0, fmi3Error, "no memory is left");
    memcpy(*state, &core_of(instance)->now, sizeof(Numbers));
    return fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state)
{
    memcpy(&core_of(instance)->now, state, sizeof(Numbers));
    return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    (void)instance;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    (void)instance, (void)state;
    *size = sizeof(Numbers);
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (size < sizeof(Numbers))
        return told(instance, 0, fmi3Error, "the array is smaller than a serialized state");
    memcpy(bytes, state, sizeof(Numbers));
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    if (size != sizeof(Numbers))
        return told(instance, 0, fmi3Error, "these bytes are no serialized state of this FMU");
    if (!*state && !(*state = malloc(sizeof(Numbers))))
        return told(instance, 0, fmi3Error, "no memory is left");
    memcpy(*state, bytes, sizeof(Numbers));
    return fmi3OK;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t wanted,
                                        const fmi3ValueReference knowns[], size_t given, const fmi3Float64 seed[],
                                        size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities)
{
    const int fits = seeds == given && sensitivities == wanted;
    return told(instance, fits && change(core_of(instance), unknowns, wanted, knowns, given, seed, sensitivity),
                fmi3Error, "derivatives are by states, inputs and parameters");
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t wanted,
                                    const fmi3ValueReference knowns[], size_t given, const fmi3Float64 seed[],
                                    size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities)
{
    (void)unknowns, (void)wanted, (void)knowns, (void)given;
    (void)seed, (void)seeds, (void)sensitivity, (void)sensitivities;
    return not_had(instance);
}

/* Modes between which nothing changes: there are no events and no discrete states. */
#define NOTHING_TO_DO(NAME)                 \
    fmi3Status NAME(fmi3Instance instance)  \
    {                                       \
        (void)instance;                     \
        return fmi3OK;                      \
    }
NOTHING_TO_DO(fmi3EnterEventMode)
NOTHING_TO_DO(fmi3EnterContinuousTimeMode)
NOTHING_TO_DO(fmi3EvaluateDiscreteStates)
NOTHING_TO_DO(fmi3EnterStepMode)

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance)
{
    return not_had(instance);
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance)
{
    return not_had(instance);
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals, fmi3Boolean *values, fmi3Boolean *timed, fmi3Float64 *next)
{
    (void)instance, (void)next;
    *again = *terminate = *nominals = *values = *timed = fmi3False;
    return fmi3OK;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean kept, fmi3Boolean *event,
                                       fmi3Boolean *terminate)
{
    (void)instance, (void)kept;
    *event = *terminate = fmi3False;
    return fmi3OK;
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time)
{
    core_of(instance)->now.values[0] = time;
    return fmi3OK;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 states[], size_t count)
{
    if (count == STATES)
        set_states(core_of(instance), states);
    return told(instance, count == STATES, fmi3Error, "that is not the number of states");
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 derivatives[], size_t count)
{
    if (count == STATES) {
        find_rates(core_of(instance));
        memcpy(derivatives, core_of(instance)->now.values + RATE_AT, STATES * sizeof(double));
    }
    return told(instance, count == STATES, fmi3Error, "that is not the number of states");
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 indicators[], size_t count)
{
    (void)indicators;
    return told(instance, count == 0, fmi3Error, "there are no event indicators");
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 states[], size_t count)
{
    if (count == STATES)
        memcpy(states, core_of(instance)->now.values + STATE_AT, STATES * sizeof(double));
    return told(instance, count == STATES, fmi3Error, "that is not the number of states");
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[], size_t count)
{
    for (size_t k = 0; k < count; k++)
        nominals[k] = 1;
    return told(instance, count == STATES, fmi3Error, "that is not the number of states");
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *count)
{
    (void)instance;
    *count = 0;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *count)
{
    (void)instance;
    *count = STATES;
    return fmi3OK;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                    const fmi3Int32 orders[], fmi3Float64 values[], size_t size)
{
    (void)references, (void)orders, (void)values, (void)size;
    return told(instance, count == 0, fmi3Error, "derivatives of outputs are not given");
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 time, fmi3Float64 step, fmi3Boolean kept, fmi3Boolean *event,
                      fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached)
{
    (void)kept;
    Core *core = core_of(instance);
    core->now.values[0] = time;
    const Progress progress = advance(core, time + step);
    *event = *terminate = *early = fmi3False;
    *reached = core->now.values[0];
    if (progress == STUCK)
        return told(instance, 0, fmi3Error, STUCK_SAID);
    return told(instance, progress == ARRIVED, fmi3Discard, TIRED_SAID);
}

/* Clocks and partitions: none. */
fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
{
    (void)references, (void)count, (void)intervals, (void)qualifiers;
    return not_had(instance);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                   fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
{
    (void)references, (void)count, (void)counters, (void)resolutions, (void)qualifiers;
    return not_had(instance);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               fmi3Float64 shifts[])
{
    (void)references, (void)count, (void)shifts;
    return not_had(instance);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
    (void)references, (void)count, (void)counters, (void)resolutions;
    return not_had(instance);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                  const fmi3Float64 intervals[])
{
    (void)references, (void)count, (void)intervals;
    return not_had(instance);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                   const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)references, (void)count, (void)counters, (void)resolutions;
    return not_had(instance);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                               const fmi3Float64 shifts[])
{
    (void)references, (void)count, (void)shifts;
    return not_had(instance);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                                const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)references, (void)count, (void)counters, (void)resolutions;
    return not_had(instance);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time)
{
    (void)clock, (void)time;
    return not_had(instance);
}
