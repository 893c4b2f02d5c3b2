import type { Page } from '@berth/kernel';
import type { ApiClient } from './api-client.js';

const MAX_PAGE = 200;

export interface ListOptions {
  /** Query parameters; one that is undefined is not sent. */
  readonly filters?: Readonly<Record<string, string | undefined>>;
  /** The most items to return; without it all. */
  readonly limit?: number;
}

/** Reads a list of the service page by page. */
export const listItems = async <Item>(
  api: ApiClient,
  path: string,
  { filters = {}, limit = Number.POSITIVE_INFINITY }: ListOptions = {},
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(Math.min(MAX_PAGE, limit - items.length)) });
    for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
    if (cursor !== null) query.set('cursor', cursor);
    const page: Page<Item> = await api.call({ method: 'GET', path: `${path}?${query.toString()}` });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && items.length < limit);
  return items;
};
