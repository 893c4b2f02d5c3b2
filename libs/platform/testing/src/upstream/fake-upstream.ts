import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { message, messageEvents, messagesProblem, messagesQuestion } from './anthropic-messages.js';
import type { Behaviour, Dialect, ReceivedRequest, StreamPart } from './behaviour.js';
import { objectOf, textOf, type Body } from './body.js';
import { chatChunks, chatCompletion, chatProblem, chatQuestion } from './openai-chat.js';
import { embeddings } from './openai-embeddings.js';
import { response as responseObject, responseEvents, responsesQuestion } from './openai-responses.js';
import { dialectOf, errorBody, errorPart, keyOf, modelList, providerHeaders } from './provider.js';
import { countInput, replyTo } from './reply.js';
import { sendJson, sendStream, wait } from './send.js';

/** What a route of the provider returns for a body: JSON, or the parts of a stream. */
type Served = { readonly json: object } | { readonly parts: Iterable<StreamPart> };

interface ProviderRoute {
  readonly problem?: (body: Body) => readonly [message: string, parameter?: string] | string | undefined;
  readonly serve: (body: Body, behaviour: Behaviour) => Served;
}

const ROUTES: Readonly<Record<string, ProviderRoute>> = {
  '/v1/chat/completions': {
    problem: chatProblem,
    serve: (body, behaviour) => {
      const question = chatQuestion(body);
      const reply = replyTo(question, behaviour);
      if (body['stream'] !== true) return { json: chatCompletion(reply, question.choices) };
      const includeUsage = objectOf(body['stream_options'])['include_usage'] === true;
      return { parts: chatChunks(reply, question.choices, includeUsage) };
    },
  },
  '/v1/responses': {
    serve: (body, behaviour) => {
      const reply = replyTo(responsesQuestion(body), behaviour);
      return body['stream'] === true
        ? { parts: responseEvents(reply, body) }
        : { json: responseObject(reply, body) };
    },
  },
  '/v1/embeddings': { serve: (body, behaviour) => ({ json: embeddings(body, behaviour) }) },
  '/v1/messages': {
    problem: (body) => messagesProblem(body, false),
    serve: (body, behaviour) => {
      const reply = replyTo(messagesQuestion(body), behaviour);
      return body['stream'] === true ? { parts: messageEvents(reply) } : { json: message(reply) };
    },
  },
  '/v1/messages/count_tokens': {
    problem: (body) => messagesProblem(body, true),
    serve: (body) => ({ json: { input_tokens: countInput(messagesQuestion(body).input) } }),
  },
};

/** The only key that the upstream accepts. */
export const UPSTREAM_KEY = 'upstream-key-4f7b2c';

/**
 * A provider of language models on loopback, by plain HTTP, for both dialects: chat completions, responses, embeddings
 * and models of OpenAI, messages and token counts of Anthropic. The same request always gets the same response; a
 * behaviour, given for a model by its name, makes it slow or faulty. Keeps every request that it received.
 */
export class FakeUpstream {
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #requests: ReceivedRequest[] = [];

  private constructor(private readonly server: Server) {}

  static async start({
    host = '127.0.0.1',
    port = 0,
  }: { readonly host?: string; readonly port?: number } = {}): Promise<FakeUpstream> {
    const server = createServer((request, response) => void upstream.#handle(request, response));
    const upstream = new FakeUpstream(server);
    server.listen(port, host);
    await once(server, 'listening');
    return upstream;
  }

  /** `http://127.0.0.1:<port>`, without `/v1`. */
  get url(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  /** Oldest first. */
  get requests(): readonly ReceivedRequest[] {
    return this.#requests;
  }

  /** From now on, requests for this model are handled like this. */
  on(model: string, behaviour: Behaviour): void {
    this.#behaviours.set(model, behaviour);
  }

  /** The requests for this model. */
  requestsFor(model: string): readonly ReceivedRequest[] {
    return this.#requests.filter(({ body }) => body['model'] === model);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return;
    const { pathname } = new URL(request.url ?? '/', this.url);
    const { method = 'GET', headers } = request;
    const received: ReceivedRequest = { method, path: request.url ?? '/', headers, body, hungUp: false };
    this.#requests.push(received);
    response.once('close', () => (received.hungUp = !response.writableFinished && !response.errored));
    const behaviour = this.#behaviours.get(textOf(body['model'])) ?? {};
    if (behaviour.hangs === true) return;
    await wait(behaviour.beforeHeaders);
    if (response.destroyed) return;
    await new Exchange(dialectOf(pathname, headers), response, behaviour).respond(pathname, request, body);
  }
}

/** One request and its response. */
class Exchange {
  constructor(
    private readonly dialect: Dialect,
    private readonly response: ServerResponse,
    private readonly behaviour: Behaviour,
  ) {}

  async respond(path: string, request: IncomingMessage, body: Body): Promise<void> {
    const { behaviour, dialect } = this;
    if (keyOf(dialect, request.headers) !== UPSTREAM_KEY) return this.#refuse(401, 'Incorrect API key.');
    if (behaviour.redirectTo !== undefined) return this.#redirect(behaviour.redirectTo);
    if (behaviour.status !== undefined) return this.#refuse(behaviour.status, 'The upstream fails.');
    if (path === '/v1/models') return this.#json(modelList(dialect));
    const route = ROUTES[path];
    if (route === undefined || request.method !== 'POST') return this.#refuse(404, `Unknown URL ${path}.`);
    const problem = this.#problemOf(route, request, body);
    if (problem !== undefined) return this.#refuse(400, ...problem);
    const error = errorBody(dialect, dialect === 'openai' ? 500 : 529, 'The upstream is overloaded.');
    if (behaviour.errorIn200 === 'body') return this.#json(error);
    const served = route.serve(body, behaviour);
    if ('json' in served) return this.#json(behaviour.errorIn200 === 'stream' ? error : served.json);
    const parts = behaviour.errorIn200 === 'stream' ? this.#failing(served.parts) : served.parts;
    await sendStream(this.response, this.#headers(200), parts, behaviour);
  }

  #problemOf(route: ProviderRoute, request: IncomingMessage, body: Body) {
    if (this.dialect === 'anthropic' && request.headers['anthropic-version'] === undefined)
      return ['anthropic-version: header is required'] as const;
    if (textOf(body['model']) === '') return ['you must provide a model parameter'] as const;
    const problem = route.problem?.(body);
    return typeof problem === 'string' ? ([problem] as const) : problem;
  }

  /** An error after the first part. */
  *#failing(parts: Iterable<StreamPart>): Generator<StreamPart> {
    for (const part of parts) {
      yield part;
      return yield errorPart(this.dialect, 'The upstream is overloaded.');
    }
  }

  #json(body: object): void {
    sendJson(this.response, 200, this.#headers(200), body, this.behaviour);
  }

  #refuse(status: number, text: string, parameter?: string): void {
    sendJson(this.response, status, this.#headers(status), errorBody(this.dialect, status, text, parameter));
  }

  #redirect(location: string): void {
    this.response.writeHead(307, { ...this.#headers(307), location }).end();
  }

  #headers(status: number): Readonly<Record<string, string>> {
    return { ...providerHeaders(this.dialect, status), ...this.behaviour.headers };
  }
}

const readBody = async (request: IncomingMessage): Promise<Body> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
};
