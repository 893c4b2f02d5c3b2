import { computersRequests, type FoundViewer } from '@berth/contracts/computers';
import { isDomainError } from '@berth/kernel';
import { asLookUpFailure, Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { Authenticators } from '../../auth/authenticators.js';
import { HttpRefusal } from '../../http/http-refusal.js';
import { secretHashOf } from './viewer-secrets.js';

const LOOKUP_WITHIN_MS = 2_000;

/** Finds viewer sessions by their secrets. */
@Injectable()
export class ViewerSessions {
  constructor(
    private readonly requester: Requester,
    private readonly authenticators: Authenticators,
  ) {}

  /** Undefined if it is over, also because the key that made it is no longer valid. Errors: unavailable. */
  async find(secret: string): Promise<FoundViewer | undefined> {
    try {
      const found = await this.requester.request(
        computersRequests.findViewer,
        { secretHash: secretHashOf(secret) },
        { deadlineMs: LOOKUP_WITHIN_MS },
      );
      await this.authenticators.authenticateKeyId(found.keyId, LOOKUP_WITHIN_MS);
      return found;
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw asLookUpFailure(error);
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof HttpRefusal ||
  isDomainError(error, 'not_found') ||
  isDomainError(error, 'unauthenticated');
