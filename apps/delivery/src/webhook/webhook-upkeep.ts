import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { WebhookListQuery, type BodilessWebhook } from '../webhook-list/webhook-list.query.js';
import { WebhookStreams } from './webhook-delivery.streams.js';
import { BODY_LOST } from './webhook-failures.js';
import { WebhookRate } from './webhook-rate.js';
import { WebhookVault } from './webhook-vault.js';

const EVERY_MS = 60_000;
const BATCH = 500;
/** The body is stored before the acceptance, so this only spares the deliveries of a command in progress. */
const BODY_WITHIN_SECONDS = 60;

/** Forgets bodies and counts whose time is over, and ends deliveries whose body is lost. */
@Injectable()
@RunOnOneInstance({ name: 'webhook-upkeep' })
export class WebhookUpkeep implements Runnable {
  constructor(
    private readonly vault: WebhookVault,
    private readonly rate: WebhookRate,
    private readonly list: WebhookListQuery,
    private readonly streams: WebhookStreams,
    private readonly log: Logger,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.round();
      await pause(EVERY_MS, signal);
    }
  }

  async round(bodyWithinSeconds = BODY_WITHIN_SECONDS): Promise<void> {
    await this.vault.sweep();
    await this.rate.sweep();
    const lost = await this.list.withoutBody(bodyWithinSeconds, BATCH);
    for (const delivery of lost) await this.fail(delivery);
  }

  private async fail({ deliveryId, accountId }: BodilessWebhook): Promise<void> {
    this.log.warn({ deliveryId }, 'the body of a webhook is lost; a backup without it was restored');
    const command = {
      type: 'Fail',
      code: BODY_LOST,
      at: new Date().toISOString(),
      attempted: false,
    } as const;
    const actor = { kind: 'system', id: 'delivery' } as const;
    await this.streams.handle(deliveryId, command, { commandId: `${deliveryId}/lost`, accountId, actor });
  }
}
