import type { FoundDelivery } from '@berth/contracts/runtime';
import { EventStore } from '@berth/event-store';
import { isDomainError, type CommandEnvelope } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { RunOnOneInstance } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ConversationListQuery, type LostDelivery } from '../conversation-list/conversation-list.query.js';
import { DeliveryCommandHandler } from '../delivery/delivery.command-handler.js';
import { deliveryCodec } from '../delivery/delivery.events.js';
import { MessageBudget } from '../delivery/message-budget.js';
import { MessageJournal } from '../delivery/message-journal.js';

const TICK_MS = 30_000;
const BATCH = 100;
/** After this time, a delivery no longer waits for its host to become available. */
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

/** Ends deliveries whose process died or could not record the outcome: with the outcome in the agent's journal. */
@RunOnOneInstance({ name: 'timers' })
@Injectable()
export class LostDeliveries {
  constructor(
    private readonly store: EventStore,
    private readonly deliveries: DeliveryCommandHandler,
    private readonly query: ConversationListQuery,
    private readonly journal: MessageJournal,
    private readonly budget: MessageBudget,
    private readonly log: Logger,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.endLost(signal);
      await this.budget.sweep();
      await pause(TICK_MS, signal);
    }
  }

  /** Checks every lost delivery once; one whose host is unavailable stays for the next run and delays no other. */
  async endLost(signal: AbortSignal): Promise<void> {
    let after: LostDelivery | null = null;
    do {
      const batch: readonly LostDelivery[] = await this.query.lost(after, BATCH);
      for (const lost of batch) {
        if (signal.aborted) return;
        await this.end(lost).catch((error: unknown) =>
          this.log.warn({ deliveryId: lost.id, err: error }, 'could not end a lost delivery'),
        );
      }
      after = batch.length < BATCH ? null : (batch.at(-1) ?? null);
    } while (after !== null);
  }

  private async end({ id: deliveryId, agentId, acceptedAt }: LostDelivery): Promise<void> {
    const { deliveries, journal, log } = this;
    const envelope = await this.envelopeOf(deliveryId);
    let found: FoundDelivery;
    try {
      found = await journal.find({ accountId: envelope.accountId, agentId, deliveryId });
    } catch (error) {
      const isGone = isDomainError(error, 'not_found');
      if (!isGone && Date.now() - acceptedAt.getTime() < GIVEN_UP_AFTER_MS) {
        log.info(
          { deliveryId, agentId, err: error },
          'could not look up a lost delivery in the journal of its agent yet',
        );
        return;
      }
      found = { state: 'absent' };
    }
    if (found.state === 'answered') await deliveries.answered(envelope, deliveryId, found.response.length);
    else
      await deliveries.failed(envelope, deliveryId, found.state === 'failed' ? found.code : 'delivery_lost');
  }

  /** The envelope of a command on behalf of the account that sent the message. */
  private async envelopeOf(deliveryId: string): Promise<CommandEnvelope> {
    const [accepted] = await this.store.read(`${deliveryCodec.category}-${deliveryId}`);
    if (accepted === undefined) throw new Error('The list has a delivery that the log does not have.');
    const { accountId } = accepted.metadata;
    return { commandId: `${deliveryId}/lost`, accountId, actor: { kind: 'system', id: 'delivery' } };
  }
}
