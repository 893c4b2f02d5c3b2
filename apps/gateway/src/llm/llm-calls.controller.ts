import { endUsersRequests } from '@berth/contracts/end-users';
import { llmCallsQuery, llmRequests, type LlmCallsQuery, type LlmCallView } from '@berth/contracts/llm';
import { isoTime, showCents, type Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { parseIsoTime } from '../validation/iso-time.js';

/** A call as callers see it. */
export interface LlmCall extends Omit<LlmCallView, 'endUserId' | 'cost' | 'reserved'> {
  readonly externalUserId: string | null;
  readonly costCents: number;
  readonly reservedCents: number;
}

@ApiTags('Usage')
@Controller('api/v1/llm-calls')
export class LlmCallsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'read' },
    query: llmCallsQuery,
    summary: 'List the LLM calls of the account, newest first',
    description: 'Contents appear nowhere. Cents have up to 6 decimals.',
    responses: [{ status: 200, description: 'One page.', schema: 'LlmCallPage' }],
  })
  @Get()
  async list(@Req() request: ApiRequest, @Query() query: LlmCallsQuery): Promise<Page<LlmCall>> {
    const { accountId } = callerOf(request);
    const { agentId = null, from, to, cursor = null, limit } = query;
    const page = await this.requester.request(llmRequests.calls, {
      accountId,
      agentId,
      from: utc(from),
      to: utc(to),
      cursor,
      limit,
    });
    const nameOf = await this.endUserNames(accountId, page.items);
    return { items: page.items.map((call) => shown(call, nameOf)), nextCursor: page.nextCursor };
  }

  /** The external id of an end user; null once it is deleted. */
  private async endUserNames(
    accountId: string,
    calls: readonly LlmCallView[],
  ): Promise<(endUserId: string | null) => string | null> {
    const endUserIds = [...new Set(calls.map(({ endUserId }) => endUserId).filter((id) => id !== null))];
    if (endUserIds.length === 0) return () => null;
    const wanted = { accountId, endUserIds, externalIds: [] };
    const { items } = await this.requester.request(endUsersRequests.findIds, wanted);
    const names = new Map(items.map(({ endUserId, externalId }) => [endUserId, externalId]));
    return (endUserId) => (endUserId === null ? null : (names.get(endUserId) ?? null));
  }
}

const shown = (
  { endUserId, cost, reserved, ...call }: LlmCallView,
  nameOf: (endUserId: string | null) => string | null,
): LlmCall => ({
  id: call.id,
  agentId: call.agentId,
  externalUserId: nameOf(endUserId),
  model: call.model,
  dialect: call.dialect,
  status: call.status,
  inputTokens: call.inputTokens,
  cachedInputTokens: call.cachedInputTokens,
  outputTokens: call.outputTokens,
  costCents: showCents(BigInt(cost)),
  reservedCents: showCents(BigInt(reserved)),
  startedAt: call.startedAt,
  endedAt: call.endedAt,
});

const utc = (time: string | undefined): string | null => {
  const millis = parseIsoTime(time);
  return millis === undefined ? null : isoTime(millis);
};
