import { Clock, isoTime } from '@berth/kernel';
import { ServiceContext } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { costOf, NO_TOKENS, type Rates } from '../ledger/token-price.js';
import { UNKNOWN, type CallOutcome } from '../route/call-outcome.js';
import { CallLedgers, type ChargedCall } from './call-ledgers.js';

const RETRY_MS = [100, 500, 1_000, 2_000] as const;
/** How long a response waits at its end until the call is recorded. */
const RECORDED_WITHIN_MS = 2_000;

/** A call that this process serves and whose end it has not recorded yet. */
interface OpenCall {
  readonly call: ChargedCall;
  readonly rates: Rates;
  outcome: CallOutcome;
  isEnding: boolean;
}

/** The calls that this process serves. It records the end of all of them before it stops. */
@Injectable()
export class OpenCalls implements OnModuleInit {
  readonly #open = new Map<string, OpenCall>();

  constructor(
    private readonly ledgers: CallLedgers,
    private readonly clock: Clock,
    private readonly context: ServiceContext,
    private readonly log: Logger,
  ) {}

  onModuleInit(): void {
    this.context.beforeStop(() => this.endAll());
  }

  has(callId: string): boolean {
    return this.#open.has(callId);
  }

  /** Must be called before the call is reserved: if the outcome of the reservation is unknown, the call must still be ended. */
  add(call: ChargedCall, rates: Rates): void {
    this.#open.set(call.callId, { call, rates, outcome: UNKNOWN, isEnding: false });
  }

  /** Removes a call that was not reserved. */
  forget(callId: string): void {
    this.#open.delete(callId);
  }

  /** Records how a call ended. Resolves when that is recorded, or after 2 s, while the attempts continue in the background. */
  async end(callId: string, outcome: CallOutcome): Promise<void> {
    const open = this.#open.get(callId);
    if (open === undefined || open.isEnding) return;
    open.outcome = outcome;
    open.isEnding = true;
    const waited = new AbortController();
    await Promise.race([
      this.record(open).finally(() => waited.abort()),
      pause(RECORDED_WITHIN_MS, waited.signal),
    ]);
  }

  private async record({ call, rates, outcome }: OpenCall): Promise<void> {
    const endedAt = isoTime(this.clock.now());
    for (let attempt = 0; this.#open.has(call.callId); attempt++) {
      try {
        if (outcome.kind === 'unsent') await this.ledgers.abandon(call, endedAt);
        else await this.ledgers.end(call, toCommand(call.callId, outcome, rates, endedAt));
        this.#open.delete(call.callId);
      } catch (error) {
        this.log.warn({ err: error, callId: call.callId }, 'the end of an LLM call is not recorded yet');
        await pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 0);
      }
    }
  }

  /** The connections end with the process, so the outcome of these calls stays unknown. */
  private async endAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((callId) => this.end(callId, UNKNOWN)));
  }
}

const toCommand = (
  callId: string,
  outcome: Exclude<CallOutcome, { kind: 'unsent' }>,
  rates: Rates,
  endedAt: string,
) =>
  outcome.kind === 'failed'
    ? ({ type: 'Fail', callId, endedAt } as const)
    : ({
        type: 'Settle',
        callId,
        tokens: outcome.tokens ?? NO_TOKENS,
        cost: outcome.kind === 'known' ? costOf(outcome.tokens, rates) : null,
        endedAt,
      } as const);
