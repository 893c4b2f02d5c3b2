import { once } from 'node:events';
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { GUEST_ROUTES, type FileList } from '@berth/guest-protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CommandGuest } from '../__fixtures__/executions.fixture.js';

const MB = 1024 * 1024;
const NAMES = 60_000;
/** Fewer than eight lists of these names take if all their entries are in memory: 150 MiB. */
const MOST_BYTES = 110 * MB;

let guest: CommandGuest;

beforeEach(async () => {
  guest = await CommandGuest.open();
});

afterEach(() => guest.destroy());

/** A response whose body is not read yet. */
const ask = async (path: string): Promise<IncomingMessage> => {
  const target = `${GUEST_ROUTES.listFiles.path}?path=${path}`;
  const call = request({ socketPath: join(guest.dir, 'sock'), path: target, agent: false });
  call.on('error', () => undefined).end();
  const [response] = await once(call, 'response');
  return response as IncomingMessage;
};

it('eight slow readers of a large folder take little memory, and another is told so in less than five seconds', async () => {
  const folder = join(guest.volume, 'many');
  mkdirSync(folder);
  for (let index = 0; index < NAMES; index++) {
    const first = join(folder, String(index - (index % 30_000)).padStart(251, '0'));
    if (index % 30_000 === 0) writeFileSync(first, '');
    else linkSync(first, join(folder, String(index).padStart(251, '0')));
  }
  const before = guest.residentBytes();
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, guest.residentBytes())), 20);
  const slow: IncomingMessage[] = [];
  for (let reader = 0; reader < 8; reader++) slow.push(await ask('many'));
  expect(slow.map(({ statusCode }) => statusCode)).toEqual(slow.map(() => 200));
  const since = performance.now();
  const refused = await ask('');
  expect(performance.now() - since).toBeLessThan(5_000);
  expect(await json(refused)).toMatchObject({ error: { kind: 'exhausted', code: 'too_many_transfers' } });
  const { entries } = (await json(slow[0] as IncomingMessage)) as FileList;
  clearInterval(watch);
  expect(entries.length).toBe(NAMES);
  expect(entries.every(({ name }, index) => name === String(index).padStart(251, '0'))).toBe(true);
  expect(most - before).toBeLessThan(MOST_BYTES);
  for (const response of slow) response.destroy();
}, 60_000);
