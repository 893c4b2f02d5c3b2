/** Headers that concern one connection only (RFC 9110 §7.6.1), and those that each side sets itself. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers whose removal would change which request this is; naming them in `Connection` removes nothing. */
const NEVER_LISTED: ReadonlySet<string> = new Set([
  'content-length',
  'content-type',
  'cookie',
  'host',
  'origin',
]);

/** Headers and trailers are lists in which names and values take turns. */
export type FieldList = readonly string[];

/** The fields that do not concern one connection only; `except`: names in lower case that are left out, too. */
export const endToEnd = (fields: FieldList, except: ReadonlySet<string> = new Set()): string[] => {
  const listed = listedInConnection(fields);
  return [...eachHeader(fields)]
    .filter(([name]) => {
      const key = name.toLowerCase();
      return !HOP_BY_HOP.has(key) && !listed.has(key) && !except.has(key);
    })
    .flat();
};

/** The headers that `Connection` names, in lower case. */
const listedInConnection = (fields: FieldList): ReadonlySet<string> => {
  const listed = new Set<string>();
  for (const [name, value] of eachHeader(fields)) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const option of value.split(',')) {
      const key = option.trim().toLowerCase();
      if (!NEVER_LISTED.has(key)) listed.add(key);
    }
  }
  return listed;
};

/** The pairs of a list in which names and values take turns. */
export function* eachHeader(fields: FieldList): Iterable<[name: string, value: string]> {
  for (let at = 0; at + 1 < fields.length; at += 2) yield [fields[at] ?? '', fields[at + 1] ?? ''];
}
