import { connectionError, invalidResponse, isObject, parsed, refusalOf } from './answers.js';
import type { Sent } from './body.js';
import { prepare, timeoutOf, type Call, type PreparedCall } from './call.js';
import type { CallOptions, Settings } from './config.js';
import { ServiceError } from './errors.js';
import { nextWait } from './retry.js';
import { withoutOwnLimits } from './runtime.js';
import { OpenAnswer } from './open-answer.js';
import { TimeLimit } from './time-limit.js';
import { shortBy } from './whole-body.js';

/** An answer that was read to its end. */
interface WholeAnswer {
  readonly response: Response;
  readonly body: Uint8Array;
}

/** A repeated DELETE found nothing: an attempt before it has taken effect. */
class AlreadyGone {
  constructor(readonly error: ServiceError) {}
}

/** An answer to `request`. */
export interface ServiceResponse<T = unknown> {
  /** The HTTP status, a 2xx. */
  readonly status: number;
  readonly headers: Headers;
  /** The body: parsed if it is JSON, else as text; null without a body. */
  readonly data: T;
}

/** Sends calls, repeats failed attempts and reads the answers. It alone knows the key. */
export class Transport {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The address of the service. */
  get baseUrl(): string {
    return this.#settings.baseUrl;
  }

  /** Sends a call and returns the object in its answer. */
  async object<T>(call: Call, options: CallOptions = {}, gone?: T): Promise<T> {
    const answer = await this.#whole(call, options);
    if (answer instanceof AlreadyGone) {
      if (gone === undefined) throw answer.error;
      return gone;
    }
    const text = textOf(answer);
    const value = parsed(text);
    if (!isObject(value)) throw invalidResponse(answer.response, text, this.redact);
    return value as T;
  }

  /** Sends a call whose answer has no body. */
  async nothing(call: Call, options: CallOptions = {}): Promise<void> {
    const answer = await this.#whole(call, options);
    if (answer instanceof AlreadyGone) return;
    const text = textOf(answer);
    if (text !== '' && parsed(text) === undefined) throw invalidResponse(answer.response, text, this.redact);
  }

  /** Sends a call and returns the bytes of its answer. */
  async bytes(call: Call, options: CallOptions = {}): Promise<Uint8Array> {
    const answer = await this.#whole(call, options);
    if (answer instanceof AlreadyGone) throw answer.error;
    return answer.body;
  }

  /** Sends a call and returns whatever is answered. */
  async anything(call: Call, options: CallOptions = {}): Promise<ServiceResponse> {
    const answer = await this.#whole(call, options);
    if (answer instanceof AlreadyGone) {
      const { status = 404, headers = new Headers() } = answer.error;
      return { status, headers, data: null };
    }
    const text = textOf(answer);
    const { status, headers } = answer.response;
    const value = parsed(text);
    if (text === '') return { status, headers, data: null };
    return { status, headers, data: value === undefined ? text : value };
  }

  /** Sends a call and returns its answer once the headers are there. It must be read or closed. */
  async open(call: Call, options: CallOptions = {}): Promise<OpenAnswer> {
    const prepared = prepare(call, this.#settings, options);
    const limit = new TimeLimit(prepared.timeout, options.signal);
    try {
      const response = await this.#repeat(prepared, limit, (one) => Promise.resolve(one));
      if (response instanceof AlreadyGone) throw response.error;
      limit.pause();
      return new OpenAnswer(response, limit, prepared.timeout, this.redact);
    } catch (error) {
      limit.close();
      throw error;
    }
  }

  /** Milliseconds that a call with these options may take. */
  timeoutOf(options: CallOptions, leastTimeout = 0): number {
    return timeoutOf({ leastTimeout }, this.#settings, options);
  }

  /** Hides the key where something shows it. */
  readonly redact = (text: string): string => {
    const { apiKey } = this.#settings;
    return apiKey.length < 4 ? text : text.replaceAll(apiKey, '[key]');
  };

  async #whole(call: Call, options: CallOptions): Promise<WholeAnswer | AlreadyGone> {
    const prepared = prepare(call, this.#settings, options);
    const limit = new TimeLimit(prepared.timeout, options.signal);
    try {
      return await this.#repeat(prepared, limit, async (response) => ({
        response,
        body: await bodyOf(response, limit),
      }));
    } finally {
      limit.close();
    }
  }

  async #repeat<T>(
    call: PreparedCall,
    limit: TimeLimit,
    read: (response: Response) => Promise<T>,
  ): Promise<T | AlreadyGone> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(call, limit, read);
      } catch (error) {
        if (!(error instanceof ServiceError) || limit.signal.aborted) throw error;
        if (attempt > 0 && call.method === 'DELETE' && error.status === 404) return new AlreadyGone(error);
        const wait = nextWait(call, error, attempt);
        if (wait === undefined || wait >= limit.remaining) throw error;
        await limit.sleep(wait);
      }
    }
  }

  async #attempt<T>(
    call: PreparedCall,
    limit: TimeLimit,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    limit.signal.throwIfAborted();
    const body = await call.body?.open();
    try {
      const response = await limit.within(this.#fetch(call, body, limit.signal));
      if (response.ok) return await read(response);
      const text = new TextDecoder().decode(await bodyOf(response, limit));
      throw refusalOf(response, text, this.redact);
    } catch (error) {
      if (limit.signal.aborted) throw limit.signal.reason;
      if (error instanceof ServiceError) throw error;
      // What the caller's own stream threw is no failure of the connection.
      const failure = call.body?.failure?.();
      if (failure !== undefined) throw failure.error;
      throw connectionError(error, this.redact);
    }
  }

  #fetch(call: PreparedCall, body: Sent | undefined, signal: AbortSignal): Promise<Response> {
    const { fetch: own } = this.#settings;
    const init: RequestInit = { method: call.method, headers: call.headers, redirect: 'manual', signal };
    if (body !== undefined) init.body = body as BodyInit;
    if (body instanceof ReadableStream) Object.assign(init, { duplex: 'half' });
    if (own !== undefined) return own(call.url, init);
    return globalThis.fetch(call.url, { ...init, ...withoutOwnLimits() });
  }
}

const textOf = ({ body }: WholeAnswer): string => new TextDecoder().decode(body);

const bodyOf = async (response: Response, limit: TimeLimit): Promise<Uint8Array> => {
  const body = new Uint8Array(await limit.within(response.arrayBuffer()));
  const missing = shortBy(response, body.length);
  if (missing !== undefined) throw missing;
  return body;
};
