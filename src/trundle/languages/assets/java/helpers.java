@@ areaSine: a form in which nothing cancels for small numbers (Higham 2002, sec. 1.14); beyond 2^28 one is lost beside the square
private static double areaSine(double x) {
    double size = Math.abs(x);
    double square = size * size;
    double area = Math.log1p(size + square / (1 + Math.sqrt(1 + square)));
    return Math.copySign(size > 0x1p28 ? Math.log(size) + Math.log(2) : area, x);
}
@@ areaCosine
private static double areaCosine(double x) {
    return x > 0x1p28 ? Math.log(x) + Math.log(2) : Math.log1p(x - 1 + Math.sqrt((x - 1) * (x + 1)));
}
@@ areaTangent
private static double areaTangent(double x) {
    double size = Math.abs(x);
    return Math.copySign(0.5 * Math.log1p(2 * size / (1 - size)), x);
}
@@ errorFunction: Abramowitz & Stegun 7.1.6, whose terms are all positive, and beyond 3 the continued fraction 7.1.14 of erfc
private static double errorFunction(double x) {
    double z = Math.abs(x);
    if (z > 6) return Math.signum(x);
    double scale = Math.exp(-z * z) / Math.sqrt(Math.PI);
    if (z > 3) {
        double fraction = z;
        for (int n = 60; n > 0; n--) fraction = z + n / 2.0 / fraction;
        return Math.signum(x) * (1 - scale / fraction);
    }
    double term = 2 * x;
    double sum = term;
    for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
        term *= 2 * z * z / (2 * n + 1);
        sum += term;
    }
    return scale * sum;
}
