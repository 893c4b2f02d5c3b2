/** One page of a list. Iterating over it goes on with the pages after it. */
export class Page<T> implements AsyncIterable<T> {
  /** The items of this page. An empty page with a cursor is not the last one. */
  readonly items: readonly T[];
  /** The `cursor` of the next page; null on the last one. */
  readonly nextCursor: string | null;
  readonly #next: (cursor: string) => Promise<Page<T>>;

  constructor(answer: ListAnswer<T>, next: (cursor: string) => Promise<Page<T>>) {
    this.items = answer.items;
    this.nextCursor = answer.nextCursor ?? null;
    this.#next = next;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    yield* this.items;
    for (let cursor = this.nextCursor; cursor !== null;) {
      const page: Page<T> = await this.#next(cursor);
      yield* page.items;
      cursor = page.nextCursor;
    }
  }
}

/** An answer with `items`. */
export interface ListAnswer<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | null;
}

/**
 * The first page of a list: `await` it, or iterate over the items of all pages with `for await`. The request is sent when
 * that begins.
 */
export class PagePromise<T> extends Promise<Page<T>> implements AsyncIterable<T> {
  readonly #load: (cursor: string | undefined) => Promise<ListAnswer<T>>;
  #first: Promise<Page<T>> | undefined;

  constructor(load: (cursor: string | undefined) => Promise<ListAnswer<T>>) {
    // The promise that this extends is never looked at: `then` is that of the first page.
    super(() => undefined);
    this.#load = load;
  }

  /** What `finally` derives. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // Awaiting a list is its purpose.
  // oxlint-disable-next-line unicorn/no-thenable
  override then<A = Page<T>, B = never>(
    fulfilled?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#first ??= this.#page(undefined);
    return this.#first.then(fulfilled, rejected);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    yield* await this;
  }

  async #page(cursor: string | undefined): Promise<Page<T>> {
    return new Page(await this.#load(cursor), (next) => this.#page(next));
  }
}
