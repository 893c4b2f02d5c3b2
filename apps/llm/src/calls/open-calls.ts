import { Clock, isoTime } from '@berth/kernel';
import { ServiceContext } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { costOf, NO_TOKENS, type Rates } from '../ledger/token-price.js';
import { UNKNOWN, type CallOutcome } from '../route/call-outcome.js';
import { CallLedgers, type ChargedCall } from './call-ledgers.js';

const RETRY_MS = [100, 500, 1_000, 2_000] as const;
/** How long the end of a response waits for the record of the call. */
const RECORDED_WITHIN_MS = 2_000;

/** A call that this process has reserved and not ended. */
interface OpenCall {
  readonly call: ChargedCall;
  readonly rates: Rates;
  outcome: CallOutcome;
  isEnding: boolean;
}

/** The calls whose connections this process holds. When it stops, all of them are ended. */
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

  /** From before the reservation on, whose outcome may stay unknown. */
  add(call: ChargedCall, rates: Rates): void {
    this.#open.set(call.callId, { call, rates, outcome: UNKNOWN, isEnding: false });
  }

  /** The call was not reserved. */
  forget(callId: string): void {
    this.#open.delete(callId);
  }

  /** Records how a call ended. Resolves when it is recorded, or after 2 s; it is recorded in any case. */
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
        await this.ledgers.end(call, toCommand(call.callId, outcome, rates, endedAt));
        this.#open.delete(call.callId);
      } catch (error) {
        this.log.warn({ err: error, callId: call.callId }, 'the end of an LLM call is not recorded yet');
        await pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 0);
      }
    }
  }

  /** Their connections end with the process. */
  private async endAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((callId) => this.end(callId, UNKNOWN)));
  }
}

const toCommand = (callId: string, outcome: CallOutcome, rates: Rates, endedAt: string) =>
  outcome.kind === 'failed'
    ? ({ type: 'Fail', callId, endedAt } as const)
    : ({
        type: 'Settle',
        callId,
        tokens: outcome.tokens ?? NO_TOKENS,
        cost: outcome.kind === 'known' ? costOf(outcome.tokens, rates) : null,
        endedAt,
      } as const);
