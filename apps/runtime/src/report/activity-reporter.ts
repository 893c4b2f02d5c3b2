import { agentsRequests, type ReportActivity } from '@berth/contracts/agents';
import { detach, isoTime } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { HostIdentity } from '@berth/service';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { ActivityView } from '../agent/activity.js';
import type { Activities } from '../agent/hosted-agent-deps.js';

const INTERVAL_MS = 1_000;
const MAX_BATCH = 1_000;

/** Reports to `agents` when agents were last active: the newest state of each, in one batch, at most once a second. */
@Injectable()
export class ActivityReporter implements Activities, BeforeApplicationShutdown {
  readonly #pending = new Map<string, ActivityView>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly host: HostIdentity,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  note(agentId: string, view: ActivityView): void {
    this.#pending.set(agentId, view);
    this.#timer ??= setTimeout(() => detach(this.#report()), INTERVAL_MS).unref();
  }

  beforeApplicationShutdown(): void {
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
      const { id: host } = this.host;
      await this.requester.request(agentsRequests.reportActivity, { host, items }, { host });
    } catch {
      // Sent again with the next batch, unless there is a newer state.
      for (const [agentId, view] of batch) if (!this.#pending.has(agentId)) this.#pending.set(agentId, view);
    }
    this.#timer =
      this.#pending.size > 0 ? setTimeout(() => detach(this.#report()), INTERVAL_MS).unref() : undefined;
  }
}
