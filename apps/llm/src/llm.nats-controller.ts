import {
  llmRequests,
  type Balance,
  type GetLlmRefusal,
  type GetLlmSpend,
  type GrantCredits,
  type ListLlmCalls,
  type LlmCallView,
  type LlmSpend,
} from '@berth/contracts/llm';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { CallListQuery } from './call-list/call-list.query.js';
import { CreditsCommandHandler } from './credits/credits.command-handler.js';
import { endUserLedgerId } from './end-user-ledger/end-user-ledger.events.js';
import { EndUserLedgerStreams } from './end-user-ledger/end-user-ledger.streams.js';
import { LlmPort } from './route/llm-port.js';

@Controller()
export class LlmNatsController {
  constructor(
    private readonly port: LlmPort,
    private readonly list: CallListQuery,
    private readonly credits: CreditsCommandHandler,
    private readonly endUsers: EndUserLedgerStreams,
  ) {}

  @HandleRequest(llmRequests.endpoint)
  endpoint(): Promise<{ readonly url: string }> {
    return Promise.resolve({ url: this.port.url });
  }

  @HandleRequest(llmRequests.calls)
  calls(@Payload() request: ListLlmCalls): Promise<Page<LlmCallView>> {
    return this.list.run(request);
  }

  @HandleRequest(llmRequests.grantCredits)
  grantCredits(@Payload() command: GrantCredits): Promise<Balance> {
    return this.credits.grant(command);
  }

  @HandleRequest(llmRequests.balance)
  balance(@Payload() { accountId }: { readonly accountId: string }): Promise<Balance> {
    return this.credits.balance(accountId);
  }

  @HandleRequest(llmRequests.spend)
  async spend(@Payload() { endUserId, at }: GetLlmSpend): Promise<LlmSpend> {
    const { state } = await this.endUsers.load(endUserLedgerId(endUserId, at));
    return { settled: state.settled, reserved: state.reserved };
  }

  @HandleRequest(llmRequests.refusal)
  async refusal(@Payload() { agentId, since }: GetLlmRefusal): Promise<{ readonly code: string | null }> {
    return { code: await this.list.refusalSince(agentId, since) };
  }
}
