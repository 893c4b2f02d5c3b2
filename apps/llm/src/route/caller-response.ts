import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** The response to the caller, who may be gone: then what is written is dropped. */
export class CallerResponse {
  constructor(private readonly response: ServerResponse) {}

  get isGone(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  begin(status: number, headers: OutgoingHttpHeaders): void {
    if (this.isGone) return;
    this.response.writeHead(status, { ...headers, 'cache-control': 'no-store' });
    // The first event of a stream may come much later.
    this.response.flushHeaders();
  }

  /** Resolves when the caller can take more. */
  async write(chunk: Buffer): Promise<void> {
    if (chunk.length === 0 || this.isGone || this.response.write(chunk)) return;
    const gone = new AbortController();
    const settle = (): void => gone.abort();
    this.response.once('close', settle);
    await once(this.response, 'drain', { signal: gone.signal }).catch(() => undefined);
    this.response.off('close', settle);
  }

  end(): void {
    if (!this.isGone) this.response.end();
  }

  /** Shows the caller that the response is not whole. */
  breakOff(): void {
    this.response.destroy();
  }
}
