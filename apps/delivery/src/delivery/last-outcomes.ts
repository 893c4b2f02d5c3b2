import { ServiceContext } from '@berth/service';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AttachmentCommandHandler } from './attachment.command-handler.js';
import { OutcomeNotes } from './outcome-notes.js';

/** How long a stop waits for messages in flight: as long as it lets running requests go on. */
const IN_FLIGHT_MS = 5_000;
/** The outcome of a message that was in flight until the end of that time is still recorded. */
const LAST_NOTES_MS = 500;

/**
 * When the service stops: waits for attachments, whose callers have their reply already, as long as for a chat, and
 * then for the outcomes to be recorded.
 */
@Injectable()
export class LastOutcomes implements OnModuleDestroy {
  #stoppingSince: number | undefined;

  constructor(
    private readonly attachments: AttachmentCommandHandler,
    private readonly notes: OutcomeNotes,
    { stopping }: ServiceContext,
  ) {
    stopping.addEventListener('abort', () => (this.#stoppingSince = performance.now()), { once: true });
  }

  async onModuleDestroy(): Promise<void> {
    const since = this.#stoppingSince ?? performance.now();
    const leftMs = (): number => Math.max(0, IN_FLIGHT_MS - (performance.now() - since));
    await this.attachments.settle(leftMs());
    await this.notes.settle(Math.max(LAST_NOTES_MS, leftMs()));
  }
}
