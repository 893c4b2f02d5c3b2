import type { ErrorKind } from './domain-error.js';

/** A public error code: its kind, and when a caller gets it. */
export interface ErrorDefinition {
  readonly kind: ErrorKind;
  /** Completes "when …". */
  readonly when: string;
}

/** Declares the error codes of a context by name. `docs/errors.md` and the status of each code derive from it. */
export const defineErrors = <Definitions extends Readonly<Record<string, ErrorDefinition>>>(
  definitions: Definitions,
): Definitions => definitions;
