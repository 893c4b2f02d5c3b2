import { Account, Audit, FeedbackReports, Keys } from './account.js';
import { Agents } from './agents.js';
import { anyBody } from './any-body.js';
import { Computers } from './computers.js';
import { settingsOf, type BerthOptions, type CallOptions } from './config.js';
import { Deployments } from './deployments.js';
import { EndUsers } from './end-users.js';
import { Env } from './env.js';
import { Files } from './files.js';
import { Operations } from './operations.js';
import { Templates } from './templates.js';
import { Transport, type ServiceResponse } from './transport.js';
import type { Health } from './types.js';
import { Usage } from './usage.js';
import { headersOf, plainPath, type HeaderFields, type Query } from './values.js';
import { Webhooks } from './webhooks.js';

/** What `request` sends. */
export interface RequestOptions {
  /** Lists repeat their parameter. */
  readonly query?: Query | undefined;
  /** Text and bytes are sent as they are, everything else as JSON. */
  readonly body?: unknown;
  readonly headers?: HeaderFields | undefined;
}

/**
 * A client of Berth.
 *
 * @example
 *   const berth = new Berth();
 *   const agent = await berth.agents.provision({ externalId: 'support', name: 'Support', template: 'echo' });
 */
export class Berth {
  readonly templates: Templates;
  readonly agents: Agents;
  readonly files: Files;
  readonly env: Env;
  readonly deployments: Deployments;
  readonly webhooks: Webhooks;
  readonly endUsers: EndUsers;
  readonly usage: Usage;
  readonly computers: Computers;
  readonly keys: Keys;
  readonly account: Account;
  readonly audit: Audit;
  readonly feedback: FeedbackReports;
  readonly operations: Operations;
  readonly #transport: Transport;

  /** Throws a `ServiceAuthError` without a key, and a TypeError for other options that cannot be used. */
  constructor(options: BerthOptions = {}) {
    const transport = new Transport(settingsOf(options));
    this.#transport = transport;
    this.templates = new Templates(transport);
    this.agents = new Agents(transport);
    this.files = new Files(transport);
    this.env = new Env(transport);
    this.deployments = new Deployments(transport);
    this.webhooks = new Webhooks(transport);
    this.endUsers = new EndUsers(transport);
    this.usage = new Usage(transport);
    this.computers = new Computers(transport);
    this.keys = new Keys(transport);
    this.account = new Account(transport);
    this.audit = new Audit(transport);
    this.feedback = new FeedbackReports(transport);
    this.operations = new Operations(transport);
  }

  /** Where Berth is. */
  get baseUrl(): string {
    return this.#transport.baseUrl;
  }

  /** The state of the service and of what it depends on: `GET /health`. */
  async health(options?: CallOptions): Promise<Health> {
    return this.#transport.object({ method: 'GET', path: '/health' }, options);
  }

  /**
   * Calls any route. `path` begins with one `/`. A POST is repeated only under an `Idempotency-Key` of yours.
   *
   * @example
   *   const { data } = await berth.request('GET', `/api/agents/${id}/exec/${executionId}`);
   */
  async request(
    method: string,
    path: string,
    { query = {}, body, headers }: RequestOptions = {},
    options?: CallOptions,
  ): Promise<ServiceResponse> {
    const own = Object.fromEntries(headersOf(headers));
    const sent = methodOf(method);
    if (body !== undefined && (sent === 'GET' || sent === 'HEAD'))
      throw new TypeError(`A ${sent} has no body.`);
    return this.#transport.anything(
      { method: sent, path: plainPath(path), query, body: anyBody(body), headers: own, makesKey: false },
      options,
    );
  }
}

const methodOf = (method: string): string => {
  if (typeof method !== 'string' || !/^[A-Za-z-]+$/.test(method) || /^(connect|trace|track)$/i.test(method))
    throw new TypeError('The method cannot be sent.');
  return method.toUpperCase();
};
