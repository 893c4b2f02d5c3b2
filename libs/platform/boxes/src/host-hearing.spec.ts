import { MemoryEventStore } from '@berth/event-store';
import type { NatsLink } from '@berth/messaging';
import { expect, it } from 'vitest';
import { HostHearing } from './host-hearing.js';

const silence = (): Promise<never> => new Promise(() => undefined);
const linkThat = (flush: () => Promise<void>): NatsLink => ({ connection: { flush } }) as unknown as NatsLink;
const answering = linkThat(() => Promise.resolve());

it('announcements are heard while the broker and the log respond', async () => {
  expect(await new HostHearing(answering, new MemoryEventStore()).isProven()).toBe(true);
});

it.each<[string, NatsLink, Partial<MemoryEventStore>]>([
  ['the broker is silent', linkThat(silence), {}],
  ['the broker is gone', linkThat(() => Promise.reject(new Error('closed'))), {}],
  ['the log is silent', answering, { read: silence }],
  ['the log refuses', answering, { read: () => Promise.reject(new Error('no quorum')) }],
])('no announcement is heard while %s', async (_, link, broken) => {
  const store = Object.assign(new MemoryEventStore(), broken);
  expect(await new HostHearing(link, store).isProven()).toBe(false);
});
