import type { EventData, RecordedEvent } from '@berth/event-store';

/** A price of hosting from a moment on, in millionths of a cent. */
export interface Price {
  readonly from: number;
  readonly seatMonth: bigint | null;
  readonly vcpuHour: bigint;
  readonly memGbHour: bigint;
  readonly diskGbMonth: bigint;
}

/** What is counted again. */
export type RecountedKind = 'agent' | 'computer';

/** An event of the life of an agent or computer, or of its use; `at` in Unix milliseconds. */
export interface Happening {
  /** Of a life `BoxStarted` and so on, whichever it is. */
  readonly type: string;
  readonly at: number;
  readonly data: EventData;
}

/** The history of an agent or a computer. */
export interface BoxHistory {
  readonly boxId: string;
  readonly accountId: string;
  readonly happenings: readonly Happening[];
}

/** What the recount reads of a log. */
export interface RecountedLog {
  readonly kind: RecountedKind;
  readonly boxes: readonly BoxHistory[];
  /** By account, in order of time. */
  readonly prices: ReadonlyMap<string, readonly Price[]>;
}

/** The categories of the streams that the recount of a kind reads. */
export const RECOUNTED_CATEGORIES: Readonly<Record<RecountedKind, readonly string[]>> = {
  agent: [
    'account',
    'agent',
    'delivery',
    'execution',
    'llmAccount',
    'olderExecution',
    'pricing',
    'schedule',
    'webhookDelivery',
  ],
  computer: ['account', 'computer', 'computerUse', 'pricing'],
};

const BOX: Readonly<Record<RecountedKind, RegExp>> = { agent: /^Agent/, computer: /^Computer/ };
const LIFE =
  /^Box(Created|Starting|Started|Stopping|FellAsleep|Stopped|Failed|Resized|Unseen|RanUnseen|DeletionRequested)$/;
const USE: Readonly<Record<RecountedKind, RegExp>> = {
  agent:
    /^(MessageAnswered|MessageFailed|WebhookDelivered|WebhookFailed|PromptHandedOver|ExecutionSubmitted|OlderExecutionSubmitted|LlmCallSettled|LlmCallFailed)$/,
  computer: /^(ActionsDone|ScreenshotsTaken|BoxCommandRun)$/,
};

type Prices = Omit<Price, 'from'>;

const FREE: Prices = { seatMonth: null, vcpuHour: 0n, memGbHour: 0n, diskGbMonth: 0n };

/** Reads the whole log, in order. Shares no code with the projection, so that an error of one shows in the other. */
export class RecountReader {
  readonly #boxes = new Map<string, { accountId: string; happenings: Happening[] }>();
  readonly #planOf = new Map<string, string>();
  readonly #plans = new Map<string, Prices>();
  readonly #prices = new Map<string, Price[]>();
  /** No price begins before what happened to boxes earlier in the log. */
  #latest = 0;

  constructor(private readonly kind: RecountedKind) {}

  read({ type, data, stream, metadata }: RecordedEvent): void {
    const name = (type.split('.')[0] ?? '').replace(BOX[this.kind], 'Box');
    const boxId = String(data[`${this.kind}Id`] ?? '');
    if (name === 'BoxCreated') this.#boxes.set(boxId, { accountId: metadata.accountId, happenings: [] });
    const box = this.#boxes.get(boxId);
    const at = Date.parse(String(data[name.startsWith('Llm') ? 'startedAt' : 'at']));
    if (box !== undefined && stream.startsWith(`${this.kind}-`) && LIFE.test(name)) {
      box.happenings.push({ type: name, at, data });
      if (at > this.#latest) this.#latest = at;
    } else if (box !== undefined && USE[this.kind].test(name)) box.happenings.push({ type: name, at, data });
    else if (name === 'PlansRead') this.#readPlans(data, at);
    else if (name === 'AccountOpened') this.#choosePlan(data, Date.parse(String(data['openedAt'])));
    else if (name === 'AccountChanged') this.#choosePlan(data, Date.parse(String(data['changedAt'])));
  }

  log(): RecountedLog {
    const boxes = [...this.#boxes].map(([boxId, box]) => ({ boxId, ...box }));
    return { kind: this.kind, boxes, prices: this.#prices };
  }

  #readPlans(data: EventData, at: number): void {
    for (const { id, hosting } of data['plans'] as unknown as readonly LoggedPlan[])
      this.#plans.set(id, {
        seatMonth: hosting.kind === 'seat' ? BigInt(hosting.pricePerMonth ?? '0') : null,
        vcpuHour: BigInt(hosting.vcpuHour ?? '0'),
        memGbHour: BigInt(hosting.memGbHour ?? '0'),
        diskGbMonth: BigInt(hosting.diskGbMonth ?? '0'),
      });
    for (const accountId of this.#planOf.keys()) this.#price(accountId, at);
  }

  #choosePlan(data: EventData, at: number): void {
    const accountId = String(data['accountId']);
    this.#planOf.set(accountId, String(data['plan']));
    this.#price(accountId, at);
  }

  #price(accountId: string, at: number): void {
    const prices = this.#prices.get(accountId) ?? [];
    const from = Math.max(at, this.#latest, prices.at(-1)?.from ?? 0);
    prices.push({ from, ...(this.#plans.get(this.#planOf.get(accountId) ?? '') ?? FREE) });
    this.#prices.set(accountId, prices);
  }
}

interface LoggedPlan {
  readonly id: string;
  readonly hosting: { readonly kind: string } & Partial<
    Readonly<Record<'vcpuHour' | 'memGbHour' | 'diskGbMonth' | 'pricePerMonth', string>>
  >;
}
