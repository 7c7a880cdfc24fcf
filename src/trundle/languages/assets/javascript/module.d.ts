// Types of @NAME@.js, @SIGNATURE@.

/** Numbers that a function reads. */
export type Numbers = ArrayLike<number>;
/** Numbers that it writes: an array that is there, of the right length. */
export type Result = Float64Array | number[];
/** What is known of a group's numbers, in their order. */
export interface Group {
  readonly names: readonly string[];
  readonly units: readonly string[];
  readonly defaults?: readonly number[];
}

@FUNCTIONS@

export const groups: {
@GROUPS@
};
