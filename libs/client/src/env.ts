import { jsonBody } from './body.js';
import type { CallOptions } from './config.js';
import type { PagePromise } from './page.js';
import { Resource } from './resource.js';
import type { Agent, EnvVar } from './types.js';
import { route, textOf } from './values.js';

/** How a variable is set. */
export interface SetVariable {
  /** A secret is stored encrypted, and read back as `********`. */
  readonly secret?: boolean | undefined;
}

/** `berth.env`: environment variables of an agent. A running program sees changes after `reload`. */
export class Env extends Resource {
  /** Lists the variables: `GET /api/agents/{id}/env`. Values of secrets are `********`. */
  list(id: string, options?: CallOptions): PagePromise<EnvVar> {
    return this.pages(() => route`/api/agents/${id}/env`, options);
  }

  /** Sets a variable: `PUT /api/agents/{id}/env/{key}`. */
  async set(
    id: string,
    key: string,
    value: string,
    { secret }: SetVariable = {},
    options?: CallOptions,
  ): Promise<EnvVar> {
    const body = jsonBody({ value: textOf(value, 'value'), isSecret: secret });
    return this.transport.object({ method: 'PUT', path: route`/api/agents/${id}/env/${key}`, body }, options);
  }

  /** Deletes a variable: `DELETE /api/agents/{id}/env/{key}`. */
  async delete(id: string, key: string, options?: CallOptions): Promise<void> {
    return this.transport.nothing({ method: 'DELETE', path: route`/api/agents/${id}/env/${key}` }, options);
  }

  /** Restarts the program of a running agent with its variables: `POST /api/agents/{id}/env/reload`. */
  async reload(id: string, options?: CallOptions): Promise<Agent> {
    return this.transport.object({ method: 'POST', path: route`/api/agents/${id}/env/reload` }, options);
  }
}
