import { failureOf, chatEvents, resultOf, type ChatAnswer, type ChatEvent, type ChatResult } from './chat.js';
import { jsonBody, optionalJsonBody } from './body.js';
import type { Call } from './call.js';
import { commandCall, type CommandOptions, type CommandResult } from './commands.js';
import type { CallOptions } from './config.js';
import { LogStream } from './log-stream.js';
import type { PagePromise } from './page.js';
import { provision, type ProvisionAgent } from './provision.js';
import type { QueryOf } from './query-types.js';
import { Resource } from './resource.js';
import type { Agent, AgentStats, CreateAgentBody, LogsPage, ScheduledWake } from './types.js';
import { route, textOf, type Query } from './values.js';

/** Milliseconds: a message may wait for its answer for 600 s. */
const CHAT_MS = 620_000;

/** A change is answered 60 s after chats have ended. */
const CHANGE_SECONDS = 90;

/** Filters and the page of `agents.list`. */
export type ListAgents = QueryOf<'/api/agents'>;
/** Which entries of a log. `level` is the lowest; `limit` how many, 1 to 1,000, by default 100. */
export type LogsQuery = QueryOf<'/api/agents/{agent_id}/logs', 'follow'>;

/** What of an agent is changed. */
export interface UpdateAgent {
  /** Unique in the account. */
  readonly name?: string | undefined;
  /** An id of yours; null clears it. */
  readonly externalId?: string | null | undefined;
  /** At most 65,536 bytes of UTF-8; null clears them. They hold from the next start on. */
  readonly instructions?: string | null | undefined;
  /** Seconds without activity until it sleeps: 0 (always on) or 15 to 604,800. */
  readonly idleTtlSeconds?: number | undefined;
  /** All labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** They hold from the next start on. */
  readonly resources?: CreateAgentBody['resources'] | undefined;
}

/** What to wait for before an agent is returned. */
export interface GetAgent {
  /** Answer once the agent is in this state or `failed`; the agent is returned in any case. */
  readonly wait?: Agent['state'] | undefined;
  /** Seconds to wait at most, 1 to 60, by default 30. */
  readonly waitTimeout?: number | undefined;
}

/** How an agent is stopped. */
export interface ChangeAgent {
  /** Seconds that chats in progress may go on, 0 to 600, by default 0. */
  readonly drainSeconds?: number | undefined;
}

/** The conversation of a message. */
export interface ChatOptions {
  /** The conversation to continue or open; without it the current one. */
  readonly conversationId?: string | null | undefined;
}

/** `berth.agents` */
export class Agents extends Resource {
  /** Lists agents, newest first: `GET /api/agents`. */
  list(query: ListAgents = {}, options?: CallOptions): PagePromise<Agent> {
    return this.pages(() => '/api/agents', options, query);
  }

  /**
   * Creates an agent, which is `deploying` when this returns: `POST /api/agents`. Rejects with `ServiceConflictError`
   * `agent_name_taken` or `external_id_taken`.
   */
  async create(agent: CreateAgentBody, options?: CallOptions): Promise<Agent> {
    return this.transport.object({ method: 'POST', path: '/api/agents', body: jsonBody(agent) }, options);
  }

  /**
   * Returns the agent with this `externalId`, and creates it if there is none. Later calls return it as it is, whatever
   * else they say. It does not wait until the agent is `running`; `get(id, {wait: 'running'})` does. Rejects with
   * `ServiceConflictError` if another agent has the name.
   */
  async provision(agent: ProvisionAgent, options?: CallOptions): Promise<Agent> {
    return provision(this.transport, agent, options);
  }

  /** Changes what is given of an agent: `PATCH /api/agents/{id}`. */
  async update(id: string, changes: UpdateAgent, options?: CallOptions): Promise<Agent> {
    const body = jsonBody(changes);
    return this.transport.object({ method: 'PATCH', path: route`/api/agents/${id}`, body }, options);
  }

  /** Returns an agent: `GET /api/agents/{id}`. */
  async get(id: string, { wait, waitTimeout }: GetAgent = {}, options?: CallOptions): Promise<Agent> {
    return this.read(route`/api/agents/${id}`, options, { wait, timeout: waitTimeout });
  }

  /** Starts or wakes an agent. Returns it once it is `running`, or after 60 s as it then is. */
  async start(id: string, change?: ChangeAgent, options?: CallOptions): Promise<Agent> {
    return this.#change(route`/api/agents/${id}/start`, change, options);
  }

  /** Stops an agent, which nothing wakes by itself then. Returns it once it is `stopped`, or after 60 s as it is. */
  async stop(id: string, change?: ChangeAgent, options?: CallOptions): Promise<Agent> {
    return this.#change(route`/api/agents/${id}/stop`, change, options);
  }

  /** Puts an agent to sleep until its next use; executions that run end `failed`. Returns it once it is `sleeping`. */
  async sleep(id: string, change?: ChangeAgent, options?: CallOptions): Promise<Agent> {
    return this.#change(route`/api/agents/${id}/sleep`, change, options);
  }

  /** Restarts an agent. Returns it once it is `running`, or after 60 s as it then is. */
  async restart(id: string, change?: ChangeAgent, options?: CallOptions): Promise<Agent> {
    return this.#change(route`/api/agents/${id}/restart`, change, options);
  }

  /** Deletes an agent with its volume: `DELETE /api/agents/{id}`. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.nothing({ method: 'DELETE', path: route`/api/agents/${id}` }, options);
  }

  /** What an agent uses now: `GET /api/agents/{id}/stats`. Wakes nobody. */
  async stats(id: string, options?: CallOptions): Promise<AgentStats> {
    return this.read(route`/api/agents/${id}/stats`, options);
  }

  /** Lists the wakes that an agent has scheduled: `GET /api/agents/{id}/schedules`. Wakes nobody. */
  schedules(id: string, options?: CallOptions): PagePromise<ScheduledWake> {
    return this.pages(() => route`/api/agents/${id}/schedules`, options);
  }

  /**
   * Sends a message and returns the reply: `POST /api/agents/{id}/chat`. A sleeping agent is woken. If the message was
   * not answered, because the agent or its model failed, `error` says why. May take 620 s by default, and is repeated
   * only after 429, so that no message is delivered twice.
   */
  async chat(
    id: string,
    message: string,
    chat: ChatOptions = {},
    options?: CallOptions,
  ): Promise<ChatResult> {
    try {
      return resultOf(await this.transport.object<ChatAnswer>(chatCall(id, message, chat), options));
    } catch (thrown) {
      const error = failureOf(thrown);
      if (error === undefined) throw thrown;
      return { response: '', conversationId: chat.conversationId ?? null, error };
    }
  }

  /**
   * Like `chat`, and iterates over the reply as it comes: some `delta`, then `done` or `error`. The message is sent when
   * the iteration begins.
   */
  async *chatStream(
    id: string,
    message: string,
    chat: ChatOptions = {},
    options?: CallOptions,
  ): AsyncGenerator<ChatEvent, void> {
    const call = { ...chatCall(id, message, chat), headers: { accept: 'text/event-stream' } };
    let answer;
    try {
      answer = await this.transport.open(call, options);
    } catch (thrown) {
      const error = failureOf(thrown);
      if (error === undefined) throw thrown;
      yield { type: 'error', error };
      return;
    }
    yield* chatEvents(answer, this.transport.redact);
  }

  /**
   * Runs a command and returns its result: `POST /api/agents/{id}/exec`. A list of arguments is quoted by the service.
   * Wakes a sleeping agent. Repeated only if the service guarantees that the command did not start.
   */
  async exec(
    id: string,
    command: string | readonly string[],
    how?: CommandOptions,
    options?: CallOptions,
  ): Promise<CommandResult> {
    return this.transport.object(commandCall(route`/api/agents/${id}/exec`, command, how), options);
  }

  /** The newest entries of a log, oldest first: `GET /api/agents/{id}/logs`. Wakes nobody. */
  async logs(id: string, query?: LogsQuery, options?: CallOptions): Promise<LogsPage> {
    return this.read(route`/api/agents/${id}/logs`, options, query);
  }

  /**
   * Iterates over the newest entries of a log and all later ones, as they are written. Ends with `break`, `close()` or
   * the `signal`; throws what the service refuses.
   */
  followLogs(id: string, query?: LogsQuery, options: CallOptions = {}): LogStream {
    const call = (): Call => ({
      method: 'GET',
      path: route`/api/agents/${id}/logs`,
      query: { ...(query as Query), follow: true },
      headers: { accept: 'text/event-stream' },
    });
    return new LogStream(this.transport, call, options);
  }

  async #change(path: string, change?: ChangeAgent, options?: CallOptions): Promise<Agent> {
    const leastTimeout = ((change?.drainSeconds ?? 0) + CHANGE_SECONDS) * 1_000;
    const call: Call = { method: 'POST', path, body: optionalJsonBody(change), leastTimeout };
    return this.transport.object(call, options);
  }
}

const chatCall = (id: string, message: string, { conversationId }: ChatOptions): Call => ({
  method: 'POST',
  path: route`/api/agents/${id}/chat`,
  body: jsonBody({ message: textOf(message, 'message'), conversation_id: conversationId }),
  repeat: 'busy',
  leastTimeout: CHAT_MS,
});
