import { NatsLink, NatsNotices } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { Injectable } from '@nestjs/common';

const ACCEPTED = 'webhook-accepted';
const RUNS = 'webhook-agent-runs';

export interface QueueListener {
  /** The agent has another delivery. */
  accepted(agentId: string): void;
  /** The agent can take messages again. */
  runs(agentId: string): void;
  /** Notices may have got lost. */
  missed(): void;
}

/** Tells the process that works on the queues that one may have work. A lost notice delays it until the next check. */
@Injectable()
export class QueueNotices {
  readonly #notices: NatsNotices;

  constructor(link: NatsLink, context: ServiceContext) {
    this.#notices = new NatsNotices(link, context.name);
  }

  announce(agentId: string): void {
    this.#notices.publish(ACCEPTED, agentId);
  }

  announceThatRuns(agentId: string): void {
    this.#notices.publish(RUNS, agentId);
  }

  /** Returns how to end it. */
  listen(listener: QueueListener): () => void {
    const on = (topic: string, heard: (agentId: string) => void): (() => void) =>
      this.#notices.subscribe(topic, (agentId) => (agentId === null ? listener.missed() : heard(agentId)));
    const ends = [
      on(ACCEPTED, (agentId) => listener.accepted(agentId)),
      on(RUNS, (agentId) => listener.runs(agentId)),
    ];
    return () => ends.forEach((end) => end());
  }
}
