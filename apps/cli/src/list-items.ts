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
  options: ListOptions = {},
): Promise<readonly Item[]> => (await listPage<Item>(api, path, options)).items;

/** Like `listItems`, with the cursor of what follows the last item. */
export const listPage = async <Item>(
  api: ApiClient,
  path: string,
  { filters = {}, limit = Number.POSITIVE_INFINITY }: ListOptions = {},
): Promise<Page<Item>> => {
  const items: Item[] = [];
  let nextCursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(Math.min(MAX_PAGE, limit - items.length)) });
    for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
    if (nextCursor !== null) query.set('cursor', nextCursor);
    const page: Page<Item> = await api.call({ method: 'GET', path: `${path}?${query.toString()}` });
    items.push(...page.items);
    nextCursor = page.nextCursor;
  } while (nextCursor !== null && items.length < limit);
  return { items, nextCursor };
};
