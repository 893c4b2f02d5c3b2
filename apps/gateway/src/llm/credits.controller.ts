import { grantCreditsBody, llmRequests, type GrantCreditsBody } from '@berth/contracts/llm';
import { showCents } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { accountOf } from '../accounts/account.resource.js';
import { envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';

/** The credits of an account after a grant. */
export interface AccountBalance {
  readonly accountId: string;
  readonly balanceCents: number | null;
}

@ApiTags('Operations')
@Controller('api/v1/operations/accounts')
export class CreditsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'operate' },
    resource: accountOf('account_id'),
    body: { kind: 'json', shape: grantCreditsBody },
    summary: 'Grant credits to an account',
    description:
      'Only LLM calls are paid from credits. A negative number takes credits away. Those of the first account are counted from its first grant on.',
    responses: [{ status: 200, description: 'The balance now.', schema: 'AccountBalance' }],
    errors: ['account_not_found'],
  })
  @Post(':account_id/credits')
  async grant(
    @Req() request: ApiRequest,
    @Param('account_id') id: string,
    @Body() { cents, note }: GrantCreditsBody,
  ): Promise<AccountBalance> {
    const { balance } = await this.requester.request(llmRequests.grantCredits, {
      ...envelopeOf(request),
      id,
      cents,
      note: note ?? null,
    });
    return { accountId: id, balanceCents: balance === null ? null : showCents(BigInt(balance)) };
  }
}
