import type { Json } from '@berth/kernel';

/**
 * What the program answers to `GET /schedules`. `none`: there is no program, or it has no such route. `failed`: it could
 * not be asked, or its answer is not JSON; `problem` says so without quoting the answer.
 */
export type PolledSchedules =
  | { readonly state: 'none' }
  | { readonly state: 'list'; readonly entries: Json }
  | { readonly state: 'failed'; readonly problem: string };

/** Bounds of a poll: the largest valid list is far smaller than 4 MiB. */
export const SCHEDULES_POLL = { withinMs: 5_000, bytes: 4 * 1024 * 1024 - 64 * 1024 } as const;
