import { AgentClient } from '@berth/agent-client';
import { handOverRequests, saysHandedOver } from '@berth/contracts/delivery';
import { DomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { OpenFiring } from '../due-list/due-list.query.js';
import { SealedPrompts } from '../entries/sealed-prompts.js';
import type { Firing } from '../schedule/schedule.js';
import type { FiringOutcome } from './fire.command-handler.js';
import { systemOrigin } from './system-origin.js';

/** The program answered 429 or 503. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

const RAN: FiringOutcome = { ran: true, error: null };

/** One attempt to wake an agent, with its prompt if there is one. Repeated attempts take effect once. */
@Injectable()
export class HandOverAttempt {
  constructor(
    private readonly agents: AgentClient,
    private readonly prompts: SealedPrompts,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  /** Errors: those of `handOverRequests`; `Declined`. */
  async run(
    { deliveryId, agentId, accountId }: OpenFiring,
    { entryId, prompt }: Firing,
    isFirst: boolean,
  ): Promise<FiringOutcome> {
    const envelope = systemOrigin(accountId, deliveryId);
    if (prompt === null) {
      await this.agents.wake({ envelope, agentId, kind: 'schedule' });
      return RAN;
    }
    const message = await this.prompts.open(agentId, prompt);
    if (message === null) throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    const result = await this.requester.request(handOverRequests.handOver, {
      ...envelope,
      agentId,
      deliveryId,
      message,
      conversationId: `schedule-${entryId}`,
      source: 'schedule',
      repeated: !isFirst,
    });
    if (result.outcome !== 'failed') {
      if (result.outcome === 'declined') throw new Declined();
      return RAN;
    }
    // What the program itself says may be personal data, which the log must not have in plaintext.
    return {
      ran: saysHandedOver(result.code),
      error: {
        code: result.code,
        message: MESSAGES.get(result.code) ?? 'The agent could not take the prompt.',
      },
    };
  }
}

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ['agent_error', 'The program of the agent answered the prompt with an error.'],
  ['agent_timeout', 'The program of the agent did not answer the prompt in time.'],
  ['chat_unsupported', 'The agent has no program that handles messages.'],
]);
