import { CliError, EXIT } from '../cli-error.js';

/** Where `cp` reads or writes. */
export type Place =
  | { readonly kind: 'computer'; readonly computer: string; readonly path: string }
  | { readonly kind: 'local'; readonly path: string }
  /** Standard input or output. */
  | { readonly kind: 'pipe' };

export type ComputerPlace = Extract<Place, { readonly kind: 'computer' }>;
export type OtherPlace = Exclude<Place, ComputerPlace>;

/** What to copy from where to where: one side is a computer. */
export type Copying =
  | { readonly to: 'computer'; readonly source: OtherPlace; readonly target: ComputerPlace }
  | { readonly to: 'local'; readonly source: ComputerPlace; readonly target: OtherPlace };

export const readCopying = (source: string, target: string): Copying => {
  const from = placeOf(source);
  const to = placeOf(target);
  if (from.kind === 'computer' && to.kind !== 'computer') return { to: 'local', source: from, target: to };
  if (from.kind !== 'computer' && to.kind === 'computer') return { to: 'computer', source: from, target: to };
  throw new CliError(
    EXIT.usage,
    'One side is COMPUTER:PATH, the other a file of this machine (with a colon in its name: ./NAME) or -.',
  );
};

/** `computer:path`, unless a slash comes before the colon. */
const placeOf = (text: string): Place => {
  if (text === '-') return { kind: 'pipe' };
  const [, computer, path] = /^([^/:]+):(.*)$/s.exec(text) ?? [];
  return computer === undefined || path === undefined
    ? { kind: 'local', path: text }
    : { kind: 'computer', computer, path };
};
