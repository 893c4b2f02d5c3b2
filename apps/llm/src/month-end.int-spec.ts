import { llmRequests } from '@berth/contracts/llm';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedLlm, type TestAgent } from './fixtures/served-llm.fixture.js';

const OCTOBER = '2026-10-31T23:59:59.999Z';
const NOVEMBER = '2026-11-01T00:00:00.000Z';
/** What the cap has room for: a call of 1,000 tokens of output and about 1,100 of input reserves 3.1 cents. */
const CAP_CENTS = 4;
const CALL = { model: 'capped', max_tokens: 1_000 };
const COST = '3000000';

/** The clock of the service, which stands still until a test sets it. */
let now = Date.parse(OCTOBER);
let served: ServedLlm;

beforeAll(async () => {
  served = await ServedLlm.start({ now: () => now });
});
afterAll(() => served.stop());

const spendOf = ({ endUserId }: TestAgent, at: string) =>
  served.requester.request(llmRequests.spend, { endUserId: endUserId ?? '', at });

describe('a call that is open at the end of the month', () => {
  it('counts in the month in which it began, and leaves the cap of the new month untouched', async () => {
    const agent = served.agent({ endUserId: newId('eus'), capCents: CAP_CENTS });
    now = Date.parse(OCTOBER);
    const gate = Promise.withResolvers<undefined>();
    const usage = { input: 1_000, output: 1_000 };
    served.upstream.on('capped', { beforeHeaders: gate.promise, usage });
    const across = served.chat(agent, CALL);
    await eventually(() => expect(served.upstream.requestsFor('capped')).toHaveLength(1));
    expect((await served.chat(agent, CALL)).body['error']).toMatchObject({ code: 'spend_cap_reached' });

    now = Date.parse(NOVEMBER);
    const inNovember = served.chat(agent, CALL);
    await eventually(() => expect(served.upstream.requestsFor('capped')).toHaveLength(2));
    expect((await served.chat(agent, CALL)).status).toBe(402);
    gate.resolve(undefined);
    expect([(await across).status, (await inNovember).status]).toEqual([200, 200]);

    for (const month of [OCTOBER, NOVEMBER])
      await eventually(async () =>
        expect(await spendOf(agent, month)).toEqual({ settled: COST, reserved: '0' }),
      );
    await eventually(async () => {
      const calls = await served.calls(agent);
      const settled = calls.filter(({ status }) => status === 'settled');
      expect(settled.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
        [NOVEMBER, NOVEMBER],
        [OCTOBER, NOVEMBER],
      ]);
    });
    // What was spent stays spent until the month is over.
    expect((await served.chat(agent, CALL)).status).toBe(402);
  });
});
