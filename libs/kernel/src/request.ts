/**
 * What is done with a request of which neither a reply nor a heartbeat comes soon. `repeat`: it is sent again, because
 * sending it twice, even at the same time, has the effect of sending it once. `report`: it fails soon, because its sender
 * has a safe way of its own to find out what happened. `wait`: it fails once its handler must be dead.
 */
export type WhenLost = 'repeat' | 'report' | 'wait';

/**
 * One question or command that a service answers: its NATS subject, the shapes both ways and how long a
 * caller waits. `{host}` in a subject stands for the runtime host that is meant.
 */
export interface RequestDefinition<Request, Response> {
  readonly subject: string;
  /** The longest a caller waits for the answer, in milliseconds. */
  readonly deadlineMs: number;
  readonly whenLost: WhenLost;
  /** A handler whose own caller has given up does not send it: it would begin what was reported as failed. */
  readonly onlyWhileAwaited: boolean;
  /** Phantom: carries the types, never set. */
  readonly shapes?: readonly [Request, Response];
}

/** What a definition may say of a command; see `RequestDefinition`. */
export interface RequestTraits {
  readonly whenLost?: WhenLost;
  readonly onlyWhileAwaited?: boolean;
}

/** Commands `cmd.<context>.<verb>.v1`, queries `qry.<context>.<question>.v1`. Every query may be repeated. */
export const defineRequest = <Request, Response>(
  subject: string,
  deadlineMs = 10_000,
  traits: RequestTraits = {},
): RequestDefinition<Request, Response> => {
  const { whenLost = subject.startsWith('qry.') ? 'repeat' : 'wait', onlyWhileAwaited = false } = traits;
  return { subject, deadlineMs, whenLost, onlyWhileAwaited };
};

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

/** The envelope of one step of a command: one command touches several streams, and each step needs an id of its own. */
export const stepOf = ({ commandId, accountId, actor }: CommandEnvelope, step: string): CommandEnvelope => ({
  commandId: `${commandId}/${step}`,
  accountId,
  actor,
});

/** One page of a list (contract §1). `nextCursor` is opaque, null on the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}
