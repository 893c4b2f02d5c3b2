import type { FindDelivery, FoundDelivery } from '@berth/contracts/runtime';
import type { DeliveryReport } from '@berth/guest-protocol';
import { isDomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { HostedAgents } from '../agent/hosted-agents.js';
import { DeliveryJournal } from './delivery-journal.js';

/** Time-out for the guest's response, after which its journal is read instead. */
const GUEST_WITHIN_MS = 1_000;

const ENDED_WITHIN_MS = 3_000;

/** Looks up the outcomes of messages to the agents of this host. */
@Injectable()
export class Deliveries {
  constructor(
    private readonly agents: HostedAgents,
    private readonly journal: DeliveryJournal,
  ) {}

  /** See `runtimeRequests.findDelivery`. */
  async find({ agentId, deliveryId }: FindDelivery): Promise<FoundDelivery> {
    const agent = this.agents.of(agentId);
    const { awake } = agent.current;
    const reported =
      awake === null
        ? undefined
        : await awake.client
            .delivery(deliveryId, AbortSignal.timeout(GUEST_WITHIN_MS))
            .catch(unlessUnreachable);
    if (reported !== undefined) return toFound(reported);
    await agent.pendingEnd.over(ENDED_WITHIN_MS);
    return toFound(await this.journal.read(agentId, deliveryId));
  }
}

/** The journal has the same state as the guest, except for messages still queued in a guest that does not respond. */
const unlessUnreachable = (error: unknown): undefined => {
  if (isDomainError(error)) return undefined;
  throw error;
};

const toFound = (report: DeliveryReport): FoundDelivery => {
  if (report.state !== 'ended') return { state: report.state };
  const { outcome } = report;
  if (outcome.type === 'answered') return { state: 'answered', response: outcome.response };
  const { kind, code, message } = outcome;
  return { state: 'failed', kind, code, message };
};
