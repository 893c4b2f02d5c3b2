import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ListedContainer } from './container-list.js';
import { LeftoverContainers } from './leftover-containers.js';

const container = (agentId: string): ListedContainer => ({ agentId, epoch: 1, id: `id of ${agentId}` });

describe('after a failed call', () => {
  let listed: ListedContainer[];
  let known: Set<string>;
  let looks: number;
  let failing: boolean;
  let ending: AbortController;
  let leftovers: LeftoverContainers;
  let kept: Promise<void>;

  beforeEach(() => {
    [listed, known, looks, failing] = [[], new Set(), 0, false];
    ending = new AbortController();
    const host = {
      list: async () => {
        looks += 1;
        if (failing) throw new Error('containerd does not respond');
        return listed;
      },
      isKnown: ({ agentId }: ListedContainer) => known.has(agentId),
      forgetAllBut: async () => true,
      remove: async (one: ListedContainer) => {
        listed = listed.filter((other) => other !== one);
      },
    };
    leftovers = new LeftoverContainers(host, createLogger({ service: 'test', level: 'silent' }), 1);
    kept = leftovers.keepUp(ending.signal);
  });

  afterEach(async () => {
    ending.abort();
    await kept;
  });

  it('a container that nothing knows is removed, and no other', async () => {
    [listed, known] = [[container('kept'), container('left')], new Set(['kept'])];
    leftovers.suspect();
    await eventually(() => expect(listed).toEqual([container('kept')]));
  });

  it('a container that appears late, when containerd resumes, is removed too', async () => {
    failing = true;
    leftovers.suspect();
    await eventually(() => expect(looks).toBeGreaterThan(5));
    failing = false;
    listed = [container('late')];
    await eventually(() => expect(listed).toEqual([]));
  });

  it('the host is asked until it has nothing left several times, and never without a failed call', async () => {
    leftovers.suspect();
    await eventually(() => expect(looks).toBe(3));
    listed = [container('of another call')];
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([looks, listed.length]).toEqual([3, 1]);
  });
});
