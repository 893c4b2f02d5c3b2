import { llmRequests } from '@berth/contracts/llm';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';

/** The address of one process of `llm`; asked for again when it cannot be reached. */
@Injectable()
export class LlmEndpoint {
  #known: Promise<string> | undefined;

  constructor(private readonly requester: Requester) {}

  /** An origin. Errors: those of a request. */
  async url(): Promise<string> {
    this.#known ??= this.requester.request(llmRequests.endpoint, {}).then(({ url }) => url);
    try {
      return await this.#known;
    } catch (error) {
      this.#known = undefined;
      throw error;
    }
  }

  /** The process at `url` cannot be reached. */
  forget(): void {
    this.#known = undefined;
  }
}
