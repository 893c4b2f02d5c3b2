import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aCreation, ServedAgents } from '../fixtures/served-agents.fixture.js';

const RESPONSE_WITHIN_MS = 5_000;
let test: ServedAgents;

beforeAll(async () => {
  test = await ServedAgents.start();
  await test.hosts.add('host1');
});
afterAll(() => test.stop());

/** The code with which a creation fails, and whether it does in time. */
const failureOf = async (begun: number): Promise<unknown> => {
  const code = await test.create(aCreation()).then(
    () => 'created',
    (error: { code?: string }) => error.code,
  );
  return { code, isInTime: performance.now() - begun < RESPONSE_WITHIN_MS };
};

describe.each([
  ['log', () => test.storeProxy],
  ['database', () => test.databaseProxy],
] as const)('while the %s does not respond', (_, proxy) => {
  it('each of 20 creates at once is refused in time', async () => {
    proxy().freeze();
    const begun = performance.now();
    const failures = await Promise.all(Array.from({ length: 20 }, () => failureOf(begun))).finally(() =>
      proxy().restore(),
    );
    const expected = { code: 'service_unavailable', isInTime: true };
    expect(failures).toEqual(failures.map(() => expected));
    await eventually(
      async () => expect(await test.create(aCreation())).toMatchObject({ state: 'deploying' }),
      { timeoutMs: 30_000 },
    );
  });
});
