import { endUsersRequests } from '@berth/contracts/end-users';
import { Clock } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { PersonalKey } from './personal-key.js';

/** Far less than the day after which the data of a deleted end user must be unreadable. */
const KEPT_MS = 600_000;
const MAX_KEPT = 10_000;

interface Kept {
  readonly key: Promise<PersonalKey | null>;
  /** Milliseconds since the Unix epoch. */
  readonly until: number;
}

/** The keys of end users, requested from `end-users` and kept in memory for ten minutes. */
@Injectable()
export class EndUserKeys {
  readonly #kept = new Map<string, Kept>();

  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly clock: Clock,
  ) {}

  /** Returns null if the key was destroyed. Errors: unavailable `service_unavailable`. */
  find(endUserId: string): Promise<PersonalKey | null> {
    const now = this.clock.now();
    const kept = this.#kept.get(endUserId);
    if (kept !== undefined && now < kept.until) return kept.key;
    const key = this.#request(endUserId);
    this.#keep(endUserId, { key, until: now + KEPT_MS });
    key.catch(() => this.#kept.delete(endUserId));
    return key;
  }

  async #request(endUserId: string): Promise<PersonalKey | null> {
    const { key } = await this.requester.request(endUsersRequests.personalKey, { endUserId });
    return key === null ? null : new PersonalKey(endUserId, Buffer.from(key, 'base64'));
  }

  #keep(endUserId: string, kept: Kept): void {
    this.#kept.delete(endUserId);
    this.#kept.set(endUserId, kept);
    if (this.#kept.size <= MAX_KEPT) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}
