import {
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { NatsLink } from '../nats-link.js';

/** Inspects and damages the broker's store. */
export class Broker {
  private constructor(private readonly manager: JetStreamManager) {}

  static async of(link: NatsLink): Promise<Broker> {
    return new Broker(await jetstreamManager(link.connection, { checkAPI: false, timeout: 2_000 }));
  }

  /** Ids of the stored messages, in order; [] when there is no stream. */
  async ids(stream: string): Promise<string[]> {
    const ids: string[] = [];
    try {
      const { state } = await this.manager.streams.info(stream);
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
        const message = await this.manager.streams.getMessage(stream, { seq });
        if (message !== null) ids.push(message.header.get('Nats-Msg-Id'));
      }
    } catch (error) {
      if (!(error instanceof JetStreamApiError)) throw error;
    }
    return ids;
  }

  get streams(): JetStreamManager['streams'] {
    return this.manager.streams;
  }

  get consumers(): JetStreamManager['consumers'] {
    return this.manager.consumers;
  }

  /** Recreates the stream with only its first `count` messages, as after a crash that lost the tail. */
  async loseAllBut(stream: string, count: number): Promise<void> {
    const { config } = await this.manager.streams.info(stream);
    const kept = [];
    for (let seq = 1; seq <= count; seq++) kept.push(await this.manager.streams.getMessage(stream, { seq }));
    await this.manager.streams.delete(stream);
    const { name, subjects, storage, max_msgs, duplicate_window } = config;
    const recreated: Partial<StreamConfig> & { name: string } = {
      name,
      subjects,
      storage,
      max_msgs,
      duplicate_window,
    };
    await this.manager.streams.add(recreated);
    for (const message of kept) {
      if (message === null) throw new Error('The stream had fewer messages.');
      await this.manager.jetstream().publish(message.subject, message.data, { headers: message.header });
    }
  }
}
