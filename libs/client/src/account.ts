import { jsonBody } from './body.js';
import type { CallOptions } from './config.js';
import type { PagePromise } from './page.js';
import type { QueryOf } from './query-types.js';
import { Resource } from './resource.js';
import type { AuditedAct, Feedback, FeedbackBody, Key, MintedKey, MintKeyBody, OwnAccount } from './types.js';
import { route } from './values.js';

/** The page of `keys.list`. */
export type ListKeys = QueryOf<'/api/v1/keys'>;
/** The filters, the range and the page of `audit.list`. */
export type ListAudit = QueryOf<'/api/v1/audit'>;

/** `berth.keys` */
export class Keys extends Resource {
  /** Mints a key, which is shown only here: `POST /api/v1/keys`. */
  async mint(key: MintKeyBody, options?: CallOptions): Promise<MintedKey> {
    return this.transport.object({ method: 'POST', path: '/api/v1/keys', body: jsonBody(key) }, options);
  }

  /** Lists the keys of the account: `GET /api/v1/keys`. */
  list(query: ListKeys = {}, options?: CallOptions): PagePromise<Key> {
    return this.pages(() => '/api/v1/keys', options, query);
  }

  /** Revokes a key, which is refused from then on: `DELETE /api/v1/keys/{id}`. */
  async revoke(id: string, options?: CallOptions): Promise<void> {
    return this.transport.nothing({ method: 'DELETE', path: route`/api/v1/keys/${id}` }, options);
  }
}

/** `berth.account` */
export class Account extends Resource {
  /** The account of the key, its plan and its credits: `GET /api/v1/account`. */
  async get(options?: CallOptions): Promise<OwnAccount> {
    return this.read('/api/v1/account', options);
  }
}

/** `berth.audit` */
export class Audit extends Resource {
  /** Lists what was done, newest first: `GET /api/v1/audit`. */
  list(query: ListAudit = {}, options?: CallOptions): PagePromise<AuditedAct> {
    return this.pages(() => '/api/v1/audit', options, query);
  }
}

/** `berth.feedback` */
export class FeedbackReports extends Resource {
  /** Sends a report about the service: `POST /api/v1/feedback`. */
  async send(report: FeedbackBody, options?: CallOptions): Promise<Feedback> {
    const body = jsonBody(report);
    return this.transport.object({ method: 'POST', path: '/api/v1/feedback', body }, options);
  }
}
