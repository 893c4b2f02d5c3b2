/** The parts of `evt.<context>.<name>.v1.<account>.<id>`. */
export interface EventSubject {
  readonly context: string;
  /** Past tense, e.g. `fell-asleep`. */
  readonly name: string;
  readonly version: number;
  readonly accountId: string;
  readonly subjectId: string;
}

const TOKEN = '[A-Za-z0-9_-]+';
const SUBJECT = new RegExp(`^evt\\.(${TOKEN})\\.(${TOKEN})\\.v(\\d+)\\.(${TOKEN})\\.(${TOKEN})$`);

/** Reads an event's subject; undefined when it is none. */
export const parseEventSubject = (subject: string): EventSubject | undefined => {
  const [, context, name, version, accountId, subjectId] = SUBJECT.exec(subject) ?? [];
  if (context === undefined || name === undefined || accountId === undefined || subjectId === undefined)
    return undefined;
  return { context, name, version: Number(version), accountId, subjectId };
};

/** All events of a context. */
export const allEventsOf = (context: string): string => `evt.${context}.>`;

/** Whether a subject matches a NATS filter (`*` one token, `>` the rest). */
export const matchesFilter = (filter: string, subject: string): boolean => {
  const wanted = filter.split('.');
  const tokens = subject.split('.');
  for (const [index, token] of wanted.entries()) {
    if (token === '>') return tokens.length > index;
    if (token !== '*' && token !== tokens[index]) return false;
    if (tokens[index] === undefined) return false;
  }
  return tokens.length === wanted.length;
};

/**
 * The narrowest single filter that lets all of them through: servers before 2.10 take one filter per consumer, the
 * consumer drops what is too much.
 */
export const commonFilter = (filters: readonly [string, ...string[]]): string => {
  const [first, ...others] = filters.map((filter) => filter.split('.'));
  if (first === undefined) throw new Error('At least one filter is needed.');
  const common: string[] = [];
  for (const [index, token] of first.entries()) {
    const column = others.map((other) => other[index]);
    if (column.includes(undefined)) return [...common.slice(0, -1), '>'].join('.');
    if (token === '>' || column.includes('>')) return [...common, '>'].join('.');
    common.push(column.every((other) => other === token) ? token : '*');
  }
  return others.some((other) => other.length > first.length)
    ? [...common.slice(0, -1), '>'].join('.')
    : common.join('.');
};
