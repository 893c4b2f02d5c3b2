import { Pool } from 'undici';
import { BenchError } from '../bench-error.js';
import type { PreparedUpload } from './payload.js';

type Request = [
  method: 'GET' | 'POST',
  route: string,
  headers: Readonly<Record<string, string>>,
  body?: Buffer,
];

/** A server with the same upload, download and list routes: the gateway for one agent, or the bare server. */
export class FileServer {
  readonly #pool: Pool;

  constructor(
    url: string,
    /** The path before `/files/…`. */
    private readonly prefix: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {
    this.#pool = new Pool(url, { connections: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });
  }

  /** Returns the size of the written file, as reported by the server. */
  async upload({ contentType, body }: PreparedUpload): Promise<number> {
    const text = await this.#text('POST', 'upload', { 'content-type': contentType }, body);
    return (JSON.parse(text) as { readonly size: number }).size;
  }

  /** Returns the number of bytes received; they are counted and discarded. */
  async download(path: string): Promise<number> {
    const response = await this.#request('GET', `download?path=${encodeURIComponent(path)}`, {});
    let bytes = 0;
    for await (const chunk of response.body) bytes += (chunk as Buffer).length;
    return bytes;
  }

  /** Returns how many entries a folder has. */
  async list(path: string): Promise<number> {
    const text = await this.#text('GET', `list?path=${encodeURIComponent(path)}`, {});
    return (JSON.parse(text) as { readonly entries: readonly unknown[] }).entries.length;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #text(...args: Request): Promise<string> {
    return (await this.#request(...args)).body.text();
  }

  async #request(...[method, route, headers, body]: Request) {
    const response = await this.#pool.request({
      method,
      path: `${this.prefix}/files/${route}`,
      headers: { ...this.headers, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    if (response.statusCode === 200) return response;
    const text = await response.body.text();
    throw new BenchError(`${method} ${route} returned ${response.statusCode}: ${text.slice(0, 500)}`);
  }
}
