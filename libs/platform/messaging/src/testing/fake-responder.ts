import type { RequestDefinition } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { Controller, Module, type Type } from '@nestjs/common';
import { HandleRequest } from '../handle-request.decorator.js';
import { NatsLink } from '../nats-link.js';
import { startService } from '../start-service.js';

const log = createLogger({ service: 'test', level: 'silent' });

/** Requests of any types; only their subjects matter here. */
type Definitions = readonly Pick<RequestDefinition<unknown, unknown>, 'subject'>[];

/**
 * Responds in a test to the requests of other services and of the runtime host `host1`, over a real broker. The test sets
 * the response to each request; a request without one fails.
 */
export class FakeResponder {
  readonly #requests: { readonly subject: string; readonly payload: unknown }[] = [];
  readonly #handlers = new Map<string, (payload: never) => unknown>();
  #stop: () => Promise<void> = () => Promise.resolve();
  #die: () => Promise<void> = () => Promise.resolve();

  /** `definitions`: every request that a test may set a response to. */
  constructor(
    private readonly natsUrl: string,
    private readonly definitions: Definitions,
  ) {}

  /** Connects, and responds from now on; also after `die`. */
  async open(): Promise<void> {
    const link = await NatsLink.open({ url: this.natsUrl, name: 'fake', log });
    @Module({ controllers: [controllerOf(this.definitions, this.#receive)] })
    class FakeModule {}
    const running = await startService({ name: 'fake', module: FakeModule, link, host: 'host1', log });
    this.#die = () => link.close();
    this.#stop = async () => {
      await running.stop();
      await link.close();
    };
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** Stops abruptly, in the middle of any request. */
  die(): Promise<void> {
    return this.#die();
  }

  /** Forgets the responses and the recorded requests. */
  clear(): void {
    this.#requests.length = 0;
    this.#handlers.clear();
  }

  /** From now on `how` handles `definition`. */
  on<Req, Res>(definition: RequestDefinition<Req, Res>, how: (payload: Req) => Res | Promise<Res>): void {
    this.#handlers.set(definition.subject, how as (payload: never) => unknown);
  }

  /** Handles the next `times` requests by `how`, and later ones as before. */
  first<Req, Res>(
    definition: RequestDefinition<Req, Res>,
    times: number,
    how: (payload: Req) => Res | Promise<Res>,
  ): void {
    const usual = this.#handlers.get(definition.subject) as (payload: Req) => Res;
    let left = times;
    this.on(definition, (payload) => (left-- > 0 ? how(payload) : usual(payload)));
  }

  /** The subjects of all requests, in order. */
  get subjects(): readonly string[] {
    return this.#requests.map(({ subject }) => subject);
  }

  /** Payloads of the requests under `definition`, in order. */
  requestsOf<Req, Res>(definition: RequestDefinition<Req, Res>): readonly Req[] {
    return this.#requests
      .filter(({ subject }) => subject === definition.subject)
      .map(({ payload }) => payload as Req);
  }

  readonly #receive = (subject: string, payload: unknown): unknown => {
    this.#requests.push({ subject, payload });
    const how = this.#handlers.get(subject);
    if (how === undefined) throw new Error(`The test has no response to ${subject}.`);
    return how(payload as never);
  };
}

const controllerOf = (
  definitions: Definitions,
  receive: (subject: string, payload: unknown) => unknown,
): Type => {
  class FakeController {}
  definitions.forEach((definition, index) => {
    const name = `respond${String(index)}`;
    const value = (payload: unknown): unknown => receive(definition.subject, payload);
    const descriptor: PropertyDescriptor = { value, writable: true, configurable: true };
    Object.defineProperty(FakeController.prototype, name, descriptor);
    HandleRequest(definition as RequestDefinition<unknown, unknown>)(
      FakeController.prototype,
      name,
      descriptor,
    );
  });
  Controller()(FakeController);
  return FakeController;
};
