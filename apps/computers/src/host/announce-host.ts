import type { AnnounceHost, HostOrders, ObservedAgent } from '@berth/contracts/hosting';
import { EventStore } from '@berth/event-store';
import { detach, DomainError, isoTime, type CommandEnvelope } from '@berth/kernel';
import { logIdentity } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { ComputerCommandHandler, systemOrigin } from '../computer/computer.command-handler.js';
import { ComputerLifecycle } from '../computer/computer-lifecycle.js';
import type { LiveComputer } from '../computer/computer.js';
import { beforeLoss } from '../computer/life-events.js';
import { DueComputersQuery } from '../timers/due-computers.query.js';
import { ComputerHostDirectory } from './computer-host-directory.js';
import { RemovedHosts } from './removed-hosts.js';

/** A host that returns after a loss may have many computers; its announcement times out after 30 s. */
const SETTLE_MS = 15_000;
const SETTLED_AT_ONCE = 50;

/** Compares the computers of a host with those that it should have according to the log, and settles the differences. */
@Injectable()
export class AnnounceHostHandler {
  constructor(
    private readonly computers: ComputerCommandHandler,
    private readonly lifecycle: ComputerLifecycle,
    private readonly due: DueComputersQuery,
    private readonly directory: ComputerHostDirectory,
    private readonly removed: RemovedHosts,
    private readonly store: EventStore,
  ) {}

  /**
   * Returns the computers that the host must remove, and those that it must stop. Errors: conflict `other_event_log`,
   * `host_removed`.
   */
  async handle(announcement: AnnounceHost): Promise<HostOrders> {
    const { host, agents } = announcement;
    const logId = await this.requireSameLog(announcement);
    // First of all: an outage of another service must not make a host look silent.
    const { restarted, seenAt } = await this.directory.record(announcement);
    if ((await this.removed.lastKnown()).has(host))
      throw new DomainError('conflict', 'host_removed', `An operator has removed ${host}.`);
    const orders = { remove: [] as string[], stop: [] as string[] };
    for (const observed of agents) await this.compare(host, observed, orders);
    const present = new Set(agents.map(({ agentId }) => agentId));
    const missing = await this.due.expectedOn(host, restarted);
    await this.settleAbsent(
      missing.filter((id) => !present.has(id)),
      seenAt,
    );
    return { ...orders, idleTimes: [], logId };
  }

  /** A host of another installation would lose all of its computers, because this log knows none of them. */
  private async requireSameLog({ host, logId }: AnnounceHost): Promise<string> {
    const own = await logIdentity(this.store);
    if ((logId ?? own) === own) return own;
    throw new DomainError(
      'conflict',
      'other_event_log',
      `The computers of ${host} belong to an installation with another event log.`,
    );
  }

  private async compare(
    host: string,
    { agentId: computerId, epoch, state }: ObservedAgent,
    orders: { remove: string[]; stop: string[] },
  ): Promise<void> {
    const computer = await this.computers.load(computerId);
    if (computer.status === 'deleting') {
      detach(this.lifecycle.drive(computerId));
      return;
    }
    if (computer.status !== 'live' || computer.host !== host) {
      orders.remove.push(computerId);
      return;
    }
    if (epoch > computer.epoch) return;
    const life = beforeLoss(computer) ?? computer.life;
    if (life.state === 'failed' || (life.state === 'sleeping' && life.depth === 'cold')) {
      orders.stop.push(computerId);
      return;
    }
    const command = { type: 'SettlePresence', epoch, frozen: state === 'frozen', at: now() } as const;
    const { events } = await this.computers.handle(computerId, command, origin(computer, `found/${state}`));
    if (events.length > 0) detach(this.lifecycle.drive(computerId));
  }

  /** Those that should be awake or frozen on the host and are not; those left over are settled at the next announcement. */
  private async settleAbsent(absent: readonly string[], seenAt: string | null): Promise<void> {
    const left = [...absent];
    const end = Date.now() + SETTLE_MS;
    while (left.length > 0 && Date.now() < end)
      await Promise.all(left.splice(0, SETTLED_AT_ONCE).map((id) => this.settle(id, seenAt)));
  }

  private async settle(computerId: string, seenAt: string | null): Promise<void> {
    const computer = await this.computers.load(computerId);
    if (computer.status !== 'live') return;
    const { epoch } = computer;
    const seen = seenAt === null ? {} : { seenAt };
    const command = { type: 'SettleAbsence', epoch, at: now(), ...seen } as const;
    await this.computers.handle(computerId, command, origin(computer, 'absent'));
    // The reconciler continues a transition that fails now.
    detach(this.lifecycle.drive(computerId));
  }
}

const origin = ({ computerId, epoch, since, profile }: LiveComputer, what: string): CommandEnvelope =>
  systemOrigin(profile.accountId, `${computerId}/${String(epoch)}/${since}/${what}`);

const now = (): string => isoTime(Date.now());
