import type { BuildRef, BuildState, BuildVersion } from '@berth/contracts/runtime';
import { isId } from '@berth/kernel';
import { OperatorSettings } from '@berth/operator-file';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { HostedAgents } from '../agent/hosted-agents.js';
import { agentNotOnHost } from '../agent/agent-refusals.js';
import { VersionBuild } from './version-build.js';
import { VersionStore, type StoredBuild } from './version-store.js';

/** How long a caller waits for a build's next state. */
const CHANGED_WITHIN_MS = 20_000;

interface RunningBuild {
  readonly request: BuildVersion;
  readonly cancelled: AbortController;
  state: 'waiting' | 'building';
  /** Resolves when the build begins or is cancelled. */
  readonly begun: PromiseWithResolvers<void>;
  /** Resolves when it has ended, whichever way. */
  readonly done: Promise<void>;
}

const INTERRUPTED: StoredBuild = {
  state: 'failed',
  code: 'interrupted',
  message: 'Berth ended while it was building. Deploy again.',
};

/** A pull mostly waits for its registry, which must not hold up builds. */
const takesSlot = ({ request }: RunningBuild): boolean => request.origin.kind !== 'image';

/** The builds of this host: one of each agent, and a few in all, at a time. */
@Injectable()
export class Builds implements BeforeApplicationShutdown {
  readonly #running = new Map<string, RunningBuild>();
  readonly #removed = new Set<string>();
  #closing = false;

  constructor(
    private readonly versions: VersionStore,
    private readonly build: VersionBuild,
    private readonly operator: OperatorSettings,
    private readonly log: Logger,
    @Inject(HostedAgents) agents: Pick<HostedAgents, 'beforeRemoval'>,
  ) {
    agents.beforeRemoval((agentId) => this.#forget(agentId));
  }

  /** The state of the build as soon as it is not `seen` any more. Errors: not_found `agent_not_on_host`. */
  async follow(request: BuildVersion): Promise<BuildState> {
    const { agentId, deploymentId, seen } = request;
    if (this.#removed.has(agentId) || !isId('agt', agentId) || !isId('dep', deploymentId))
      throw agentNotOnHost();
    const running = this.#running.get(deploymentId) ?? (await this.#begin(request));
    if (running === undefined) return this.#ended(request);
    if (running.state === seen) {
      const changed = running.state === 'waiting' ? running.begun.promise : running.done;
      await Promise.race([changed, pause(CHANGED_WITHIN_MS)]);
    }
    return this.#running.has(deploymentId) ? { state: running.state } : this.#ended(request);
  }

  /** Ends a build and deletes what it made; a no-op if it has ended. */
  async cancel({ deploymentId }: BuildRef): Promise<void> {
    const running = this.#running.get(deploymentId);
    running?.cancelled.abort();
    running?.begun.resolve();
    await running?.done;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#running.values()].map(({ request }) => this.cancel(request)));
  }

  /** Ends the builds of an agent that is removed; no others begin. */
  async #forget(agentId: string): Promise<void> {
    this.#removed.add(agentId);
    const its = [...this.#running.values()].filter(({ request }) => request.agentId === agentId);
    await Promise.all(its.map(({ request }) => this.cancel(request)));
    await this.versions.prune(agentId, []);
  }

  /** Undefined if the build has ended, in this process or an earlier one. */
  async #begin(request: BuildVersion): Promise<RunningBuild | undefined> {
    const stored = await this.versions.read(request);
    const already = this.#running.get(request.deploymentId);
    if (already !== undefined) return already;
    if (stored?.state === 'building' || (stored === undefined && request.seen === 'building'))
      await this.#interrupt(request);
    if (stored !== undefined || request.seen === 'building' || this.#closing) return undefined;
    const running: RunningBuild = {
      request,
      cancelled: new AbortController(),
      state: 'waiting',
      begun: Promise.withResolvers(),
      done: Promise.resolve().then(() => this.#run(running)),
    };
    this.#running.set(request.deploymentId, running);
    this.#admit();
    return running;
  }

  async #run(running: RunningBuild): Promise<void> {
    const { request, cancelled, begun } = running;
    try {
      await begun.promise;
      if (cancelled.signal.aborted) return;
      await this.#prune(request);
      await this.versions.save(request, { state: 'building' });
      const outcome = await this.build.run(request, cancelled.signal);
      // Without a result, the build counts as interrupted.
      if (!cancelled.signal.aborted) await this.versions.save(request, outcome);
    } catch (error) {
      const { agentId, deploymentId } = request;
      this.log.error({ agentId, deploymentId, err: error }, 'could not record a build');
    } finally {
      this.#running.delete(request.deploymentId);
      this.#admit();
    }
  }

  /** The next build tries again to delete what could not be deleted. */
  async #prune({ agentId, deploymentId, keep }: BuildVersion): Promise<void> {
    await this.versions.prune(agentId, keep).catch((error: unknown) => {
      this.log.error({ agentId, deploymentId, err: error }, 'could not delete earlier versions of an agent');
    });
  }

  /** Lets builds begin, the oldest first, as many as the operator allows. */
  #admit(): void {
    const all = [...this.#running.values()];
    for (const one of all) {
      const building = all.filter(({ state }) => state === 'building');
      if (one.state === 'building' || one.cancelled.signal.aborted) continue;
      if (building.some(({ request }) => request.agentId === one.request.agentId)) continue;
      const slotsTaken = building.filter(takesSlot).length;
      if (takesSlot(one) && slotsTaken >= this.operator.current.runtime.builds) continue;
      one.state = 'building';
      one.begun.resolve();
    }
  }

  async #interrupt(request: BuildVersion): Promise<void> {
    await this.versions.discard(request);
    await this.versions.save(request, INTERRUPTED);
  }

  async #ended(request: BuildVersion): Promise<BuildState> {
    const stored = await this.versions.read(request);
    if (stored === undefined) return { state: 'waiting' };
    if (stored.state === 'building') return { state: 'building' };
    if (stored.state === 'failed') return stored;
    const { version: _, ...built } = stored;
    return built;
  }
}
