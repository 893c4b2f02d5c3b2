import { BenchError } from '../bench-error.js';
import { ApiClient } from './api-client.js';
import type { BerthProgram } from './berth-program.js';

/** One below the number of calls that a token has in a minute. */
const CALLS_PER_TOKEN = 29;
const DELIVERED_WITHIN_MS = 60_000;

interface Delivery {
  readonly id: string;
  readonly status: string;
}

/** Invokes the webhook of one agent, with a new token whenever the calls of the last one are used up. */
export class WebhookCaller {
  readonly #anonymous: ApiClient;
  #token = '';
  #left = 0;

  constructor(
    private readonly berth: BerthProgram,
    private readonly agentId: string,
  ) {
    this.#anonymous = new ApiClient(berth.api.url);
  }

  get path(): string {
    return `/api/webhooks/${this.agentId}`;
  }

  /** Returns the id of the delivery. */
  async invoke(): Promise<string> {
    if (this.#left === 0) await this.rotate();
    this.#left--;
    const path = `${this.path}?token=${this.#token}`;
    const accepted = await this.#anonymous.json<{ deliveryId: string }>('POST', path, { message: 'hello' });
    return accepted.deliveryId;
  }

  /** Invokes it with a wrong token. */
  async guess(): Promise<void> {
    const path = `${this.path}?token=wh_guessed`;
    const { status } = await this.#anonymous.attempt('POST', path, { message: 'hello' });
    if (status !== 401 && status !== 429) throw new BenchError(`A wrong token returned ${String(status)}.`);
  }

  /** Takes a new token if the calls of the last one are used up, so that a measurement does not contain it. */
  async ready(): Promise<void> {
    if (this.#left === 0) await this.rotate();
  }

  /** Takes a new token now, so that a measurement does not contain it. */
  async rotate(): Promise<void> {
    const { token } = await this.berth.api.json<{ token: string }>('POST', `${this.path}/token/rotate`);
    this.#token = token;
    this.#left = CALLS_PER_TOKEN;
  }

  /** Waits until the agent has the message. */
  async delivered(deliveryId: string): Promise<void> {
    for (const end = performance.now() + DELIVERED_WITHIN_MS; performance.now() < end;) {
      const { items } = await this.berth.api.json<{ items: readonly Delivery[] }>(
        'GET',
        `${this.path}/deliveries?limit=1`,
      );
      if (items.some(({ id, status }) => id === deliveryId && status === 'delivered')) return;
    }
    throw new BenchError(`The webhook ${deliveryId} was not delivered.`);
  }

  close(): Promise<void> {
    return this.#anonymous.close();
  }
}
