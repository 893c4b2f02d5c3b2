import type { IncomingMessage } from 'node:http';
import {
  answerActions,
  computersRequests,
  type ActionPlan,
  type ActionsAnswer,
  type ComputerRef,
  type PlanOutcome,
} from '@berth/contracts/computers';
import type { OpenedTransfer } from '@berth/contracts/hosting';
import { DomainError, isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { readText } from '../files/agent-transfer.js';
import { withFreshTicket } from '../hosts/fresh-ticket.js';
import { HostConnections, type HostTarget } from '../hosts/host-connections.js';
import { parseTransferRefusal, publicErrorOf, TicketLost } from '../http/transfer-refusal.js';
import { ComputerReports } from './computer-reports.js';
import { readOutcome } from './plan-outcome.js';

const CONNECT_MS = 5_000;
/** The host sends an empty line each second while a batch waits or is carried out. */
const SILENCE_MS = 30_000;
const REFUSED = 422;

/** Has batches of actions carried out, each at most once and to its end, also when its caller hangs up. */
@Injectable()
export class ActionBatches {
  constructor(
    private readonly requester: Requester,
    private readonly hosts: HostConnections,
    private readonly reports: ComputerReports,
  ) {}

  /**
   * Returns what is answered to the request. Errors: those of `computersRequests.openActions`; upstream
   * `actions_outcome_unknown` if the computer is lost after the plan was sent.
   */
  async run(command: ComputerRef, plan: ActionPlan): Promise<ActionsAnswer> {
    const body = Buffer.from(JSON.stringify(plan));
    const actions = plan.units.reduce((sum, unit) => sum + unit.actions.length, 0);
    const outcome = await withFreshTicket(
      (refusedEpoch) =>
        this.requester
          .request(computersRequests.openActions, { ...command, actions, refusedEpoch })
          .catch((error: unknown) => {
            throw asNotBegun(error);
          }),
      (opened) => this.#send(opened, body),
    );
    this.reports.add(computersRequests.reportActions, {
      ...command,
      results: outcome.units.length,
      images: imagesOf(outcome),
    });
    return answerActions(plan, outcome);
  }

  async #send({ ticket, ...target }: OpenedTransfer, body: Buffer): Promise<PlanOutcome> {
    const response = await this.#post(target, ticket, body);
    if (response.statusCode === REFUSED) throw publicErrorOf(parseTransferRefusal(await readText(response)));
    try {
      return await readOutcome(response);
    } catch (error) {
      response.destroy();
      throw isDomainError(error) ? error : outcomeUnknown(error);
    }
  }

  /** On a connection of its own: nobody knows whether one that is kept was closed before or after the plan arrived. */
  #post(target: HostTarget, ticket: string, body: Buffer): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = this.hosts.request(target, {
      agent: false,
      method: 'POST',
      timeout: CONNECT_MS,
      headers: {
        authorization: `Bearer ${ticket}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    let isConnected = false;
    request.once('timeout', () => request.destroy(new Error('The host is silent.')));
    request.once('socket', (socket) => {
      socket.once(this.hosts.tlsOf(target) === undefined ? 'connect' : 'secureConnect', () => {
        isConnected = true;
        socket.setTimeout(SILENCE_MS);
      });
    });
    request.on('error', (error) => {
      reject(isConnected ? outcomeUnknown(error) : new TicketLost('not_connected', { cause: error }));
    });
    request.once('response', resolve);
    request.end(body);
    return promise;
  }
}

const imagesOf = ({ units, closing }: PlanOutcome): number =>
  units.filter((unit) => unit.closing !== undefined || unit.seen?.kind === 'image').length +
  (closing === null ? 0 : 1);

/** Until a host has the plan, nothing is done. */
const asNotBegun = (error: unknown): unknown => {
  if (!isDomainError(error)) return error;
  const { kind, code, message, context } = error;
  return new DomainError(kind, code, message, context, {
    cause: error,
    effect: error.effect === 'final' ? 'final' : 'none',
  });
};

/** 502: the computer was lost after it was sent actions. */
export const outcomeUnknown = (cause?: unknown): DomainError =>
  new DomainError(
    'upstream',
    'actions_outcome_unknown',
    'The computer was lost: some or all of the actions may have been done. Take a screenshot before you go on.',
    {},
    { cause, effect: 'unknown' },
  );
