import { SecretBox } from '@berth/persistence';
import { Injectable } from '@nestjs/common';
import type { Credential } from '../auth/credentials.js';
import { GatewayConfig } from '../config.js';

/**
 * What the cookie of an app contains: the hash of an end user's token, sealed for one agent. Each request looks the
 * token up by it, so that the cookie is good as long as the token, on every gateway.
 */
@Injectable()
export class AppSessions {
  readonly #box: SecretBox;

  constructor({ keyring }: GatewayConfig) {
    this.#box = new SecretBox(keyring);
  }

  seal(agentId: string, { hash }: Credential): string {
    return this.#box.seal(hash, purposeOf(agentId));
  }

  /** The credential of the first value that was sealed for this agent. */
  open(agentId: string, values: readonly string[]): Credential | undefined {
    for (const value of values) {
      try {
        return { kind: 'end_user', hash: this.#box.open(value, purposeOf(agentId)) };
      } catch {
        // Forged, of another agent, or sealed with a key that is no longer in use.
      }
    }
    return undefined;
  }
}

const purposeOf = (agentId: string): string => `app session of ${agentId}`;
