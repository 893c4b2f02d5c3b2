/** A problem with a member of the file. */
export interface Fault {
  /** The members that lead to it, and the positions in lists. */
  readonly path: readonly (string | number)[];
  /** Follows the name of the member: `must be …` */
  readonly what: string;
}

/** The entries whose key an earlier one has. */
export const repeated = <Entry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
  pathOf: (index: number) => Fault['path'],
): readonly Fault[] =>
  entries.flatMap((entry, index) =>
    entries.findIndex((other) => keyOf(other) === keyOf(entry)) < index
      ? [{ path: pathOf(index), what: 'must differ from the ones before' }]
      : [],
  );
