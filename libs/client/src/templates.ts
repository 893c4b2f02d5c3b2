import type { CallOptions } from './config.js';
import type { PagePromise } from './page.js';
import { Resource } from './resource.js';
import type { Template } from './types.js';

/** `berth.templates` */
export class Templates extends Resource {
  /** Lists the templates that agents are created from: `GET /api/templates`. */
  list(options?: CallOptions): PagePromise<Template> {
    return this.pages(() => '/api/templates', options);
  }
}
