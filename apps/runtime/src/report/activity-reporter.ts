import { agentsRequests, type ReportActivity } from '@berth/contracts/agents';
import { isoTime } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { HostIdentity } from '@berth/service';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { ActivityView } from '../agent/activity.js';
import type { Activities } from '../agent/hosted-agent-deps.js';

const EVERY_MS = 1_000;
const MOST_AT_ONCE = 1_000;

/** Reports to `agents` when agents were last active: the newest state of each, in one batch, at most once a second. */
@Injectable()
export class ActivityReporter implements Activities, BeforeApplicationShutdown {
  readonly #news = new Map<string, ActivityView>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly host: HostIdentity,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {}

  note(agentId: string, view: ActivityView): void {
    this.#news.set(agentId, view);
    this.#timer ??= setTimeout(() => void this.#tell(), EVERY_MS).unref();
  }

  beforeApplicationShutdown(): void {
    clearTimeout(this.#timer);
  }

  async #tell(): Promise<void> {
    const batch = [...this.#news].slice(0, MOST_AT_ONCE);
    for (const [agentId] of batch) this.#news.delete(agentId);
    const items = batch.map(
      ([agentId, { lastActiveAt, lastActivityKind, sleepAt }]): ReportActivity['items'][number] => ({
        agentId,
        lastActiveAt: isoTime(lastActiveAt),
        lastActivityKind,
        sleepAt: sleepAt === null ? null : isoTime(sleepAt),
      }),
    );
    try {
      await this.requester.request(agentsRequests.reportActivity, { host: this.host.id, items });
    } catch {
      // Sent again with the next batch, unless there is a newer state.
      for (const [agentId, view] of batch) if (!this.#news.has(agentId)) this.#news.set(agentId, view);
    }
    this.#timer = this.#news.size > 0 ? setTimeout(() => void this.#tell(), EVERY_MS).unref() : undefined;
  }
}
