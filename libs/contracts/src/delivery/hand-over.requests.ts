import { defineRequest, type CommandEnvelope } from '@berth/kernel';

/** One attempt to hand a message over whose sender does not wait for the agent's answer. */
export interface HandOver extends CommandEnvelope {
  readonly agentId: string;
  /** `dlv_…`, the same at every attempt: the program gets a message with a given id at most once. */
  readonly deliveryId: string;
  readonly message: string;
  /** Never becomes the agent's current conversation. Its messages arrive one at a time. */
  readonly conversationId: string;
  readonly source: 'webhook' | 'schedule';
  /** Content type of a webhook's body, null if it had none; absent for other messages. */
  readonly contentType?: string | null;
  /** Whether an earlier attempt may have handed the message over: then its outcome is looked up first. */
  readonly repeated?: boolean;
  /** Whether the message was counted against the agent's budget when it was accepted. Otherwise this takes it from it. */
  readonly counted?: boolean;
}

/**
 * How the hand-over ended. `handed_over`: the program answered with 2xx. `declined`: with 429 or 503, so a later attempt
 * with the same id hands it over again. `failed`: no attempt can change it; the program answered with another status
 * (`agent_error`), took the message and never answered (`agent_error`, `agent_timeout`), or cannot chat
 * (`chat_unsupported`).
 */
export type HandOverOutcome =
  | { readonly outcome: 'handed_over' | 'declined' }
  | { readonly outcome: 'failed'; readonly code: string; readonly message: string };

/**
 * Requests of services that send messages for which no caller waits.
 *
 * `handOver` wakes the agent and waits up to 600 s for the program's status. Its errors mean that the message was not
 * handed over: those of `agentsRequests.ensureAwake` (`agent_stopped`, `compute_cap_reached`, `end_user_suspended`, …);
 * exhausted `rate_limited` beyond the agent's budget; unavailable `agent_unavailable`. With the effect `unknown` the
 * program may have the message: ask again with the same delivery id and `repeated`.
 */
export const handOverRequests = {
  handOver: defineRequest<HandOver, HandOverOutcome>('cmd.delivery.hand-over.v1', 620_000, {
    whenLost: 'repeat',
  }),
};
