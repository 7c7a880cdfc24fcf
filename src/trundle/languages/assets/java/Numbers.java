/** @MEANING@ */
public static double[] @NAME@() {
    return new double[] {@VALUES@};
}
