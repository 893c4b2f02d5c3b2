import type { RecordedEvent } from '@berth/event-store';
import type { Plan } from '../pricing/pricing.js';
import { freePlan, periodsOf, type Terms } from '../pricing/terms.js';
import { changeMeter, newMeter, type BoxMeter, type Span } from './box-meter.js';
import { addAmounts, addSpan, byDay, noUse, type DayUse } from './day-use.js';
import type { MeteredKind } from './metered-kind.js';
import type { BoxFact, UsageFact, Use } from './usage-fact.js';
import { dayOf } from './utc-day.js';

/** The rows that a batch of events starts from. */
export interface LedgerState {
  readonly meters: Map<string, BoxMeter>;
  /** By account, in order of time. */
  readonly terms: Map<string, readonly Terms[]>;
  readonly plans: Map<string, Plan>;
  /** End users who are deleted. */
  readonly forgotten: Set<string>;
  /** Ids of messages that failed and are counted. */
  readonly failedChats: Set<string>;
  /** The latest time of all facts so far, Unix milliseconds. */
  latestMs: number;
}

export interface DayEntry {
  readonly boxId: string;
  readonly accountId: string;
  readonly day: number;
  readonly use: DayUse;
}

/** Counts the usage of one kind of boxes in the order of the log. The result does not depend on how the events are divided into batches. */
export class UsageLedger {
  readonly #days = new Map<string, DayEntry>();
  readonly #changedMeters = new Set<string>();
  readonly #newTerms = new Map<string, Terms[]>();
  readonly newlyForgotten = new Set<string>();
  readonly newlyFailedChats = new Set<string>();
  hasNewPlans = false;
  /** The position of the last event. */
  position = 0n;

  constructor(
    private readonly kind: Pick<MeteredKind, 'factOf' | 'uses'>,
    readonly state: LedgerState,
  ) {}

  get days(): readonly DayEntry[] {
    return [...this.#days.values()];
  }

  get changedMeters(): readonly BoxMeter[] {
    return [...this.#changedMeters].flatMap((id) => this.state.meters.get(id) ?? []);
  }

  /** By account. */
  get newTerms(): ReadonlyMap<string, readonly Terms[]> {
    return this.#newTerms;
  }

  apply(event: RecordedEvent): void {
    this.position = event.position;
    const fact = this.kind.factOf(event);
    if (fact !== null) this.#applyFact(fact, event.metadata.accountId);
  }

  #applyFact(fact: UsageFact, accountId: string): void {
    switch (fact.about) {
      case 'box':
        return this.#ofBox(fact.fact, accountId);
      case 'use':
        return this.#ofUse(fact.use);
      case 'account':
        return this.#price(fact.accountId, this.#planOf(fact.planId), fact.at);
      case 'plans':
        return this.#readPlans(fact.plans, fact.at);
      case 'forgotten':
        this.state.forgotten.add(fact.endUserId);
        this.newlyForgotten.add(fact.endUserId);
    }
  }

  #ofBox(fact: BoxFact, accountId: string): void {
    if (fact.kind === 'created') return this.#create(fact, accountId);
    const before = this.state.meters.get(fact.boxId);
    if (before !== undefined) this.#meter(before, fact);
  }

  #ofUse({ boxId, at, amounts, retriable }: Use): void {
    const meter = this.state.meters.get(boxId);
    if (meter === undefined) return;
    if (retriable !== null && this.state.failedChats.has(retriable.deliveryId)) return;
    addAmounts(this.#use(meter, at), amounts);
    if (retriable === null || retriable.answered) return;
    this.state.failedChats.add(retriable.deliveryId);
    this.newlyFailedChats.add(retriable.deliveryId);
  }

  #create(fact: Extract<BoxFact, { kind: 'created' }>, accountId: string): void {
    const meter = newMeter(fact, accountId);
    this.#keep(meter, fact.at);
    // A box has a row for its first day, however short it existed.
    this.#use(meter, fact.at);
  }

  #meter(before: BoxMeter, fact: BoxFact): void {
    const { meter, spans, wake } = changeMeter(before, fact);
    this.#keep(meter, fact.at);
    if (wake) this.#use(meter, fact.at).wakes += 1n;
    const periods = periodsOf(this.state.terms.get(meter.accountId) ?? []);
    for (const span of spans)
      for (const part of byDay(span))
        addSpan(
          this.#use(meter, part.from),
          { ...span, from: part.from, to: part.to } satisfies Span,
          periods,
        );
  }

  #keep(meter: BoxMeter, at: number): void {
    this.state.meters.set(meter.boxId, meter);
    this.#changedMeters.add(meter.boxId);
    this.state.latestMs = Math.max(this.state.latestMs, at);
  }

  #use({ boxId, accountId }: BoxMeter, at: number): DayUse {
    const day = dayOf(at);
    const key = `${String(day)} ${boxId}`;
    const entry = this.#days.get(key) ?? { boxId, accountId, day, use: noUse(this.kind) };
    this.#days.set(key, entry);
    return entry.use;
  }

  #planOf(planId: string): Plan {
    return this.state.plans.get(planId) ?? freePlan(planId);
  }

  #readPlans(plans: readonly Plan[], at: number): void {
    this.hasNewPlans = true;
    for (const plan of plans) this.state.plans.set(plan.id, plan);
    for (const [accountId, terms] of this.state.terms) {
      const planId = terms.at(-1)?.plan.id;
      if (planId !== undefined) this.#price(accountId, this.#planOf(planId), at);
    }
  }

  /**
   * Prices count from their moment on. What is counted already is never priced again, so a moment before it, which differing
   * clocks can give, is moved to the latest time that is counted.
   */
  #price(accountId: string, plan: Plan, at: number): void {
    const terms = this.state.terms.get(accountId) ?? [];
    const last = terms.at(-1);
    const since = Math.max(at, this.state.latestMs, last?.since ?? 0);
    const next: Terms = { since, plan };
    this.state.terms.set(accountId, [...terms.filter((one) => one.since < since), next]);
    this.#newTerms.set(accountId, [...(this.#newTerms.get(accountId) ?? []), next]);
  }
}
