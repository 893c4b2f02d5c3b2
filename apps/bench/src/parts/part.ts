import type { BenchContext } from '../context.js';
import type { Comparison } from '../measure/compare.js';
import type { Inventory } from '../measure/inventory.js';
import type { Note } from '../measure/note.js';

export type Section = Comparison | Inventory | Note;

/** One measurement; `--only` takes its name. */
export interface Part {
  readonly name: string;
  /** Whether it needs what `npm run bench -- --containers` prepares. */
  readonly needs?: 'containers';
  run(context: BenchContext): Promise<readonly Section[]>;
}
