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

/** Parses an event's subject; returns undefined for any other subject. */
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
 * Returns the narrowest single filter that matches all of them: servers before 2.10 accept one filter per consumer, and
 * the consumer ignores the other events.
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
