package @NAME@;

/** What was measured of @NAME@; by default what its description says. */
public final class Parameters {
@FIELDS@

    /** What the functions take. */
    public double[] toArray() {
        return new double[] {@NAMES@};
    }
}
