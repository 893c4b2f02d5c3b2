import { ServiceContext } from '@berth/service';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AttachmentCommandHandler } from './attachment.command-handler.js';
import { OutcomeRecorder } from './outcome-recorder.js';

/** A stop waits this long for messages in flight, as long as it waits for running requests. */
const IN_FLIGHT_MS = 5_000;
/** At least this much time is left to record the outcomes of messages that were in flight until then. */
const LAST_RECORDS_MS = 500;

/**
 * When the service stops, waits for the delivery of attachments, whose callers already have their reply, and then until all
 * outcomes are recorded.
 */
@Injectable()
export class LastOutcomes implements OnModuleDestroy {
  #stoppingSince: number | undefined;

  constructor(
    private readonly attachments: AttachmentCommandHandler,
    private readonly outcomes: OutcomeRecorder,
    { stopping }: ServiceContext,
  ) {
    stopping.addEventListener('abort', () => (this.#stoppingSince = performance.now()), { once: true });
  }

  async onModuleDestroy(): Promise<void> {
    const since = this.#stoppingSince ?? performance.now();
    const leftMs = (): number => Math.max(0, IN_FLIGHT_MS - (performance.now() - since));
    await this.attachments.settle(leftMs());
    await this.outcomes.settle(Math.max(LAST_RECORDS_MS, leftMs()));
  }
}
