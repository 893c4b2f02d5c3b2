import type { LlmCallStatus, LlmDialect } from '@berth/contracts/llm';
import type { RecordedEvent } from '@berth/event-store';
import {
  accountLedgerCodec,
  type AccountLedgerEvent,
  type CallFacts,
} from '../account-ledger/account-ledger.events.js';
import {
  endUserLedgerCodec,
  partsOfLedgerId,
  type EndUserLedgerEvent,
} from '../end-user-ledger/end-user-ledger.events.js';

/** The columns of a call's row that events change; the others keep their values. */
export interface CallRowChange {
  readonly id: string;
  readonly account_id?: string;
  readonly agent_id?: string;
  readonly end_user_id?: string | null;
  /** The end user whose ledger reserves part of the spend cap for this call. */
  readonly spender_id?: string;
  readonly model?: string;
  readonly dialect?: LlmDialect;
  readonly status?: LlmCallStatus;
  readonly code?: string;
  readonly instance?: string;
  readonly input_tokens?: number;
  readonly cached_input_tokens?: number;
  readonly output_tokens?: number;
  readonly cost?: string;
  readonly reserved?: string;
  readonly started_at?: string;
  readonly ended_at?: string;
  /** Whether the end user's ledger still has that reservation. */
  readonly spend_open?: boolean;
}

/** One change for each call that the batch is about: its events merged, in order. */
export const rowChangesOf = (events: readonly RecordedEvent[]): readonly CallRowChange[] => {
  const rows = new Map<string, CallRowChange>();
  for (const event of events) {
    const change = changeOf(event);
    if (change !== undefined) rows.set(change.id, { ...rows.get(change.id), ...change });
  }
  return [...rows.values()];
};

const changeOf = (event: RecordedEvent): CallRowChange | undefined => {
  const at = event.stream.indexOf('-');
  return event.stream.slice(0, at) === endUserLedgerCodec.category
    ? ofEndUserLedger(event, event.stream.slice(at + 1))
    : ofAccountLedger(accountLedgerCodec.fromStored(event), event.metadata.accountId);
};

const ofEndUserLedger = (recorded: RecordedEvent, ledgerId: string): CallRowChange | undefined => {
  const event: EndUserLedgerEvent = endUserLedgerCodec.fromStored(recorded);
  switch (event.type) {
    case 'LlmSpendReserved':
      return {
        id: event.callId,
        account_id: recorded.metadata.accountId,
        spender_id: partsOfLedgerId(ledgerId).endUserId,
        instance: event.instance,
        started_at: event.at,
        spend_open: true,
      };
    case 'LlmSpendSettled':
      return { id: event.callId, spend_open: false };
    case 'CapThresholdReached':
      return undefined;
  }
};

const ofAccountLedger = (event: AccountLedgerEvent, accountId: string): CallRowChange | undefined => {
  switch (event.type) {
    case 'CreditsGranted':
      return undefined;
    case 'LlmCallReserved':
      return { ...factsOf(event, accountId), status: 'open', reserved: event.reserved, cost: '0' };
    case 'LlmCallRefused':
      return {
        ...factsOf(event, accountId),
        status: 'refused',
        code: event.code,
        reserved: '0',
        cost: '0',
        ended_at: event.startedAt,
      };
    case 'LlmCallFailed':
      return { ...factsOf(event, accountId), status: 'failed', ended_at: event.endedAt };
    case 'LlmCallSettled': {
      const { estimated, tokens, cost, endedAt } = event;
      return {
        ...factsOf(event, accountId),
        status: estimated ? 'estimated' : 'settled',
        input_tokens: tokens.input,
        cached_input_tokens: tokens.cachedInput,
        output_tokens: tokens.output,
        cost,
        ended_at: endedAt,
      };
    }
  }
};

const factsOf = (call: CallFacts, accountId: string): CallRowChange => ({
  id: call.callId,
  account_id: accountId,
  agent_id: call.agentId,
  end_user_id: call.endUserId,
  model: call.model,
  dialect: call.dialect,
  instance: call.instance,
  started_at: call.startedAt,
});
