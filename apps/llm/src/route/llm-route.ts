import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LlmCaller } from '@berth/contracts/agents';
import { isDomainError } from '@berth/kernel';
import { FairShares, type HttpExchange } from '@berth/sockets';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { LlmConfig } from '../config.js';
import { dialectOf, operationsOf, type Operation } from '../dialect/operation.js';
import {
  bodyOf,
  Refusal,
  refusalOf,
  serviceUnavailable,
  tooManyCalls,
  unauthenticated,
} from '../dialect/refusal.js';
import { modelList } from '../models/model-list.js';
import { ModelCatalogue } from '../models/model-catalogue.js';
import { agentCredentialOf } from './agent-credential.js';
import { CallerLookup } from './caller-lookup.js';
import { CallExchange } from './call-exchange.js';
import { MeteredCalls } from './metered-calls.js';
import { prepareCall, shownModel, type PreparedCall } from './prepared-call.js';
import { readBody, type ReadBody } from './read-body.js';

/** Serves the route; every error has the shape of the dialect. */
@Injectable()
export class LlmRoute {
  /** Of the connections, by account. */
  readonly #shares: FairShares;

  constructor(
    private readonly callers: CallerLookup,
    private readonly models: ModelCatalogue,
    private readonly calls: MeteredCalls,
    private readonly exchange: CallExchange,
    private readonly log: Logger,
    @Inject(LlmConfig) { maxConnections }: Pick<LlmConfig, 'maxConnections'>,
  ) {
    this.#shares = new FairShares(maxConnections);
  }

  async serve(http: HttpExchange): Promise<void> {
    const path = (http.request.url ?? '/').split('?', 1)[0] ?? '/';
    try {
      await this.run(path, http);
    } catch (error) {
      const refusal = this.toRefusal(error);
      if (http.response.headersSent || http.response.destroyed) http.response.destroy();
      else respond(http.response, refusal.status, bodyOf(dialectOf(path), refusal), refusal.headers);
    }
  }

  private async run(path: string, http: HttpExchange): Promise<void> {
    const { request, response } = http;
    const caller = await this.authenticate(request);
    if (!this.#shares.hold(caller.accountId, response)) throw tooManyCalls();
    const operation = operationAt(path, request.method ?? '');
    if (operation.name === 'models') {
      const { dialect } = operation;
      return respond(response, 200, modelList(dialect, this.models.list(dialect)));
    }
    const read = await readBody(http);
    const prepared = await this.prepare(operation, read, request, caller);
    const admitted = operation.isFree
      ? { callId: null, outputTokens: 0 }
      : await this.calls.admit(prepared, caller);
    await this.exchange.run(prepared, admitted, http);
  }

  private async authenticate({ headers }: IncomingMessage): Promise<LlmCaller> {
    const credential = agentCredentialOf(headers);
    if (credential === undefined) throw unauthenticated();
    return this.callers.find(credential);
  }

  /** Errors, each recorded: 403 for a suspended caller, and those of `prepareCall`. */
  private async prepare(
    operation: Operation,
    read: ReadBody,
    { headers }: IncomingMessage,
    caller: LlmCaller,
  ): Promise<PreparedCall> {
    try {
      const prepared = prepareCall(operation, read, headers, this.models);
      if (caller.suspended !== null) throw refusalOf(caller.suspended);
      return prepared;
    } catch (error) {
      if (error instanceof Refusal && !operation.isFree)
        await this.calls.refuse(operation, shownModel(read.body), caller, error.code ?? error.type);
      throw error;
    }
  }

  private toRefusal(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (isDomainError(error, 'unauthenticated')) return unauthenticated();
    if (isDomainError(error) && error.kind !== 'internal') return serviceUnavailable();
    this.log.error({ err: error }, 'an LLM call failed');
    return new Refusal(500, 'api_error', 'internal_error', 'An internal error occurred.');
  }
}

const operationAt = (path: string, method: string): Operation => {
  const operations = operationsOf(path);
  const operation = operations.find((one) => one.method === method);
  if (operation !== undefined) return operation;
  if (operations.length === 0)
    throw new Refusal(404, 'not_found_error', 'not_found', 'There is no such route for models.');
  const allow = operations.map((one) => one.method).join(', ');
  throw new Refusal(
    405,
    'invalid_request_error',
    'method_not_allowed',
    'This path does not accept that method.',
    {
      allow,
    },
  );
};

const respond = (
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void => {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
};
