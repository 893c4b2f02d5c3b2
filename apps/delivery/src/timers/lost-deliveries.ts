import type { CommandHandler } from '@berth/event-store';
import type { Logger } from '@berth/telemetry';
import type { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import type { DeliveryCommand } from '../delivery/delivery.decider.js';
import type { Delivery, DeliveryEvent } from '../delivery/delivery.js';

const TICK_MS = 30_000;
const BATCH = 100;

/** Ends the deliveries whose process ended first: nobody is left who waits for them. */
export class LostDeliveries {
  constructor(
    private readonly deliveries: CommandHandler<Delivery, DeliveryCommand, DeliveryEvent>,
    private readonly query: ConversationListQuery,
    private readonly log: Logger,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.tick().catch((error: unknown) =>
        this.log.warn({ err: error }, 'lost deliveries could not be looked for'),
      );
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, TICK_MS);
        signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
      });
    }
  }

  private async tick(): Promise<void> {
    for (const deliveryId of await this.query.lost(BATCH)) {
      const command = { type: 'Fail', code: 'delivery_lost', at: new Date().toISOString() } as const;
      await this.deliveries.handle(deliveryId, command, {
        commandId: `${deliveryId}/lost`,
        accountId: '',
        actor: { kind: 'system', id: 'delivery' },
      });
    }
  }
}
