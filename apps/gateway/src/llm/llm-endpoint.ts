import { llmRequests } from '@berth/contracts/llm';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';

/** The HTTP address of one process of the service `llm`. It is cached until `forget` is called. */
@Injectable()
export class LlmEndpoint {
  #known: Promise<string> | undefined;

  constructor(private readonly requester: Requester) {}

  /** Returns an origin such as `http://10.0.0.2:4100`. Errors: those of `Requester.request`. */
  async url(): Promise<string> {
    this.#known ??= this.requester.request(llmRequests.endpoint, {}).then(({ url }) => url);
    try {
      return await this.#known;
    } catch (error) {
      this.#known = undefined;
      throw error;
    }
  }

  /** Called when no process can be reached at the address, so that the next `url` asks for another. */
  forget(): void {
    this.#known = undefined;
  }
}
