import { isObject, memberOf } from './json-value.js';

/** Members whose value names something that the upstream stores. */
const REFERENCES: ReadonlySet<string> = new Set(['file_id', 'file_ids', 'container_id', 'vector_store_ids']);
/** Items that name earlier items, or calls of hosted tools. */
const ITEMS = /^(?:item_reference|mcp_.*|image_generation_call)$/;
/** Members that hold what programs and models wrote, whatever it looks like. */
const FREE_FORM: ReadonlySet<string> = new Set([
  'parameters',
  'input_schema',
  'arguments',
  'schema',
  'metadata',
]);

/** The first reference to stored data in messages or input; undefined without one. */
export const storedReferenceIn = (value: unknown): string | undefined => {
  if (Array.isArray(value)) return firstOf(value as readonly unknown[], storedReferenceIn);
  if (!isObject(value)) return undefined;
  const type = memberOf(value, 'type');
  if (typeof type === 'string' && ITEMS.test(type)) return type;
  // The audio of an earlier answer.
  if (isObject(value['audio']) && memberOf(value['audio'], 'id') !== undefined) return 'audio.id';
  return firstOf(Object.entries(value), ([name, member]) => {
    if (member === null) return undefined;
    if (REFERENCES.has(name)) return name;
    return isFreeForm(name, type) ? undefined : storedReferenceIn(member);
  });
};

/** Whether any content is given by URL instead of in the body. */
export const hasUrl = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(hasUrl);
  if (!isObject(value)) return false;
  const type = memberOf(value, 'type');
  return Object.entries(value).some(([name, member]) => {
    if (URL_MEMBER.test(name) && typeof member === 'string') return !/^data:/i.test(member);
    return !isFreeForm(name, type) && hasUrl(member);
  });
};

/** `url`, `image_url`, `file_url` and what upstreams of the dialect add: `video_url`. */
const URL_MEMBER = /^(?:.+_)?url$/;

/** An item of the Responses dialect may be a reference without saying so: it has an id and nothing else. */
export const isBareReference = (item: unknown): boolean =>
  isObject(item) &&
  memberOf(item, 'id') !== undefined &&
  memberOf(item, 'type') === undefined &&
  memberOf(item, 'role') === undefined;

const isFreeForm = (name: string, type: unknown): boolean =>
  FREE_FORM.has(name) || (name === 'input' && typeof type === 'string' && type.endsWith('tool_use'));

const firstOf = <Item, Result>(
  items: readonly Item[],
  find: (item: Item) => Result | undefined,
): Result | undefined => {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
};
