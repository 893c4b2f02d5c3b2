import {
  COMPUTER_DEFAULTS,
  computersRequests,
  createComputerBody,
  listComputersQuery,
  type ComputerRef,
  type ComputerTransition,
  type ComputerView,
  type CreateComputerBody,
  type ListComputersQuery,
} from '@berth/contracts/computers';
import type { Page, RequestDefinition } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf, envelopeOf } from '../auth/caller.js';
import { externalIdRefusal } from '../end-users/end-user.resource.js';
import type { ErrorCode } from '../errors/error-codes.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { Route, type RouteDeclaration } from '../http/route.decorator.js';
import { computer } from './computer.resource.js';

const transition = (
  summary: string,
  description: string,
  errors: readonly ErrorCode[] = [],
): RouteDeclaration => ({
  accepts: { key: 'computers' },
  resource: computer,
  summary,
  description: `${description} Idempotent. The body is ignored.`,
  responses: [
    { status: 200, description: 'The computer after the transition.', schema: 'Computer' },
    {
      status: 202,
      description: 'The transition continues; the computer in its current state.',
      schema: 'Computer',
    },
  ],
  errors: ['computer_not_found', ...errors],
});

@ApiTags('Computers')
@Controller('api/v1/computers')
export class ComputersController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'computers' },
    body: { kind: 'json', shape: createComputerBody, refusal: refuseExternalId },
    summary: 'Create a computer, or get the one of an end user',
    description:
      'An end user, who is created if unknown, has one computer: a repeated request returns it, and its other members are ignored. Without `externalUserId` every request creates one.',
    responses: [
      { status: 201, description: 'The computer, `starting`.', schema: 'Computer', location: true },
      { status: 200, description: 'The computer that the end user has.', schema: 'Computer' },
    ],
    errors: [
      'invalid_external_id',
      'addon_required',
      'end_user_suspended',
      'computers_unsupported',
      'no_capacity',
    ],
  })
  @Post()
  async create(
    @Req() request: ApiRequest,
    @Body() { externalUserId, name, display, idleTtlSeconds }: CreateComputerBody,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<ComputerView> {
    const { width, height } = COMPUTER_DEFAULTS.display;
    const { computer: view, created } = await this.requester.request(computersRequests.create, {
      ...envelopeOf(request),
      externalUserId: externalUserId ?? null,
      name: name ?? null,
      display: { width: display?.width ?? width, height: display?.height ?? height },
      idleTtlSeconds: idleTtlSeconds ?? COMPUTER_DEFAULTS.idleTtlSeconds,
    });
    if (created) reply.header('location', `/api/v1/computers/${view.id}`);
    else reply.code(200);
    return view;
  }

  @Route({
    accepts: { key: 'computers' },
    query: listComputersQuery,
    summary: 'List computers, newest first',
    responses: [{ status: 200, description: 'One page.', schema: 'ComputerPage' }],
  })
  @Get()
  list(@Req() request: ApiRequest, @Query() query: ListComputersQuery): Promise<Page<ComputerView>> {
    return this.requester.request(computersRequests.list, {
      accountId: callerOf(request).accountId,
      externalUserId: query.externalUserId ?? null,
      status: query.status ?? null,
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
  }

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    summary: 'Get a computer',
    description: 'Never wakes it.',
    responses: [{ status: 200, description: 'The computer in its current state.', schema: 'Computer' }],
    errors: ['computer_not_found'],
  })
  @Get(':computer_id')
  get(@Req() request: ApiRequest, @Param('computer_id') computerId: string): Promise<ComputerView> {
    return this.requester.request(computersRequests.get, {
      accountId: callerOf(request).accountId,
      computerId,
    });
  }

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    summary: 'Delete a computer and its home folder',
    description: 'Works in every state.',
    responses: [{ status: 204, description: 'Deleted.' }],
    errors: ['computer_not_found'],
  })
  @Delete(':computer_id')
  async delete(@Req() request: ApiRequest, @Param('computer_id') computerId: string): Promise<void> {
    await this.requester.request(computersRequests.delete, { ...envelopeOf(request), computerId });
  }

  @Route(
    transition('Wake a computer', 'Ends in `running`; tries again if the computer has failed.', [
      'addon_required',
      'end_user_suspended',
      'computers_unsupported',
      'no_capacity',
    ]),
  )
  @Post(':computer_id/wake')
  wake(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<ComputerView> {
    return this.move(computersRequests.wake, request, computerId, reply);
  }

  @Route(
    transition(
      'Put a computer to sleep',
      'Ends in `sleeping`, and waits for nothing: actions under way end, and the sockets of viewers close.',
    ),
  )
  @Post(':computer_id/sleep')
  sleep(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<ComputerView> {
    return this.move(computersRequests.sleep, request, computerId, reply);
  }

  private async move(
    definition: RequestDefinition<ComputerRef, ComputerTransition>,
    request: ApiRequest,
    computerId: string,
    reply: ApiReply,
  ): Promise<ComputerView> {
    const { computer: view, settled } = await this.requester.request(definition, {
      ...envelopeOf(request),
      computerId,
    });
    if (!settled) reply.code(202);
    return view;
  }
}

function refuseExternalId(body: unknown): ReturnType<typeof externalIdRefusal> {
  const { externalUserId } = body as CreateComputerBody;
  return typeof externalUserId === 'string' ? externalIdRefusal(externalUserId) : undefined;
}
