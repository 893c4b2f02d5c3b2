import { isObject } from './answers.js';
import { jsonBody } from './body.js';
import type { CallOptions } from './config.js';
import { ServiceConflictError, ServiceNotFoundError } from './errors.js';
import type { ListAnswer } from './page.js';
import type { Agent, CreateAgentBody } from './schemas.generated.js';
import { TimeLimit } from './time-limit.js';
import type { Transport } from './transport.js';
import { route, textOf } from './values.js';

const LOOK_UP_MS = 5_000;
const LOOK_UP_PAUSE_MS = 200;

/** The agent that `provision` returns, or creates. */
export interface ProvisionAgent extends Omit<CreateAgentBody, 'templateId' | 'externalId'> {
  /** An id of yours, by which the agent is found. */
  readonly externalId: string;
  /** The id of a template, from `templates.list()`. */
  readonly template: string;
}

/** Finds the agent with an external id, or creates it. */
export const provision = async (
  transport: Transport,
  { template, ...agent }: ProvisionAgent,
  options: CallOptions = {},
): Promise<Agent> => {
  textOf(template, 'template');
  if (textOf(agent.externalId, 'externalId') === '') throw new TypeError('externalId must not be empty.');
  const body = jsonBody({ ...agent, templateId: template });
  const limit = new TimeLimit(transport.timeoutOf(options), options.signal);
  const search = new Search(transport, agent.externalId, limit, options);
  try {
    const found = await search.find();
    if (found !== undefined) return found;
    return await transport.object<Agent>({ method: 'POST', path: '/api/agents', body }, search.options);
  } catch (error) {
    if (!(error instanceof ServiceConflictError) || !TAKEN.has(error.code ?? '')) throw error;
    const winner = await search.winner(error);
    if (winner === undefined) throw error;
    return winner;
  } finally {
    limit.close();
  }
};

const TAKEN = new Set(['external_id_taken', 'agent_name_taken']);

class Search {
  readonly #transport: Transport;
  readonly #externalId: string;
  readonly #limit: TimeLimit;
  readonly #options: CallOptions;

  constructor(transport: Transport, externalId: string, limit: TimeLimit, options: CallOptions) {
    this.#transport = transport;
    this.#externalId = externalId;
    this.#limit = limit;
    this.#options = options;
  }

  /** Those of the caller, within the time that is left of the whole. */
  get options(): CallOptions {
    return { ...this.#options, timeout: Math.max(1, this.#limit.remaining) };
  }

  async find(): Promise<Agent | undefined> {
    let cursor: string | null | undefined;
    do {
      const query = { externalId: this.#externalId, cursor };
      const page: ListAnswer<Agent> = await this.#transport.object(
        { method: 'GET', path: '/api/agents', query },
        this.options,
      );
      const found = page.items.find(({ externalId }) => externalId === this.#externalId);
      if (found !== undefined) return found;
      cursor = page.nextCursor;
    } while (cursor !== null && cursor !== undefined);
    return undefined;
  }

  /** The agent that a concurrent call has created, which may not be seen yet; undefined if it is another. */
  async winner(conflict: ServiceConflictError): Promise<Agent | undefined> {
    const taker = isObject(conflict.detail) ? conflict.detail['agentId'] : undefined;
    const end = performance.now() + Math.min(LOOK_UP_MS, this.#limit.remaining);
    for (;;) {
      const found = await this.find();
      if (found !== undefined) return found;
      const seen = typeof taker === 'string' ? await this.#seen(taker) : undefined;
      if (seen !== undefined) return seen.externalId === this.#externalId ? seen : undefined;
      if (performance.now() + LOOK_UP_PAUSE_MS >= end) return undefined;
      await this.#limit.sleep(LOOK_UP_PAUSE_MS);
    }
  }

  async #seen(id: string): Promise<Agent | undefined> {
    try {
      return await this.#transport.object<Agent>(
        { method: 'GET', path: route`/api/agents/${id}` },
        this.options,
      );
    } catch (error) {
      if (error instanceof ServiceNotFoundError) return undefined;
      throw error;
    }
  }
}
