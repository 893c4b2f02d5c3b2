import type { ReportActivity } from '@berth/contracts/hosting';
import { boxOwner, type BoxOwner } from '@berth/contracts/runtime';
import { detach, isoTime } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { HostIdentity } from '@berth/service';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { ActivityView } from '../agent/activity.js';
import type { Activities } from '../agent/hosted-agent-deps.js';
import { REPORT_REQUESTS } from './report-requests.js';

const INTERVAL_MS = 1_000;
const MAX_BATCH = 1_000;

/** Reports when agents and computers were last active, to the service of each. */
@Injectable()
export class ActivityReporter implements Activities, BeforeApplicationShutdown {
  readonly #batches: Readonly<Record<BoxOwner, ActivityBatches>>;

  constructor(host: HostIdentity, @Inject(Requester) requester: Pick<Requester, 'request'>) {
    const batchesOf = (owner: BoxOwner): ActivityBatches =>
      new ActivityBatches((items) =>
        requester.request(REPORT_REQUESTS[owner].reportActivity, { host: host.id, items }, { host: host.id }),
      );
    this.#batches = { agents: batchesOf('agents'), computers: batchesOf('computers') };
  }

  note(agentId: string, view: ActivityView): void {
    this.#batches[boxOwner(agentId) ?? 'agents'].note(agentId, view);
  }

  beforeApplicationShutdown(): void {
    for (const batches of Object.values(this.#batches)) batches.close();
  }
}

/** The newest state of each box of one service, sent in one batch, at most once a second. */
class ActivityBatches {
  readonly #pending = new Map<string, ActivityView>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly send: (items: ReportActivity['items']) => Promise<unknown>) {}

  note(agentId: string, view: ActivityView): void {
    this.#pending.set(agentId, view);
    this.#timer ??= setTimeout(() => detach(this.#report()), INTERVAL_MS).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #report(): Promise<void> {
    const batch = [...this.#pending].slice(0, MAX_BATCH);
    for (const [agentId] of batch) this.#pending.delete(agentId);
    const items = batch.map(
      ([agentId, { lastActiveAt, lastActivityKind, sleepAt }]): ReportActivity['items'][number] => ({
        agentId,
        lastActiveAt: isoTime(lastActiveAt),
        lastActivityKind,
        sleepAt: sleepAt === null ? null : isoTime(sleepAt),
      }),
    );
    try {
      await this.send(items);
    } catch {
      // Sent again with the next batch, unless there is a newer state.
      for (const [agentId, view] of batch) if (!this.#pending.has(agentId)) this.#pending.set(agentId, view);
    }
    this.#timer =
      this.#pending.size > 0 ? setTimeout(() => detach(this.#report()), INTERVAL_MS).unref() : undefined;
  }
}
