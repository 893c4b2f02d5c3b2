import { randomUUID } from 'node:crypto';
import { BOX_OWNERS, boxOwner, type BoxOwner, type ObservedAgent } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { Requester, type NatsLink } from '@berth/messaging';
import { HostIdentity } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { HostedAgents } from '../agent/hosted-agents.js';
import { HostFigureReader } from './host-figures.js';
import { HostLog } from './host-log.js';
import { REPORT_REQUESTS } from './report-requests.js';

const EVERY_MS = 10_000;
const RETRY_MS = 1_000;
/** Delay between TERM and KILL for agents of a removed host. */
const REMOVED_GRACE_MS = 2_000;

/**
 * Reports to each service which of its boxes this host has: at start until acknowledged, after a reconnect, and every 10 s.
 * None waits for another: an older installation has no `computers`.
 */
@Injectable()
export class HostAnnouncer {
  readonly #incarnation = randomUUID();
  /** The orders that are being carried out, by agent. */
  readonly #obeying = new Map<string, Promise<void>>();

  constructor(
    private readonly host: HostIdentity,
    private readonly agents: HostedAgents,
    @Inject(HostFigureReader) private readonly figures: Pick<HostFigureReader, 'read'>,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly hostLog: HostLog,
    private readonly log: Logger,
  ) {}

  async run(link: Pick<NatsLink, 'onReconnect'>, signal: AbortSignal): Promise<void> {
    await Promise.all(BOX_OWNERS.map((owner) => this.#keepAnnouncing(owner, link, signal)));
    await Promise.all(this.#obeying.values());
  }

  async #keepAnnouncing(
    owner: BoxOwner,
    link: Pick<NatsLink, 'onReconnect'>,
    signal: AbortSignal,
  ): Promise<void> {
    let wake = new AbortController();
    const removeListener = link.onReconnect(() => wake.abort());
    // Initially true, so that the first failure is logged.
    let acknowledged = true;
    while (!signal.aborted) {
      wake = new AbortController();
      try {
        await this.announce(owner);
        acknowledged = true;
      } catch (error) {
        if (isDomainError(error, 'conflict') && error.code === 'host_removed') await this.#endAll();
        if (acknowledged && !signal.aborted) this.#warn(owner, error);
        acknowledged = false;
      }
      await pause(acknowledged ? EVERY_MS : RETRY_MS, AbortSignal.any([signal, wake.signal]));
    }
    removeListener();
  }

  /**
   * Sends the boxes of this host to their service, begins to end those that should not exist, and corrects the idle time of others. Does not
   * wait for their ends: a host that is late with its next announcement counts as lost.
   */
  async announce(owner: BoxOwner): Promise<void> {
    const figures = await this.figures.read();
    const announced = this.agents.observed.filter(({ agentId }) => boxOwner(agentId) === owner);
    const { remove, stop, idleTimes, logId } = await this.requester.request(
      REPORT_REQUESTS[owner].announceHost,
      {
        host: this.host.id,
        incarnation: this.#incarnation,
        freeMemMb: figures.memMb.free,
        figures,
        agents: announced,
        logId: this.hostLog.id,
      },
      { host: this.host.id },
    );
    await this.hostLog.keep(logId);
    for (const time of idleTimes ?? []) this.agents.setIdleTime(time);
    for (const agentId of remove) this.#obey(agentId, () => this.agents.remove(agentId));
    for (const agentId of stop) this.#obey(agentId, () => this.#stop(agentId, announced));
  }

  /** The installation has given up this host's agents. Their volumes stay, for the operator. */
  async #endAll(): Promise<void> {
    await this.agents.endAll(REMOVED_GRACE_MS);
  }

  #warn(owner: BoxOwner, error: unknown): void {
    if (isDomainError(error, 'conflict') && error.code === 'host_removed') {
      this.log.error(
        'This host is not used: an operator has removed it. Its agents have been ended; their volumes are kept. Stop ' +
          'this process, and start it with an empty BERTH_RUNTIME_DATA to join as a new host.',
      );
    } else if (isDomainError(error, 'conflict') && error.code === 'other_event_log') {
      this.log.error(
        { file: this.hostLog.file },
        'This host is not used: its agents belong to an installation with another event log. Correct NATS_URL and ' +
          'BERTH_INSTANCE, or delete the file to give the host to this log, which removes agents that it does not know.',
      );
    } else this.log.warn({ service: owner, err: error }, 'could not announce this host yet');
  }

  /** Stops the agent at the announced epoch only: if it was started again in the meantime, it stays. */
  async #stop(agentId: string, announced: readonly ObservedAgent[]): Promise<void> {
    const meant = announced.find((agent) => agent.agentId === agentId);
    if (meant !== undefined) await this.agents.of(agentId).stop({ agentId, epoch: meant.epoch });
  }

  #obey(agentId: string, work: () => Promise<void>): void {
    if (this.#obeying.has(agentId)) return;
    const obeyed = work()
      .catch((error: unknown) => {
        this.log.warn({ agentId, err: error }, 'could not yet end an agent that should not be on this host');
      })
      .finally(() => this.#obeying.delete(agentId));
    this.#obeying.set(agentId, obeyed);
  }
}
