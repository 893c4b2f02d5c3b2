import { agentsRequests } from '@berth/contracts/agents';
import { isDomainError } from '@berth/kernel';
import { neverReached, type Requester } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { answerTo, type ErrorAnswer } from './error-answer.js';
import type { ApiReply, ApiRequest } from './fastify-types.js';
import { HttpRefusal } from './http-refusal.js';
import { wasLate } from './late-bodies.js';
import { agentIdOf, agentNotFound } from './request-hooks.js';
import { hasBrokenPath } from './request-target.js';

/** What a request is refused for only after it is known that the agent is there. */
const AFTER_NOT_FOUND: ReadonlySet<number> = new Set([400, 409, 413, 415]);

/** Codes that leave open whether a command took effect. */
const UNKNOWN_OUTCOMES: ReadonlySet<string> = new Set([
  'service_unavailable',
  'deadline_exceeded',
  'internal_error',
  'execution_outcome_unknown',
]);

/** The one place where errors of hooks, parsers and handlers become answers. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly requester: Requester,
    private readonly log: Logger,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest(), http.getResponse()).catch((failure: unknown) =>
      this.log.error({ err: failure }, 'an error could not be answered'),
    );
  }

  private async answer(error: unknown, request: ApiRequest, reply: ApiReply): Promise<void> {
    if (leftInBody(error, request)) {
      const what = wasLate(request.raw)
        ? 'a body did not come in time'
        : 'a client hung up in the middle of its body';
      this.log.info({ route: request.routeOptions?.url }, what);
      // Nobody reads it; the reply has to end all the same.
      await reply.code(408).send();
      return;
    }
    if (reply.sent || reply.raw.headersSent) {
      this.log.error({ err: error }, 'failed after the answer had begun');
      reply.raw.destroy();
      return;
    }
    let answer = answerTo(error);
    if (answer.status === 500)
      this.log.error({ err: error, route: request.routeOptions?.url }, 'a request failed');
    if (await this.isForMissingAgent(error, answer, request)) answer = answerTo(agentNotFound());
    request.outcomeUnknown = !isDomainError(error)
      ? answer.status === 500
      : (UNKNOWN_OUTCOMES.has(error.code) && !neverReached(error)) ||
        error.context['mayHaveBeenDone'] === true;
    await reply.code(answer.status).headers(answer.headers).send(answer.body);
  }

  /** 404 comes before what the gateway itself refuses (contract §1); services see to it themselves. */
  private async isForMissingAgent(
    error: unknown,
    { status }: ErrorAnswer,
    request: ApiRequest,
  ): Promise<boolean> {
    const agentId = agentIdOf(request);
    if (isDomainError(error) || !AFTER_NOT_FOUND.has(status) || hasBrokenPath(request.raw)) return false;
    if (agentId === undefined || request.principal === null) return false;
    const { accountId } = request.principal;
    try {
      await this.requester.request(
        agentsRequests.get,
        { accountId, agentId, wait: null },
        { deadlineMs: 2_000 },
      );
      return false;
    } catch (failure) {
      return isDomainError(failure, 'not_found');
    }
  }
}

/** Whether the request broke off in its body, and the error says no more than that. */
const leftInBody = (error: unknown, { raw }: ApiRequest): boolean => {
  if (raw.complete || !raw.destroyed) return false;
  return (
    error instanceof HttpRefusal || (error instanceof Error && 'code' in error && error.code === 'ECONNRESET')
  );
};
