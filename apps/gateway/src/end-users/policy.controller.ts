import {
  endUsersRequests,
  putPolicyBody,
  type EndUserPolicy,
  type PutPolicyBody,
} from '@berth/contracts/end-users';
import type { Policy } from '@berth/contracts/schema';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Put, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf, envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { endUser } from './end-user.resource.js';

@ApiTags('End users')
@Controller('api/v1/end-users/:external_id/policy')
export class PolicyController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'manage' },
    resource: endUser,
    body: { kind: 'json', shape: putPolicyBody },
    summary: 'Set the policy of an end user',
    description:
      'Replaces the whole policy. It is in force for every agent of the end user once this returns: limits and idle time immediately, sizes from the next start on.',
    responses: [{ status: 200, description: 'The policy.', schema: 'AppliedPolicy' }],
    errors: ['end_user_not_found'],
  })
  @Put()
  set(
    @Req() request: ApiRequest,
    @Param('external_id') externalId: string,
    @Body() { policy }: PutPolicyBody,
  ): Promise<EndUserPolicy & { readonly agentsUpdated: number }> {
    return this.requester.request(endUsersRequests.setPolicy, {
      ...envelopeOf(request),
      externalId,
      policy,
    });
  }

  @Route({
    accepts: { key: 'manage' },
    resource: endUser,
    summary: 'Get the policy of an end user',
    responses: [{ status: 200, description: 'The policy; null without one.', schema: 'EndUserPolicy' }],
    errors: ['end_user_not_found'],
  })
  @Get()
  async get(@Req() request: ApiRequest, @Param('external_id') externalId: string): Promise<EndUserPolicy> {
    const { accountId } = callerOf(request);
    const { policy } = await this.requester.request(endUsersRequests.get, { accountId, externalId });
    return { externalId, policy };
  }

  @Route({
    accepts: { key: 'manage' },
    resource: endUser,
    summary: 'Remove the policy of an end user',
    description: 'The defaults of the account are in force again, or the own values of each agent.',
    responses: [{ status: 204, description: 'The end user has no policy of its own.' }],
    errors: ['end_user_not_found'],
  })
  @Delete()
  async delete(@Req() request: ApiRequest, @Param('external_id') externalId: string): Promise<void> {
    await this.requester.request(endUsersRequests.deletePolicy, { ...envelopeOf(request), externalId });
  }
}

@ApiTags('End users')
@Controller('api/v1/end-user-defaults')
export class EndUserDefaultsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'manage' },
    body: { kind: 'json', shape: putPolicyBody },
    summary: 'Set the policy of end users who have none of their own',
    description: 'It is in force once this returns, and is never mixed with the policy of an end user.',
    responses: [{ status: 200, description: 'The policy.', schema: 'EndUserDefaults' }],
  })
  @Put()
  set(
    @Req() request: ApiRequest,
    @Body() { policy }: PutPolicyBody,
  ): Promise<{ readonly policy: Policy | null }> {
    return this.requester.request(endUsersRequests.setDefaults, { ...envelopeOf(request), policy });
  }

  @Route({
    accepts: { key: 'manage' },
    summary: 'Get the policy of end users who have none of their own',
    responses: [{ status: 200, description: 'The policy; null without one.', schema: 'EndUserDefaults' }],
  })
  @Get()
  get(@Req() request: ApiRequest): Promise<{ readonly policy: Policy | null }> {
    return this.requester.request(endUsersRequests.getDefaults, { accountId: callerOf(request).accountId });
  }

  @Route({
    accepts: { key: 'manage' },
    summary: 'Remove the policy of end users who have none of their own',
    responses: [{ status: 204, description: 'There is none.' }],
  })
  @Delete()
  async delete(@Req() request: ApiRequest): Promise<void> {
    await this.requester.request(endUsersRequests.deleteDefaults, envelopeOf(request));
  }
}
