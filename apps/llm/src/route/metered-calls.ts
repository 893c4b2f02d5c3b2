import type { LlmCaller } from '@berth/contracts/agents';
import { Clock, detach, isoTime, MILLIONTHS_PER_CENT, newId } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { CallLedgers, type ChargedCall } from '../calls/call-ledgers.js';
import { Instance } from '../calls/instance.js';
import { OpenCalls } from '../calls/open-calls.js';
import { CountedCredits } from '../credits/counted-credits.js';
import type { Operation } from '../dialect/operation.js';
import { refusalOf } from '../dialect/refusal.js';
import { UNSENT } from './call-outcome.js';
import type { PreparedCall } from './prepared-call.js';

/** What may be sent. */
export interface AdmittedCall {
  readonly callId: string;
  readonly outputTokens: number;
}

/** Reserves the cost of calls, and records those that are refused. */
@Injectable()
export class MeteredCalls {
  constructor(
    private readonly ledgers: CallLedgers,
    private readonly open: OpenCalls,
    private readonly credits: CountedCredits,
    private readonly instance: Instance,
    private readonly clock: Clock,
  ) {}

  /** Errors: 402, 429; 503 if a ledger is not available. */
  async admit({ operation, model, demand }: PreparedCall, caller: LlmCaller): Promise<AdmittedCall> {
    const call = await this.callOf(operation, model.name, caller);
    const { callId } = call;
    this.open.add(call, model.rates);
    const reservation = await this.ledgers.reserve(call, demand).catch(async (error: unknown) => {
      // It may have been reserved after all.
      detach(this.open.end(callId, UNSENT));
      throw error;
    });
    if (reservation.kind === 'reserved') return { callId, outputTokens: reservation.outputTokens };
    this.open.forget(callId);
    throw refusalOf(reservation.code);
  }

  /** Records a call that was refused before it came to the ledgers. */
  async refuse(operation: Operation, model: string, caller: LlmCaller, code: string): Promise<void> {
    await this.ledgers.refuse(await this.callOf(operation, model, caller), code);
  }

  private async callOf(operation: Operation, model: string, caller: LlmCaller): Promise<ChargedCall> {
    const { accountId, agentId, endUserId, capCents } = caller;
    const now = this.clock.now();
    return {
      callId: newId('llm', now),
      accountId,
      agentId,
      endUserId,
      dialect: operation.dialect,
      operation: operation.name,
      model,
      instance: this.instance.id,
      startedAt: isoTime(now),
      cap: capCents === null ? null : BigInt(capCents) * MILLIONTHS_PER_CENT,
      countsCredits: await this.credits.fromStart(accountId),
    };
  }
}
