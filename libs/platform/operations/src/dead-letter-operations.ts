import { setTimeout as sleep } from 'node:timers/promises';
import type { DeadLetterView, ListDeadLetters } from '@berth/contracts/operations';
import { DomainError, type Page } from '@berth/kernel';
import type { DeadLetter, EventConsumer } from '@berth/messaging';
import { decodeCursor, encodeCursor } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import type { EventConsumers } from './event-consumers.js';

/** A replay that takes longer continues after the response. */
const REPLAY_WITHIN_MS = 2_000;

/** The end of a page: this sequence in the dead letters of a consumer. */
type Place = readonly [consumer: string, after: number];

/** Lists, replays and deletes the dead letters of one service: the events that its consumers could not handle. */
export class DeadLetterOperations {
  constructor(
    private readonly service: string,
    private readonly consumers: EventConsumers,
    private readonly log: Logger,
  ) {}

  async count(): Promise<number> {
    const counts = await Promise.all(
      this.consumers.all().map(async (consumer) => (await consumer.deadLetters()).count()),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Ordered by consumer, oldest first. */
  async list({ cursor, limit }: ListDeadLetters): Promise<Page<DeadLetterView>> {
    const [from, afterInFirst]: Place = cursor === null ? ['', 0] : decodeCursor<Place>(cursor, isPlace);
    const items: DeadLetterView[] = [];
    for (const consumer of this.consumers.all().filter(({ durable }) => durable >= from)) {
      const letters = await consumer.deadLetters();
      const after = consumer.durable === from ? afterInFirst : 0;
      // One more than requested shows whether there is another page.
      for (const letter of await letters.list({ after, limit: limit - items.length + 1 })) {
        const last = items.length === limit ? items.at(-1) : undefined;
        if (last !== undefined) return { items, nextCursor: encodeCursor(placeBefore(letter)) };
        items.push(this.view(letter));
      }
    }
    return { items, nextCursor: null };
  }

  /** Throws not_found `dead_letter_not_found`, or unavailable while no consumer can handle events. */
  async replay(id: string): Promise<void> {
    const { consumer, eventId } = this.find(id);
    const replayed = consumer.replay(eventId);
    replayed.catch((error: unknown) =>
      this.log.warn({ err: error, id }, 'A dead letter could not be replayed.'),
    );
    const outcome = await Promise.race([
      replayed,
      sleep(REPLAY_WITHIN_MS, 'continues' as const, { ref: false }),
    ]);
    if (outcome === 'unknown') throw notFound();
  }

  /** Throws not_found `dead_letter_not_found`. */
  async delete(id: string): Promise<void> {
    const { consumer, eventId } = this.find(id);
    const letters = await consumer.deadLetters();
    if (!(await letters.remove(eventId))) throw notFound();
  }

  private find(id: string): { readonly consumer: EventConsumer; readonly eventId: string } {
    const [durable, eventId] = readId(id);
    const consumer = durable === undefined ? undefined : this.consumers.find(durable);
    if (consumer === undefined || eventId === undefined) throw notFound();
    return { consumer, eventId };
  }

  private view({ durable, eventId, subject, reason, deliveries, at }: DeadLetter): DeadLetterView {
    return {
      id: idOf(durable, eventId),
      service: this.service,
      consumer: durable,
      eventId,
      subject,
      reason,
      deliveries,
      at: at.toISOString(),
    };
  }
}

const placeBefore = ({ durable, sequence }: DeadLetter): [string, number] => [durable, sequence - 1];

const isPlace = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === 'string' &&
  Number.isSafeInteger(value[1]);

const PREFIX = 'dlt_';

const idOf = (durable: string, eventId: string): string =>
  PREFIX + Buffer.from(`${durable}/${eventId}`).toString('base64url');

const readId = (id: string): readonly [durable?: string, eventId?: string] => {
  if (!id.startsWith(PREFIX)) return [];
  const text = Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8');
  const [durable = '', eventId = ''] = text.split('/');
  // The event id becomes one token of a subject, so it contains no wildcard and no dot. Each dead letter has only one
  // id: other encodings of it are unknown.
  return /^[A-Za-z0-9-]{1,100}$/.test(eventId) && idOf(durable, eventId) === id ? [durable, eventId] : [];
};

const notFound = (): DomainError =>
  new DomainError('not_found', 'dead_letter_not_found', 'There is no dead letter with this id.');
