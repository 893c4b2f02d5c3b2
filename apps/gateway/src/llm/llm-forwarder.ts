import { Agent, request as httpRequest } from 'node:http';
import { ServiceContext } from '@berth/service';
import { endToEnd, relayHttp, UnfitRequest, type HttpExchange } from '@berth/sockets';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { LlmEndpoint } from './llm-endpoint.js';

const HOST: ReadonlySet<string> = new Set(['host']);

/** Forwards requests of programs to `llm`. */
@Injectable()
export class LlmForwarder implements OnApplicationShutdown {
  readonly #agent = new Agent({ keepAlive: true, timeout: 30_000 });

  constructor(
    @Inject(LlmEndpoint) private readonly endpoint: Pick<LlmEndpoint, 'url' | 'forget'>,
    @Inject(ServiceContext) private readonly context: Pick<ServiceContext, 'stopping'>,
  ) {}

  onApplicationShutdown(): void {
    this.#agent.destroy();
  }

  /** Resolves when the exchange is over. Throws before the first byte of the response only. */
  async forward(exchange: HttpExchange, requestId: string): Promise<void> {
    let origin: string;
    try {
      await relayHttp(exchange, {
        requestId,
        closing: this.context.stopping.aborted,
        requestFields: (fields) => endToEnd(fields, HOST),
        added: ['Host', 'llm'],
        find: async (isAgain) => {
          // One process may have just ended.
          if (isAgain) this.endpoint.forget();
          origin = await this.endpoint.url();
        },
        send: ({ method, headers, mayReuse }) =>
          httpRequest(new URL(exchange.request.url ?? '/', origin), {
            method,
            headers,
            agent: mayReuse ? this.#agent : false,
          }),
      });
    } catch (error) {
      if (!(error instanceof UnfitRequest)) this.endpoint.forget();
      throw error;
    }
  }
}
