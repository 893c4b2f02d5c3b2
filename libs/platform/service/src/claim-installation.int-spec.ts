import { connectEventStore, type EventStore } from '@berth/event-store';
import { NatsLink } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimInstallation } from './open-part.js';

const lines: string[] = [];
const log = createLogger({
  service: 'test',
  level: 'info',
  destination: { write: (line) => lines.push(line) },
});

let infra: TestInfra;
let link: NatsLink;
let store: EventStore;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats', 'eventStore'], own: ['eventStore'] });
  link = await NatsLink.open({ url: infra.natsUrl, name: 'accounts', log });
  store = connectEventStore({ url: infra.eventStoreUrl, log });
});
afterAll(async () => {
  await link.close();
  await store.close();
  await infra.stop();
});

it('the claim on a name waits for the part that does not respond, and logs which part that is', async () => {
  const config = { natsUrl: infra.natsUrl, eventStoreUrl: infra.eventStoreUrl };
  const eventLog = infra.part('eventStore');
  eventLog.kill('SIGSTOP');
  const claimed = claimInstallation({ config, link, store, log });
  await eventually(() => expect(lines.join('')).toContain('Waiting for'));
  eventLog.kill('SIGCONT');
  await claimed;
  expect(lines.join('')).toContain(
    `Waiting for the event log at 127.0.0.1:${eventLog.port} (EVENTSTORE_URL)`,
  );
  expect(lines.join('')).not.toContain('Waiting for the message broker');
});
