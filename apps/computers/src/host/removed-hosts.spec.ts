import type { Requester } from '@berth/messaging';
import { describe, expect, it } from 'vitest';
import { RemovedHosts } from './removed-hosts.js';

const SECOND_MS = 1_000;

describe('the hosts that operators have removed', () => {
  it('are asked for again after two seconds, and are those last heard of while nobody answers', async () => {
    let now = 0;
    let answer: readonly string[] | null = ['host1'];
    let asked = 0;
    const request = () => {
      asked++;
      return answer === null ? Promise.reject(new Error('down')) : Promise.resolve({ hosts: answer });
    };
    const removed = new RemovedHosts({ request } as unknown as Requester, { now: () => now });
    const [first, second] = await Promise.all([removed.current(), removed.lastKnown()]);
    expect([[...first], [...second], asked]).toEqual([['host1'], ['host1'], 1]);
    now += 2 * SECOND_MS;
    answer = null;
    await expect(removed.current()).rejects.toThrow('down');
    expect([...(await removed.lastKnown())]).toEqual(['host1']);
    answer = ['host1', 'host2'];
    expect([...(await removed.current())]).toEqual(['host1', 'host2']);
  });
});
