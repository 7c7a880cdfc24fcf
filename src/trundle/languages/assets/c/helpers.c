@@ least_of: not math.h's fmin and fmax, which leave the NaN out that kernels keep
static inline @REAL@ least_of(@REAL@ x, @REAL@ y) {
    return x < y || x != x ? x : y;
}
@@ largest_of
static inline @REAL@ largest_of(@REAL@ x, @REAL@ y) {
    return x > y || x != x ? x : y;
}
@@ sign_of
static inline @REAL@ sign_of(@REAL@ x) {
    return x > 0 ? 1 : x < 0 ? -1 : x;
}
