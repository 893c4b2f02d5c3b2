/** Exit code of a process whose host lacks something that it needs (`EX_UNAVAILABLE` of sysexits.h). */
export const EXIT_UNSUITABLE_HOST = 69;

/** Names everything that this host lacks, with what to do about it; one line each. */
export class UnsuitableHostError extends Error {
  override readonly name = 'UnsuitableHostError';

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}
