/**
 * One question or command that a service answers: its NATS subject, the shapes both ways and how long a
 * caller waits. `{host}` in a subject stands for the runtime host that is meant.
 */
export interface RequestDefinition<Request, Response> {
  readonly subject: string;
  /** The longest a caller waits for the answer, in milliseconds. */
  readonly deadlineMs: number;
  /** Phantom: carries the types, never set. */
  readonly shapes?: readonly [Request, Response];
}

/** Commands `cmd.<context>.<verb>.v1`, queries `qry.<context>.<question>.v1`. */
export const defineRequest = <Request, Response>(
  subject: string,
  deadlineMs = 10_000,
): RequestDefinition<Request, Response> => ({ subject, deadlineMs });

/** Who asked: stands in event metadata and audit. `id` is a key id, token id, agent id or service name. */
export interface Actor {
  readonly kind: 'key' | 'end_user_token' | 'agent' | 'system';
  readonly id: string;
}

/** What every command about an account's things carries. */
export interface CommandEnvelope {
  /** `cmd_…`: the same id sent twice acts once. */
  readonly commandId: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/** One page of a list (contract §1). `nextCursor` is opaque, null on the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}
