import type { BuildVersion } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Builds } from './builds.js';
import type { StoredBuild } from './version-store.js';

const BUILT: StoredBuild = {
  state: 'built',
  branch: 'main',
  commit: 'c1',
  version: { start: 'run', env: {} },
};

/** The builds of a host on records in memory; each build runs until the test ends it. */
class TestHost {
  readonly records = new Map<string, StoredBuild>();
  readonly discarded: string[] = [];
  prunes: () => Promise<void> = () => Promise.resolve();
  saves: () => Promise<void> = () => Promise.resolve();
  readonly begun = new Map<string, { end: (build: StoredBuild) => void; cancelled: AbortSignal }>();
  #remove: (agentId: string) => Promise<void> = () => Promise.resolve();
  readonly builds = this.restarted(2);

  restarted(atOnce: number): Builds {
    const versions = {
      read: (ref: BuildVersion) => Promise.resolve(this.records.get(ref.deploymentId)),
      save: async (ref: BuildVersion, build: StoredBuild) => {
        await this.saves();
        this.records.set(ref.deploymentId, build);
      },
      discard: (ref: BuildVersion) => Promise.resolve(void this.discarded.push(ref.deploymentId)),
      prune: () => this.prunes(),
    };
    const build = {
      run: ({ deploymentId }: BuildVersion, cancelled: AbortSignal): Promise<StoredBuild> =>
        new Promise((end) => {
          this.begun.set(deploymentId, { end, cancelled });
          cancelled.addEventListener('abort', () => end(BUILT));
        }),
    };
    const operator = { current: { runtime: { builds: atOnce } } };
    const log = createLogger({ service: 'test', level: 'silent' });
    return new Builds(versions as never, build as never, operator as never, log, {
      beforeRemoval: (work) => (this.#remove = work),
    });
  }

  remove(agentId: string): Promise<void> {
    return this.#remove(agentId);
  }

  end(request: BuildVersion): void {
    this.begun.get(request.deploymentId)?.end(BUILT);
  }
}

const aBuild = (members: Partial<BuildVersion> = {}): BuildVersion => ({
  agentId: newId('agt'),
  deploymentId: newId('dep'),
  origin: {
    kind: 'git',
    repoUrl: 'https://github.com/acme/bot',
    addresses: ['140.82.121.4'],
    branch: null,
    token: null,
  },
  resources: { memMb: 256, vcpus: 1, diskGb: 1 },
  keep: [],
  seen: 'waiting',
  ...members,
});

describe('the builds of a host', () => {
  it('run once for each deployment, however often they are requested, and keep their result', async () => {
    const host = new TestHost();
    const request = aBuild();
    expect(await Promise.all([host.builds.follow(request), host.builds.follow(request)])).toEqual([
      { state: 'building' },
      { state: 'building' },
    ]);
    const result = host.builds.follow({ ...request, seen: 'building' });
    await eventually(() => host.begun.size === 1);
    host.end(request);
    expect(await result).toEqual({ state: 'built', branch: 'main', commit: 'c1' });
    expect(await host.restarted(2).follow(request)).toEqual({ state: 'built', branch: 'main', commit: 'c1' });
  });

  it('run as many at a time as the operator allows, and one for each agent', async () => {
    const host = new TestHost();
    const first = aBuild();
    const same = aBuild({ agentId: first.agentId });
    const [other, last] = [aBuild(), aBuild()];
    for (const request of [first, other]) await host.builds.follow(request);
    void host.builds.follow(same);
    void host.builds.follow(last);
    await eventually(() => host.begun.size === 2);
    host.end(other);
    await eventually(() => host.begun.has(last.deploymentId));
    expect(host.begun.has(same.deploymentId)).toBe(false);
    host.end(first);
    await eventually(() => host.begun.has(same.deploymentId));
  });

  it('are interrupted by the end of their process, and are not repeated', async () => {
    const host = new TestHost();
    const request = aBuild();
    await host.builds.follow(request);
    await eventually(() => host.records.get(request.deploymentId)?.state === 'building');
    const after = host.restarted(2);
    expect(await after.follow({ ...request, seen: 'building' })).toMatchObject({ code: 'interrupted' });
    expect(await after.follow(request)).toMatchObject({ state: 'failed', code: 'interrupted' });
    expect(host.begun.size).toBe(1);
    expect(host.discarded).toEqual([request.deploymentId]);
  });

  it('are interrupted too when their host has lost every record of them', async () => {
    expect(await new TestHost().builds.follow(aBuild({ seen: 'building' }))).toMatchObject({
      code: 'interrupted',
    });
  });

  it('begin although an earlier version of the agent cannot be deleted', async () => {
    const host = new TestHost();
    host.prunes = () => Promise.reject(new Error('ENAMETOOLONG'));
    const request = aBuild();
    await host.builds.follow(request);
    await eventually(() => host.begun.has(request.deploymentId));
  });

  it('end, without a rejection that nobody handles, when their host cannot record them', async () => {
    const host = new TestHost();
    const saved = Promise.withResolvers<void>();
    host.saves = () => saved.promise;
    const request = aBuild();
    await host.builds.follow(request);
    const result = host.builds.follow({ ...request, seen: 'building' });
    saved.reject(new Error('ENOSPC'));
    expect(await result).toEqual({ state: 'waiting' });
  });

  it('end when they are cancelled, even while they wait', async () => {
    const host = new TestHost();
    const running = [aBuild(), aBuild()];
    for (const request of running) await host.builds.follow(request);
    const waiting = aBuild();
    let over = false;
    void host.builds.follow(waiting).then(() => (over = true));
    await eventually(async () => {
      await host.builds.cancel(waiting);
      return over;
    });
    expect(host.begun.has(waiting.deploymentId)).toBe(false);
    await eventually(() => host.begun.size === 2);
    for (const request of running) await host.builds.cancel(request);
    for (const { cancelled } of host.begun.values()) expect(cancelled.aborted).toBe(true);
  });

  it('end with the removal of their agent, which gets no others', async () => {
    const host = new TestHost();
    const request = aBuild();
    await host.builds.follow(request);
    await eventually(() => host.begun.size === 1);
    await host.remove(request.agentId);
    expect(host.begun.get(request.deploymentId)?.cancelled.aborted).toBe(true);
    await expect(host.builds.follow(aBuild({ agentId: request.agentId }))).rejects.toMatchObject({
      code: 'agent_not_on_host',
    });
  });
});
