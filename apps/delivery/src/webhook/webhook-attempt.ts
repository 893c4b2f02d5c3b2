import type { HandOver, HandOverOutcome } from '@berth/contracts/delivery';
import { effectOf, isDomainError, type DomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { HandOverCommandHandler } from '../delivery/hand-over.command-handler.js';
import { loggedCode } from '../delivery/delivery-failure.js';
import type { WaitingWebhook } from './webhook-vault.js';

/** Every message of a webhook is in this conversation, so that none joins a person's. */
const CONVERSATION = 'webhook';

/** The agent cannot take messages at the moment. This is not a failed attempt: the message waits. */
const HOLDING: ReadonlySet<string> = new Set([
  'agent_deploying',
  'agent_failed',
  'agent_stopped',
  'compute_cap_reached',
  'spend_cap_reached',
  'wake_limit_reached',
]);
/** Waits for as long as the suspension lasts. */
const SUSPENDING: ReadonlySet<string> = new Set(['account_suspended', 'end_user_suspended']);

/**
 * What came of an attempt. `held`: the agent cannot take messages. `suspended`: its owner is. `interrupted`: a part of
 * Berth did not respond, or it is unknown whether the program got the message. `gone`: the agent was deleted.
 */
export type AttemptOutcome =
  | { readonly type: 'delivered' | 'held' | 'suspended' | 'interrupted' | 'gone' }
  | { readonly type: 'declined' | 'not_handed_over'; readonly code: string }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };

/** Offers a message to the agent's program once. */
@Injectable()
export class WebhookAttempt {
  constructor(private readonly handOvers: HandOverCommandHandler) {}

  /** `repeated`: whether an earlier attempt may have handed it over. Never rejects for a failed attempt. */
  async make(waiting: WaitingWebhook, attempt: string, repeated: boolean): Promise<AttemptOutcome> {
    const { accountId, agentId, deliveryId, content } = waiting;
    const request: HandOver = {
      ...{ commandId: attempt, accountId, actor: { kind: 'system', id: 'delivery' } },
      ...{ agentId, deliveryId, conversationId: CONVERSATION, source: 'webhook' },
      ...content,
      ...{ counted: true, repeated },
    };
    try {
      return outcomeOf(await this.handOvers.handle(request));
    } catch (error) {
      if (!isDomainError(error) || error.kind === 'internal') throw error;
      return outcomeOfError(error);
    }
  }
}

const outcomeOf = (outcome: HandOverOutcome): AttemptOutcome => {
  if (outcome.outcome === 'handed_over') return { type: 'delivered' };
  if (outcome.outcome === 'failed') return { type: 'failed', code: outcome.code, message: outcome.message };
  return { type: 'declined', code: 'agent_declined' };
};

const outcomeOfError = (error: DomainError): AttemptOutcome => {
  const code = loggedCode(error);
  if (code === 'agent_not_found') return { type: 'gone' };
  if (SUSPENDING.has(code)) return { type: 'suspended' };
  if (HOLDING.has(code)) return { type: 'held' };
  if (code === 'service_unavailable' || effectOf(error) === 'unknown') return { type: 'interrupted' };
  return { type: 'not_handed_over', code };
};
