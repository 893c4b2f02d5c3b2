/**
 * What the caller does when neither a reply nor a heartbeat arrives soon. `repeat`: send the request again, because
 * sending it twice, even concurrently, has the effect of sending it once. `report`: fail soon, because the sender has
 * its own safe way to find out what happened. `wait`: fail only after the handler must be dead.
 */
export type WhenLost = 'repeat' | 'report' | 'wait';

/**
 * A query or command that a service handles: its NATS subject, the request and response types, and how long a caller
 * waits. `{host}` in a subject stands for the id of the target runtime host, `{from}` at its end for that of
 * the host that sends it, which the payload then also has as `host`.
 */
export interface RequestDefinition<Request, Response> {
  readonly subject: string;
  /** How long a caller waits for the reply, at most, in milliseconds. */
  readonly deadlineMs: number;
  readonly whenLost: WhenLost;
  /**
   * If true, a handler does not send this request once its own caller has given up: otherwise it would start work that
   * was already reported as failed.
   */
  readonly onlyWhileAwaited: boolean;
  /** Phantom field: carries the types and is never set. */
  readonly shapes?: readonly [Request, Response];
}

/** Optional properties of a command; see `RequestDefinition`. */
export interface RequestTraits {
  readonly whenLost?: WhenLost;
  readonly onlyWhileAwaited?: boolean;
}

/**
 * Defines a request. Subjects: commands `cmd.<context>.<verb>.v1`, queries `qry.<context>.<question>.v1`. Every query
 * may be repeated.
 */
export const defineRequest = <Request, Response>(
  subject: string,
  deadlineMs = 10_000,
  traits: RequestTraits = {},
): RequestDefinition<Request, Response> => {
  const { whenLost = subject.startsWith('qry.') ? 'repeat' : 'wait', onlyWhileAwaited = false } = traits;
  return { subject, deadlineMs, whenLost, onlyWhileAwaited };
};

/** Who sent a request; recorded in event metadata and audit. `id` is the id of the credential, or a service name. */
export interface Actor {
  readonly kind: 'key' | 'end_user' | 'agent' | 'webhook' | 'viewer' | 'system';
  readonly id: string;
}

/** The fields that every command on an account's resources carries. */
export interface CommandEnvelope {
  /** `cmd_…`: the same id sent twice takes effect once. */
  readonly commandId: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/**
 * Returns the envelope for one step of a command: a command can touch several streams, and each step needs its own id.
 */
export const stepOf = ({ commandId, accountId, actor }: CommandEnvelope, step: string): CommandEnvelope => ({
  commandId: `${commandId}/${step}`,
  accountId,
  actor,
});

/** One page of a list. `nextCursor` is opaque, null on the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}
