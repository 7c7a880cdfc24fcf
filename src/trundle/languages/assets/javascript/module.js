// @NAME@, @SIGNATURE@. README.md tells what every function takes and gives.
// Functions read their first arrays and write the last ones, which must be others.

@FUNCTIONS@

/** Names, units and, where there are any, defaults of all numbers, in the functions' order, by group. */
export const groups = @GROUPS@;
