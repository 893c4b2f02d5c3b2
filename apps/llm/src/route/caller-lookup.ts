import { agentTokenRequests, type AuthenticateAgent, type LlmCaller } from '@berth/contracts/agents';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';

/** The request for a token that is on its way, and the one after it. */
interface Asked {
  readonly now: Promise<LlmCaller>;
  next: Promise<LlmCaller> | undefined;
}

/**
 * Asks `agents` whose token it is. Calls with one token that arrive while a request for it is on its way share the next one:
 * it begins after all of them, so none gets what was true before it arrived, and many calls at once need few requests.
 */
@Injectable()
export class CallerLookup {
  readonly #asked = new Map<string, Asked>();

  constructor(private readonly requester: Requester) {}

  /** Errors: unauthenticated `unauthenticated`; those of a request. */
  find(credential: AuthenticateAgent): Promise<LlmCaller> {
    const key = Object.values(credential).join(' ');
    const asked = this.#asked.get(key);
    if (asked === undefined) return this.#ask(key, credential);
    const again = (): Promise<LlmCaller> => this.#ask(key, credential);
    asked.next ??= asked.now.then(again, again);
    return asked.next;
  }

  #ask(key: string, credential: AuthenticateAgent): Promise<LlmCaller> {
    const now = this.requester.request(agentTokenRequests.llmCaller, credential);
    const asked: Asked = { now, next: undefined };
    this.#asked.set(key, asked);
    const forget = (): void => {
      if (asked.next === undefined) this.#asked.delete(key);
    };
    now.then(forget, forget);
    return now;
  }
}
