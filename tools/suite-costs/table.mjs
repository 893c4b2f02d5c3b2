import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../ensure-installed.mjs';

const TABLE = join(ROOT, 'tools', 'suite-costs', 'table.json');

/** Writes what a whole run cost. */
export function writeTable(costs) {
  writeFileSync(TABLE, `${JSON.stringify(costs, null, 2)}\n`);
}
