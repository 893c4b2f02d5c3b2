import type { Personal } from '@berth/personal-data';
import type { Plan } from '../pricing/pricing.js';

/** Sizes of an agent or a computer as whole numbers: millionths of a CPU, MiB, GiB. */
export interface Sizes {
  readonly vcpuMicros: number;
  readonly memMb: number;
  readonly diskGb: number;
}

/** A computer has no external id of its own. */
export interface Identity {
  readonly name: string | null;
  readonly externalId: string | null;
  readonly externalUserId: string | null;
}

/** Something in the life of a box, which is an agent or a computer. `at`, `since`: Unix milliseconds. */
export type BoxFact = { readonly boxId: string; readonly at: number } & (
  | { readonly kind: 'created'; readonly sizes: Sizes; readonly personal: Personal<Identity> }
  | { readonly kind: 'resized'; readonly sizes: Sizes }
  | { readonly kind: 'starting'; readonly cause: string }
  | { readonly kind: 'running' | 'resting' | 'failed' | 'deleted' }
  /** Its host last reported at `since`; when it really ended is not known. */
  | { readonly kind: 'unseen'; readonly since: number }
  /** Its host is back: it has run since then. */
  | { readonly kind: 'ranUnseen'; readonly since: number }
);

/** A message with several attempts: each can say that it was handed over, and it counts once. */
export interface RetriableMessage {
  readonly deliveryId: string;
  /** Nothing follows the answer to a message. */
  readonly answered: boolean;
}

/** What a box was used for, at a moment. */
export interface Use {
  readonly boxId: string;
  readonly at: number;
  /** What is added to the day, by `MeteredKind.uses`. */
  readonly amounts: Readonly<Record<string, bigint>>;
  readonly retriable: RetriableMessage | null;
}

/** What the log says about usage and its price. */
export type UsageFact =
  | { readonly about: 'box'; readonly fact: BoxFact }
  | { readonly about: 'use'; readonly use: Use }
  | { readonly about: 'account'; readonly accountId: string; readonly planId: string; readonly at: number }
  | { readonly about: 'plans'; readonly plans: readonly Plan[]; readonly at: number }
  | { readonly about: 'forgotten'; readonly endUserId: string };
