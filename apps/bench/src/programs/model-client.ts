import { Pool } from 'undici';
import { BenchError } from '../bench-error.js';

const PARTS = /^data: /gm;

/** Calls the models of the OpenAI dialect at one address, over keep-alive connections, as the program of an agent does. */
export class ModelClient {
  readonly #pool: Pool;
  readonly #path: string;

  constructor(
    baseUrl: string,
    private readonly key: string,
    connections: number,
  ) {
    const { origin, pathname } = new URL(baseUrl);
    this.#path = `${pathname}/chat/completions`;
    this.#pool = new Pool(origin, { connections, headersTimeout: 30_000, bodyTimeout: 30_000 });
  }

  /** Calls the model without streaming, and waits until the response is complete. */
  async complete(model: string): Promise<void> {
    const { body } = await this.#send(model, false);
    await body.dump({ limit: Number.MAX_SAFE_INTEGER });
  }

  /** Streams a response to its end. Returns the milliseconds until its first part, and the number of its parts. */
  async stream(model: string): Promise<{ readonly firstMs: number; readonly parts: number }> {
    const begun = performance.now();
    const { body } = await this.#send(model, true);
    const chunks: Buffer[] = [];
    let firstMs: number | undefined;
    for await (const chunk of body) {
      firstMs ??= performance.now() - begun;
      chunks.push(chunk as Buffer);
    }
    const parts = Buffer.concat(chunks).toString('utf8').match(PARTS)?.length ?? 0;
    if (firstMs === undefined || parts === 0) throw new BenchError('A stream of the model had no parts.');
    return { firstMs, parts };
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #send(model: string, isStream: boolean): Promise<Awaited<ReturnType<Pool['request']>>> {
    const response = await this.#pool.request({
      method: 'POST',
      path: this.#path,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], stream: isStream }),
    });
    if (response.statusCode === 200) return response;
    const text = await response.body.text();
    throw new BenchError(`The model returned ${String(response.statusCode)}: ${text.slice(0, 500)}`);
  }
}
