import { defineRequest, type CommandEnvelope } from '@berth/kernel';

export interface Chat extends CommandEnvelope {
  readonly agentId: string;
  readonly message: string;
  /** Continues that conversation, or opens it; null goes on with the agent's current one. */
  readonly conversationId: string | null;
  /** An earlier try of this command may have been carried out: its delivery is looked up before anything is done. */
  readonly repeated?: boolean;
  /** How long the services behind a chat may take together, in milliseconds; wakes and the agent's own time do not count. */
  readonly withinMs?: number;
}

export interface ChatReply {
  readonly response: string;
  readonly conversationId: string;
}

/** A file that was put into the agent's inbox, to be told to the agent in its current conversation. */
export interface TellAttachment extends CommandEnvelope {
  readonly agentId: string;
  /** What its sender had to say; null says that a file came. */
  readonly message: string | null;
  readonly attachment: { readonly path: string; readonly name: string; readonly size: number };
}

/**
 * What `delivery` answers. Errors of a chat (contract §3): conflict `agent_deploying`, `agent_stopped`,
 * `agent_failed`; not_found `agent_not_found`; upstream `agent_error`; unavailable `agent_unavailable`;
 * timeout `agent_timeout`; exhausted `rate_limited` with `retryAfterSeconds`. Effect `unknown`: the agent
 * may have the message; the same command sent again does not hand it over twice. conflict `chat_answer_gone`: an
 * earlier try of the command was answered, and its answer is no longer kept.
 */
export const deliveryRequests = {
  /** A chat waits up to 600 s for the agent's reply. The same command sent again returns what its first try came to. */
  chat: defineRequest<Chat, ChatReply>('cmd.delivery.chat.v1', 620_000, { whenLost: 'repeat' }),
  /**
   * Answers once the delivery is accepted; it goes on behind the answer and ends answered or `failed` (no chat, an error
   * of the agent, its budget of messages used up).
   */
  tellAttachment: defineRequest<TellAttachment, { readonly deliveryId: string }>(
    'cmd.delivery.tell-attachment.v1',
    10_000,
    { whenLost: 'repeat' },
  ),
};
