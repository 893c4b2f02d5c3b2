import type { Policy } from '../schema/index.js';

/** The states of an end user that the API shows. */
export const END_USER_STATUSES = ['active', 'suspended'] as const;
export type EndUserStatus = (typeof END_USER_STATUSES)[number];

/** The values that `metadata` may hold. */
export type MetadataValue = string | number | boolean | null;

/** An end user without what other services know. Times are ISO 8601. */
export interface EndUserRecord {
  /** `eus_…`, opaque: outside this service it stands for the end user wherever an external id must not. */
  readonly endUserId: string;
  readonly externalId: string;
  readonly displayName: string | null;
  readonly metadata: Readonly<Record<string, MetadataValue>>;
  readonly tags: readonly string[];
  readonly status: EndUserStatus;
  readonly suspendedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastActiveAt: string | null;
  /** Its own policy. */
  readonly policy: Policy | null;
}

/** An end user as the API shows it. */
export interface EndUserView extends Omit<EndUserRecord, 'endUserId'> {
  readonly agentCount: number;
}
