import { Pool } from 'undici';
import { BenchError } from '../bench-error.js';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Plain HTTP over keep-alive connections. Any response but 2xx ends the bench, because it would measure something else.
 */
export class ApiClient {
  readonly #pool: Pool;

  constructor(
    readonly url: string,
    readonly key: string | null = null,
    connections = 8,
  ) {
    this.#pool = new Pool(url, { connections, headersTimeout: 90_000, bodyTimeout: 90_000 });
  }

  async call(method: Method, path: string, body?: object): Promise<ApiResponse> {
    const response = await this.attempt(method, path, body);
    if (response.status >= 300)
      throw new BenchError(`${method} ${path} returned ${response.status}: ${response.text.slice(0, 500)}`);
    return response;
  }

  /** Like `call`, but accepts any response. */
  async attempt(method: Method, path: string, body?: object): Promise<ApiResponse> {
    const response = await this.#pool.request({
      method,
      path,
      headers: {
        ...(this.key === null ? {} : { authorization: `Bearer ${this.key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text };
  }

  async json<Body>(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Body> {
    return JSON.parse((await this.call(method, path, body)).text) as Body;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}
