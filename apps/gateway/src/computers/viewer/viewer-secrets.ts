import { createHash, createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { GatewayConfig } from '../../config.js';

/** The path of a session's page: a secret of 32 bytes in base64url. */
const PAGE_PATH = /^\/v\/([A-Za-z0-9_-]{43})\//;

/** SHA-256 of the secret of a session, hex: sent and stored instead of it. */
export const secretHashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** The secret in the URL of a session's page; undefined for any other text. */
export const secretInUrl = (url: string): string | undefined =>
  URL.canParse(url) ? PAGE_PATH.exec(new URL(url).pathname)?.[1] : undefined;

/** Makes the secrets of viewer sessions. */
@Injectable()
export class ViewerSecrets {
  constructor(private readonly config: GatewayConfig) {}

  /** The secret of the session that a command opens: each attempt under an Idempotency-Key gets the same session. */
  of(commandId: string): string {
    const { current, keys } = this.config.keyring;
    const key = keys.get(current);
    if (key === undefined) throw new Error('The current key is not in the keyring.');
    return createHmac('sha256', key)
      .update(`secret of the viewer session of ${commandId}`)
      .digest('base64url');
  }
}
