import { detach } from '@berth/kernel';
interface Waiting<Request, Response> {
  readonly request: Request;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs one batch of requests at a time: the requests that arrive while a batch runs form the next one. Under light load
 * each request is a batch of its own, without a delay.
 */
export class GatheredCalls<Request, Response> {
  #waiting: Waiting<Request, Response>[] = [];
  #isRunning = false;

  /** `run` returns a response for each request, in their order; if it rejects, all of them do. `most`: requests in one batch. */
  constructor(
    private readonly run: (requests: readonly Request[]) => Promise<readonly Response[]>,
    private readonly most: number,
  ) {}

  call(request: Request): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      if (!this.#isRunning) detach(this.#runAll());
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#runOne(this.#waiting.splice(0, this.most));
    this.#isRunning = false;
  }

  async #runOne(taken: readonly Waiting<Request, Response>[]): Promise<void> {
    try {
      const responses = await this.run(taken.map(({ request }) => request));
      if (responses.length !== taken.length)
        throw new Error('The number of responses differs from the number of requests.');
      taken.forEach(({ resolve }, index) => resolve(responses[index] as Response));
    } catch (error) {
      for (const { reject } of taken) reject(error);
    }
  }
}
