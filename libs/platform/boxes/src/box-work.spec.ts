import { createLogger } from '@berth/telemetry';
import { describe, expect, it } from 'vitest';
import { BoxWork } from './box-work.js';

const log = createLogger({ service: 'test', level: 'silent' });
const work = (limits: { atOnce?: number; atOnceForHost?: number } = {}): BoxWork =>
  new BoxWork({ atOnce: 10, atOnceForHost: 10, ...limits }, log);
const never = (): Promise<void> => new Promise(() => undefined);
const done = (): Promise<void> => Promise.resolve();

describe('work on agents', () => {
  it('runs once at a time for each agent, and can run again afterwards', async () => {
    const agents = work();
    const first = Promise.withResolvers<void>();
    expect(agents.begin('agt_1', 'host1', () => first.promise)).toBe(true);
    expect(agents.begin('agt_1', 'host1', done)).toBe(false);
    expect(agents.ids).toEqual(['agt_1']);
    first.resolve();
    await agents.settle(1_000);
    expect(agents.begin('agt_1', 'host1', done)).toBe(true);
  });

  it('is limited in number', () => {
    const agents = work({ atOnce: 2 });
    const begun = ['agt_1', 'agt_2', 'agt_3'].map((agentId) => agents.begin(agentId, null, never));
    expect(begun).toEqual([true, true, false]);
  });

  it('is limited for each host, and continues for the others', () => {
    const agents = work({ atOnceForHost: 1 });
    expect(agents.begin('agt_1', 'host1', never)).toBe(true);
    expect(agents.begin('agt_2', 'host1', never)).toBe(false);
    expect(agents.begin('agt_3', 'host2', never)).toBe(true);
  });

  it('makes room for the next when it fails', async () => {
    const agents = work({ atOnce: 1 });
    agents.begin('agt_1', null, () => Promise.reject(new Error('It broke.')));
    agents.begin('agt_2', null, () => {
      throw new Error('It broke.');
    });
    await agents.settle(1_000);
    expect(agents.begin('agt_2', null, done)).toBe(true);
  });

  it('is waited for no longer than the given time', async () => {
    const agents = work();
    agents.begin('agt_1', null, never);
    await agents.settle(1);
    expect(agents.ids).toEqual(['agt_1']);
  });
});
