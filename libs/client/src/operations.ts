import { jsonBody } from './body.js';
import type { CallOptions } from './config.js';
import type { PagePromise } from './page.js';
import type { QueryOf } from './query-types.js';
import { Resource } from './resource.js';
import type { Transport } from './transport.js';
import type {
  Account,
  AccountBalance,
  DeadLetter,
  Feedback,
  GrantCreditsBody,
  Host,
  MintedKey,
  OpenAccountBody,
  OpenedAccount,
  Projection,
  UpdateAccountBody,
  UsageRecount,
} from './types.js';
import { route } from './values.js';

/** The page of a list of `operations`. */
export type ListPage = QueryOf<'/api/v1/operations/accounts'>;
/** The range of `operations.usageRecount`. */
export type RecountQuery = QueryOf<'/api/v1/operations/usage-recount'>;

/** `berth.operations`: for whoever runs the installation. Keys need the scope `operate`. */
export class Operations extends Resource {
  readonly accounts: OperatedAccounts;
  readonly credits: Credits;
  readonly hosts: Hosts;
  readonly projections: Projections;
  readonly deadLetters: DeadLetters;
  readonly feedback: ReceivedFeedback;

  constructor(transport: Transport) {
    super(transport);
    this.accounts = new OperatedAccounts(transport);
    this.credits = new Credits(transport);
    this.hosts = new Hosts(transport);
    this.projections = new Projections(transport);
    this.deadLetters = new DeadLetters(transport);
    this.feedback = new ReceivedFeedback(transport);
  }

  /** Counts usage again from the log of events, and compares: `GET /api/v1/operations/usage-recount`. */
  async usageRecount(query?: RecountQuery, options?: CallOptions): Promise<UsageRecount> {
    return this.read('/api/v1/operations/usage-recount', options, query);
  }
}

/** `berth.operations.accounts` */
export class OperatedAccounts extends Resource {
  /** Opens an account with a first key, which is shown only here. */
  async create(account: OpenAccountBody, options?: CallOptions): Promise<OpenedAccount> {
    const path = '/api/v1/operations/accounts';
    return this.transport.object({ method: 'POST', path, body: jsonBody(account) }, options);
  }

  /** Lists all accounts, newest first. */
  list(query: ListPage = {}, options?: CallOptions): PagePromise<Account> {
    return this.pages(() => '/api/v1/operations/accounts', options, query);
  }

  /** Returns an account. */
  async get(id: string, options?: CallOptions): Promise<Account> {
    return this.read(route`/api/v1/operations/accounts/${id}`, options);
  }

  /** Changes what is given of an account; `suspended` suspends it. */
  async update(id: string, changes: UpdateAccountBody, options?: CallOptions): Promise<Account> {
    const path = route`/api/v1/operations/accounts/${id}`;
    return this.transport.object({ method: 'PUT', path, body: jsonBody(changes) }, options);
  }

  /** Mints another first key, for one that was lost. It is shown only here. */
  async createKey(id: string, options?: CallOptions): Promise<MintedKey> {
    const path = route`/api/v1/operations/accounts/${id}/keys`;
    return this.transport.object({ method: 'POST', path }, options);
  }
}

/** `berth.operations.credits` */
export class Credits extends Resource {
  /** Adds cents to the credits of an account; a negative number takes them away. */
  async grant(accountId: string, grant: GrantCreditsBody, options?: CallOptions): Promise<AccountBalance> {
    const path = route`/api/v1/operations/accounts/${accountId}/credits`;
    return this.transport.object({ method: 'POST', path, body: jsonBody(grant) }, options);
  }
}

/** `berth.operations.hosts` */
export class Hosts extends Resource {
  /** Lists the hosts that agents run on. */
  list(query: ListPage = {}, options?: CallOptions): PagePromise<Host> {
    return this.pages(() => '/api/v1/operations/hosts', options, query);
  }

  /** Moves no further agent to a host. */
  async drain(id: string, options?: CallOptions): Promise<void> {
    return this.transport.nothing(
      { method: 'POST', path: route`/api/v1/operations/hosts/${id}/drain` },
      options,
    );
  }

  /** Ends the drain of a host. */
  async resume(id: string, options?: CallOptions): Promise<void> {
    const path = route`/api/v1/operations/hosts/${id}/resume`;
    return this.transport.nothing({ method: 'POST', path }, options);
  }

  /** Forgets a host that is gone. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.nothing({ method: 'DELETE', path: route`/api/v1/operations/hosts/${id}` }, options);
  }
}

/** `berth.operations.projections` */
export class Projections extends Resource {
  /** Lists the projections, with how far they are. */
  list(options?: CallOptions): PagePromise<Projection> {
    return this.pages(() => '/api/v1/operations/projections', options);
  }

  /** Begins to build a projection anew from the log of events. */
  async rebuild(name: string, options?: CallOptions): Promise<Projection> {
    const path = route`/api/v1/operations/projections/${name}/rebuild`;
    return this.transport.object({ method: 'POST', path }, options);
  }
}

/** `berth.operations.deadLetters` */
export class DeadLetters extends Resource {
  /** Lists the messages that a service could not process. */
  list(query: ListPage = {}, options?: CallOptions): PagePromise<DeadLetter> {
    return this.pages(() => '/api/v1/operations/dead-letters', options, query);
  }

  /** Hands a message over again. */
  async replay(id: string, options?: CallOptions): Promise<void> {
    const path = route`/api/v1/operations/dead-letters/${id}/replay`;
    return this.transport.nothing({ method: 'POST', path }, options);
  }

  /** Deletes a message. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    const path = route`/api/v1/operations/dead-letters/${id}`;
    return this.transport.nothing({ method: 'DELETE', path }, options);
  }
}

/** `berth.operations.feedback` */
export class ReceivedFeedback extends Resource {
  /** Lists the reports of all accounts, newest first. */
  list(query: ListPage = {}, options?: CallOptions): PagePromise<Feedback> {
    return this.pages(() => '/api/v1/operations/feedback', options, query);
  }
}
