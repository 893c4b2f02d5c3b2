import type { AuthenticateAgent, LlmCaller } from '@berth/contracts/agents';
import type { Requester } from '@berth/messaging';
import { describe, expect, it } from 'vitest';
import { CallerLookup } from './caller-lookup.js';

const TOKEN: AuthenticateAgent = { agentId: 'agt_1', epoch: 1, tokenHash: 'a' };

/** Each request waits until it is resolved with its number, or rejected. */
const counted = () => {
  const asked: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const request = (): Promise<never> => {
    const { promise, resolve, reject } = Promise.withResolvers<LlmCaller>();
    const number = asked.length + 1;
    asked.push({ resolve: () => resolve({ agentId: String(number) } as LlmCaller), reject });
    return promise as Promise<never>;
  };
  return { lookup: new CallerLookup({ request } as Partial<Requester> as Requester), asked };
};

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('asking whose token it is', () => {
  it('gives a call nothing that was asked before it arrived, and all that wait one request', async () => {
    const { lookup, asked } = counted();
    const first = lookup.find(TOKEN);
    const waiting = [lookup.find(TOKEN), lookup.find(TOKEN)];
    await settled();
    expect(asked).toHaveLength(1);
    asked[0]?.resolve();
    expect((await first).agentId).toBe('1');
    await settled();
    expect(asked).toHaveLength(2);
    const later = lookup.find(TOKEN);
    asked[1]?.resolve();
    expect((await Promise.all(waiting)).map(({ agentId }) => agentId)).toEqual(['2', '2']);
    await settled();
    asked[2]?.resolve();
    expect((await later).agentId).toBe('3');
  });

  it('asks again after a request that failed, also for those that waited', async () => {
    const { lookup, asked } = counted();
    const first = lookup.find(TOKEN);
    const second = lookup.find(TOKEN);
    asked[0]?.reject(new Error('down'));
    await expect(first).rejects.toThrow('down');
    await settled();
    asked[1]?.resolve();
    expect((await second).agentId).toBe('2');
    await settled();
    const third = lookup.find(TOKEN);
    asked[2]?.resolve();
    expect((await third).agentId).toBe('3');
  });

  it('asks for each token by itself', () => {
    const { lookup, asked } = counted();
    for (const other of [{ agentId: 'agt_2' }, { epoch: 2 }, { tokenHash: 'b' }])
      void lookup.find({ ...TOKEN, ...other });
    expect(asked).toHaveLength(3);
  });
});
