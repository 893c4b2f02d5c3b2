import type { Screen } from './screen.js';

/** What is wrong with a member, at its path in the body. A type, so that it can stand in the context of an error. */
export type FieldProblem = {
  readonly path: string;
  readonly message: string;
};

/** Longest part of a name from a request that an answer repeats. */
const MAX_NAME_CHARS = 128;
/** Unknown members of an object beyond this number are not listed. */
const MAX_UNKNOWN = 20;

/** The reading of one request: what its pixels mean, what was found wrong with it, how long it waits. */
export class Reading {
  readonly problems: FieldProblem[] = [];
  /** Milliseconds of all waits and holds together. */
  waited = 0;

  constructor(readonly screen: Screen) {}

  /** Notes a problem. Undefined, as the value of what could not be read. */
  refuse(path: string, message: string): undefined {
    this.problems.push({ path, message });
  }

  /** Refuses the members of an object that are none of `known`, unless they are null. */
  refuseOthers(object: JsonObject, known: readonly string[], path: string): void {
    const others = Object.keys(object).filter((name) => isGiven(object, name) && !known.includes(name));
    for (const name of others.slice(0, MAX_UNKNOWN))
      this.refuse(below(path, name.slice(0, MAX_NAME_CHARS)), 'is not a known member');
  }
}

/** The path of a member. That of the body itself is empty. */
export const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);

/** An own member; null is as if left out. */
export const memberOf = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;

export const isGiven = (object: JsonObject, name: string): boolean => memberOf(object, name) !== undefined;

/** A text of a request for a message: on one line, and cut. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_NAME_CHARS));
