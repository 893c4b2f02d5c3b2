import { NatsLink, NatsNotices } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { Injectable } from '@nestjs/common';

const TOPIC = 'webhook-queue';

/** Tells the process that works on the queues that one may have work. A lost notice costs at most one tick. */
@Injectable()
export class QueueNotices {
  readonly #notices: NatsNotices;

  constructor(link: NatsLink, context: ServiceContext) {
    this.#notices = new NatsNotices(link, context.name);
  }

  announce(agentId: string): void {
    this.#notices.publish(TOPIC, agentId);
  }

  /** `heard` gets null when notices may have been missed. Returns how to end it. */
  listen(heard: (agentId: string | null) => void): () => void {
    return this.#notices.subscribe(TOPIC, heard);
  }
}
