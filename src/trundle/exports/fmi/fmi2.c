/* FMI 2.0: Model Exchange and Co-Simulation. What is computed stands in core.h. */
#include <stdlib.h>

#include "fmi2Functions.h"

#include "core.h"

typedef struct {
    Core core;
    fmi2CallbackLogger logger;
    fmi2ComponentEnvironment environment;
    char *name;
} Instance;

static Core *core_of(fmi2Component c)
{
    return &((Instance *)c)->core;
}

static fmi2Status told(fmi2Component c, int done, fmi2Status otherwise, const char *message)
{
    const Instance *instance = c;
    if (done)
        return fmi2OK;
    if (instance->logger)
        instance->logger(instance->environment, instance->name, otherwise, "logStatusError", "%s", message);
    return otherwise;
}

static fmi2Status no_such(fmi2Component c, size_t count)
{
    return told(c, count == 0, fmi2Error, "all variables are of the type Real");
}

static fmi2Status not_enough(fmi2Component c)
{
    return told(c, 0, fmi2Error, "no memory is left");
}

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[])
{
    (void)c, (void)on, (void)count, (void)categories;
    return fmi2OK; /* only errors are told, and always */
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)resources, (void)visible, (void)logging;
    if (!name || !guid || !functions)
        return NULL;
    const char *wrong = strcmp(guid, TOKEN) ? "the GUID is not that of this FMU's modelDescription.xml" : NULL;
    if (CLOCKS && type == fmi2ModelExchange)
        wrong = SAMPLED_SAID;
    if (wrong) {
        if (functions->logger)
            functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError", "%s", wrong);
        return NULL;
    }
    Instance *instance = calloc(1, sizeof *instance + strlen(name) + 1);
    if (!instance)
        return NULL;
    instance->name = strcpy((char *)(instance + 1), name);
    instance->logger = functions->logger;
    instance->environment = functions->componentEnvironment;
    reset(&instance->core);
    return instance;
}

void fmi2FreeInstance(fmi2Component c)
{
    free(c);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerated, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stops, fmi2Real stop)
{
    (void)stops, (void)stop;
    if (tolerated && tolerance > 0)
        core_of(c)->now.tolerance = tolerance;
    begin_at(core_of(c), start);
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    core_of(c)->now.phase = INITIALIZING;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    const char *reason = start(core_of(c));
    if (!reason)
        core_of(c)->now.phase = RUNNING;
    return told(c, !reason, fmi2Error, reason);
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    core_of(c)->now.phase = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    reset(core_of(c));
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[])
{
    return told(c, get(core_of(c), vr, nvr, value), fmi2Error, "no variable has this value reference");
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[])
{
    return told(c, set(core_of(c), vr, nvr, value), fmi2Error,
                "only inputs and parameters can be set, and states before the start");
}

#define OTHER_TYPE(TYPE)                                                                                          \
    fmi2Status fmi2Get##TYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2##TYPE value[])      \
    {                                                                                                             \
        (void)vr, (void)value;                                                                                    \
        return no_such(c, nvr);                                                                                   \
    }                                                                                                             \
    fmi2Status fmi2Set##TYPE(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2##TYPE value[]) \
    {                                                                                                             \
        (void)vr, (void)value;                                                                                    \
        return no_such(c, nvr);                                                                                   \
    }
OTHER_TYPE(Integer)
OTHER_TYPE(Boolean)
OTHER_TYPE(String)

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    if (!*state && !(*state = malloc(sizeof(Numbers))))
        return not_enough(c);
    memcpy(*state, &core_of(c)->now, sizeof(Numbers));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    memcpy(&core_of(c)->now, state, sizeof(Numbers));
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(Numbers);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (size < sizeof(Numbers))
        return told(c, 0, fmi2Error, "the array is smaller than a serialized state");
    memcpy(bytes, state, sizeof(Numbers));
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    if (size != sizeof(Numbers))
        return told(c, 0, fmi2Error, "these bytes are no serialized state of this FMU");
    if (!*state && !(*state = malloc(sizeof(Numbers))))
        return not_enough(c);
    memcpy(*state, bytes, sizeof(Numbers));
    return fmi2OK;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t unknowns,
                                        const fmi2ValueReference known[], size_t knowns, const fmi2Real changes[],
                                        fmi2Real found[])
{
    return told(c, change(core_of(c), unknown, unknowns, known, knowns, changes, found), fmi2Error,
                "derivatives are by states, inputs and parameters");
}

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    (void)c;
    memset(info, 0, sizeof *info);
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean kept, fmi2Boolean *event, fmi2Boolean *terminate)
{
    (void)c, (void)kept;
    *event = *terminate = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    core_of(c)->now.values[0] = time;
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    if (nx == STATES)
        set_states(core_of(c), x);
    return told(c, nx == STATES, fmi2Error, "that is not the number of states");
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    if (nx == STATES) {
        find_rates(core_of(c));
        memcpy(derivatives, core_of(c)->now.values + RATE_AT, STATES * sizeof(double));
    }
    return told(c, nx == STATES, fmi2Error, "that is not the number of states");
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t ni)
{
    (void)indicators;
    return told(c, ni == 0, fmi2Error, "there are no event indicators");
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
{
    if (nx == STATES)
        memcpy(x, core_of(c)->now.values + STATE_AT, STATES * sizeof(double));
    return told(c, nx == STATES, fmi2Error, "that is not the number of states");
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t nx)
{
    for (size_t k = 0; k < nx; k++)
        nominals[k] = 1;
    return told(c, nx == STATES, fmi2Error, "that is not the number of states");
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[])
{
    (void)vr, (void)order, (void)value;
    return told(c, nvr == 0, fmi2Error, "inputs are held within a step: their derivatives are not used");
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[])
{
    (void)vr, (void)order, (void)value;
    return told(c, nvr == 0, fmi2Error, "derivatives of outputs are not given");
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean kept)
{
    (void)kept;
    core_of(c)->now.values[0] = time;
    const Progress progress = advance(core_of(c), time + step);
    if (progress == STUCK)
        return told(c, 0, fmi2Error, STUCK_SAID);
    return told(c, progress == ARRIVED, fmi2Discard, TIRED_SAID);
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    return told(c, 0, fmi2Error, "no step is under way: doStep returns when it is done");
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)kind, (void)value;
    return told(c, 0, fmi2Discard, "no step is pending: doStep returns when it is done");
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    if (kind == fmi2LastSuccessfulTime)
        *value = core_of(c)->now.values[0];
    return told(c, kind == fmi2LastSuccessfulTime, fmi2Discard, "there is no such status");
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind, (void)value;
    return told(c, 0, fmi2Discard, "there is no such status");
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    if (kind == fmi2Terminated)
        *value = fmi2False;
    return told(c, kind == fmi2Terminated, fmi2Discard, "there is no such status");
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind, (void)value;
    return told(c, 0, fmi2Discard, "no step is pending: doStep returns when it is done");
}
