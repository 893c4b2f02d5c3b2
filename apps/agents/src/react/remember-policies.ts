import {
  endUsersEvents,
  type DefaultsChangedPayload,
  type EndUserEventPayload,
  type PolicySetPayload,
} from '@berth/contracts/end-users';
import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { Policies } from '../policy/policies.js';

type PolicyPayload = EndUserEventPayload | PolicySetPayload | DefaultsChangedPayload;

/** The policies whose change was interrupted before it reached this service, and all of them on empty tables. */
@ConsumeEvents({
  context: 'end-users',
  durable: 'agents__policies',
  events: [
    endUsersEvents.policySet,
    endUsersEvents.policyRemoved,
    endUsersEvents.defaultsChanged,
    endUsersEvents.deleted,
  ],
})
@Injectable()
export class RememberPolicies implements EventReaction<PolicyPayload> {
  constructor(private readonly policies: Policies) {}

  async handle({ name, payload, position }: ReceivedEvent<PolicyPayload>, tx: SqlRunner): Promise<void> {
    const policy = 'policy' in payload ? payload.policy : null;
    const change = { policy, position: position.toString() };
    if (!('endUserId' in payload))
      return this.policies.applyDefaults({ accountId: payload.accountId, ...change }, tx);
    const { endUserId } = payload;
    if (name === endUsersEvents.deleted.name) return this.policies.forget(endUserId, tx);
    await this.policies.apply({ endUserId, ...change }, tx);
  }

  /** Call it when the log was replaced or restored. */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.policies.forgetAfter(tx, position);
  }
}
