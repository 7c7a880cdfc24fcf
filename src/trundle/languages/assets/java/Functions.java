package @NAME@;

/** The programs of @NAME@ (@SIGNATURE@) as functions of arrays, inputs first; README.md tells what every number is. */
public final class Functions {
    private Functions() {}

@BODY@
}
