import { randomUUID } from 'node:crypto';
import { connectEventStore, type ExpectedRevision } from '@berth/event-store';
import { createLogger } from '@berth/telemetry';
import { urlsOfParts } from './parts.fixture.js';

/** An event of the past. */
export interface PastEvent {
  readonly type: string;
  readonly data: { readonly [member: string]: string | number | null | readonly string[] };
}

const log = createLogger({ service: 'test', level: 'silent' });

/** Appends events to the log of a running installation's data folder, as if they had happened before. */
export const appendToLog = async (
  dataDir: string,
  accountId: string,
  stream: string,
  events: readonly PastEvent[],
  expected: ExpectedRevision,
): Promise<void> => {
  const store = connectEventStore({ url: urlsOfParts(dataDir).eventStoreUrl, log });
  const cause = { correlationId: 'test', causationId: randomUUID(), accountId };
  const metadata = { ...cause, actor: { kind: 'system', id: 'test' } } as const;
  try {
    await store.append(
      stream,
      events.map((event) => ({ id: randomUUID(), ...event, metadata })),
      expected,
    );
  } finally {
    await store.close();
  }
};
