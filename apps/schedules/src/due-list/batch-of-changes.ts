import type { ScheduleEvent } from '../schedule/schedule.js';

/** A row of each table of the projection. Times are ISO 8601. */
export interface DueRow {
  readonly agent_id: string;
  readonly entry_id: string;
  readonly account_id: string;
  readonly due_at: string;
}
export interface FiringRow {
  readonly delivery_id: string;
  readonly agent_id: string;
  readonly account_id: string;
  readonly fired_at: string;
}
export interface FiredRow {
  readonly agent_id: string;
  readonly entry_id: string;
  readonly run_at: string;
}

/** The rows that a batch of events changes, each once. */
export class BatchOfChanges {
  /** Agents all of whose rows of entries are replaced. */
  readonly replaced = new Set<string>();
  readonly forgotten = new Set<string>();
  readonly closed = new Set<string>();
  readonly firings = new Map<string, FiringRow>();
  readonly fired: FiredRow[] = [];
  /** By agent, by entry: when it is due; null if never again. */
  readonly #due = new Map<string, Map<string, DueRow | null>>();

  constructor(events: readonly ScheduleEvent[]) {
    for (const event of events) this.#add(event);
  }

  get due(): readonly DueRow[] {
    return [...this.#due.values()].flatMap((rows) => [...rows.values()].filter((row) => row !== null));
  }

  /** Agent and entry of every row that changes. */
  get changed(): readonly (readonly [string, string])[] {
    return [...this.#due].flatMap(([agentId, rows]) =>
      [...rows.keys()].map((entryId) => [agentId, entryId] as const),
    );
  }

  #add(event: ScheduleEvent): void {
    const { agentId } = event;
    switch (event.type) {
      case 'SchedulesPublished':
        this.#replace(agentId);
        for (const { id, nextWakeAt } of event.entries) this.#setDue(event, id, nextWakeAt);
        return;
      case 'ScheduleFired': {
        const { deliveryId, accountId, entryId, runAt, at } = event;
        this.#setDue(event, entryId, event.entryNextWakeAt);
        const ids = { delivery_id: deliveryId, agent_id: agentId, account_id: accountId };
        this.firings.set(deliveryId, { ...ids, fired_at: at });
        if (runAt !== null) this.fired.push({ agent_id: agentId, entry_id: entryId, run_at: runAt });
        return;
      }
      case 'PromptHandedOver':
        return;
      case 'FiringEnded':
        this.firings.delete(event.deliveryId);
        this.closed.add(event.deliveryId);
        return;
      case 'SchedulesForgotten':
        this.#replace(agentId);
        this.forgotten.add(agentId);
        for (const [id, { agent_id }] of this.firings) if (agent_id === agentId) this.firings.delete(id);
    }
  }

  #replace(agentId: string): void {
    this.replaced.add(agentId);
    this.#due.delete(agentId);
  }

  #setDue(
    { agentId, accountId }: Pick<ScheduleEvent, 'agentId' | 'accountId'>,
    entryId: string,
    dueAt: string | null,
  ): void {
    const rows = this.#due.get(agentId) ?? new Map<string, DueRow | null>();
    const ids = { agent_id: agentId, entry_id: entryId, account_id: accountId };
    rows.set(entryId, dueAt === null ? null : { ...ids, due_at: dueAt });
    this.#due.set(agentId, rows);
  }
}
