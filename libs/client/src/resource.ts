import type { Call } from './call.js';
import type { CallOptions } from './config.js';
import { PagePromise, type ListAnswer } from './page.js';
import type { Transport } from './transport.js';
import { ServiceError } from './errors.js';
import type { Query } from './values.js';

/** What the namespaces of a client have in common. */
export abstract class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected get transport(): Transport {
    return this.#transport;
  }

  /** An object that is read. */
  protected read<T>(path: string, options?: CallOptions, query?: object): Promise<T> {
    return this.#transport.object<T>({ method: 'GET', path, query: query as Query }, options);
  }

  /** A list. `path` throws for what is no id, which then rejects the first page. */
  protected pages<T>(path: () => string, options?: CallOptions, query?: object): PagePromise<T> {
    return new PagePromise<T>(async (cursor) => {
      const next = cursor === undefined ? {} : { cursor };
      const call: Call = { method: 'GET', path: path(), query: { ...query, ...next } };
      const answer = await this.#transport.object<ListAnswer<T>>(call, options);
      if (Array.isArray(answer.items)) return answer;
      throw new ServiceError('The server answered with something that is no list.', {
        status: 200,
        code: 'invalid_response',
        detail: answer,
      });
    });
  }
}
