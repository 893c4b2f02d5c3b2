import { jsonText } from './values.js';

/** What `fetch` sends. Node's types have no name for it. */
export type Sent =
  | string
  | Blob
  | FormData
  | URLSearchParams
  | ArrayBuffer
  | ArrayBufferView
  | ReadableStream<Uint8Array>;

/** The body of a request. */
export interface Body {
  readonly contentType?: string;
  /** False for a stream, which can be read once. */
  readonly repeatable: boolean;
  /** What an attempt sends. */
  open(): Sent | Promise<Sent>;
  /** What the caller's own stream threw, if it did. */
  failure?(): { readonly error: unknown } | undefined;
}

/** A value as JSON. Throws a TypeError if it cannot be written. */
export const jsonBody = (value: unknown): Body => {
  const text = jsonText(value);
  return { contentType: 'application/json', repeatable: true, open: () => text };
};

/** The members that were given, as JSON; no body without any. */
export const optionalJsonBody = (members: object | undefined): Body | undefined =>
  Object.values(members ?? {}).every((value) => value === undefined) ? undefined : jsonBody(members);
