// the state after a time h, inputs held, by the classical Runge-Kutta method
inline @STATE@ @STEP@(const @STATE@ &state, const @INPUT@ &input, @PARAMETER@Real h) {
    @STATE@ next{};
    @NAME@_@STEP@(state.data(), input.data(), @GIVEN@, h, next.data());
    return next;
}
