import {
  closeSessionsBody,
  computersRequests,
  type CloseSessionsBody,
  type ViewerSessionView,
} from '@berth/contracts/computers';
import { Requester } from '@berth/messaging';
import { Body, Controller, Get, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf, envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { computer } from './computer.resource.js';

@ApiTags('Computers')
@Controller('api/v1/computers/:computer_id/sessions')
export class ComputerSessionsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    summary: "List a computer's viewer sessions that are not over",
    description: 'The oldest first. Never wakes the computer.',
    responses: [{ status: 200, description: 'The sessions.', schema: 'ViewerSessionList' }],
    errors: ['computer_not_found'],
  })
  @Get()
  list(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
  ): Promise<{ readonly items: readonly ViewerSessionView[] }> {
    const { accountId } = callerOf(request);
    return this.requester.request(computersRequests.listSessions, { accountId, computerId });
  }

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    body: { kind: 'json', shape: closeSessionsBody },
    summary: 'Close viewer sessions of a computer',
    description:
      'One, or all without `sessionId`. Their sockets close within 5 s, and what they took over is given back. Never wakes the computer.',
    responses: [
      {
        status: 200,
        description: 'How many were closed: 0 for a session that is over or of another computer.',
        schema: 'ClosedSessions',
      },
    ],
    errors: ['computer_not_found'],
  })
  @Post('close')
  close(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Body() { sessionId }: CloseSessionsBody,
  ): Promise<{ readonly closed: number }> {
    return this.requester.request(computersRequests.closeSessions, {
      ...envelopeOf(request),
      computerId,
      sessionId: sessionId ?? null,
    });
  }
}
