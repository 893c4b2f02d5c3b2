import { defineRequest, type CommandEnvelope } from '@berth/kernel';
import type { ChatBody } from './delivery.schemas.js';

export interface Chat extends CommandEnvelope {
  readonly agentId: string;
  readonly message: ChatBody['message'];
  /** The conversation to continue or open; null continues the agent's current one. */
  readonly conversationId: NonNullable<ChatBody['conversation_id']> | null;
  /** Whether an earlier attempt of this command may have been carried out: if so, its delivery is looked up first. */
  readonly repeated?: boolean;
  /** How long the services may take, in milliseconds, not counting the wake and the agent's own time. */
  readonly withinMs?: number;
}

export interface ChatReply {
  readonly response: string;
  readonly conversationId: string;
}

/** A file in the agent's inbox that is announced to the agent in its current conversation. */
export interface DeliverAttachment extends CommandEnvelope {
  readonly agentId: string;
  /** The sender's message; null for a default message about the file. */
  readonly message: string | null;
  readonly attachment: { readonly path: string; readonly name: string; readonly size: number };
}

/**
 * The requests that `delivery` handles. Errors of a chat: conflict `agent_deploying`, `agent_stopped`, `agent_failed`;
 * not_found `agent_not_found`; upstream `agent_error`; unavailable `agent_unavailable`; timeout `agent_timeout`;
 * exhausted `rate_limited` with `retryAfterSeconds`. If the effect is `unknown`, the agent may have the message; the same
 * command sent again does not hand it over twice. If the answer to an earlier attempt is no longer stored: conflict
 * `idempotency_answer_gone`.
 */
export const deliveryRequests = {
  /** Waits up to 600 s for the agent's answer. The same command sent again returns the outcome of the first attempt. */
  chat: defineRequest<Chat, ChatReply>('cmd.delivery.chat.v1', 620_000, { whenLost: 'repeat' }),
  /**
   * Returns once the delivery is accepted. The delivery continues after the response and ends as `answered` or as
   * `failed` (the agent has no chat, returned an error, or has used up its budget of messages).
   */
  deliverAttachment: defineRequest<DeliverAttachment, { readonly deliveryId: string }>(
    'cmd.delivery.tell-attachment.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
};
