import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import type { Comparison, Row } from './measure/compare.js';
import type { Inventory } from './measure/inventory.js';
import type { Note } from './measure/note.js';
import type { Section } from './parts/part.js';

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  /** Load average of the minute before the start. */
  readonly load: number;
}

export const thisMachine = (): Machine => ({
  cores: availableParallelism(),
  processor: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${process.arch} ${release()}`,
  node: process.version,
  load: loadavg()[0] ?? 0,
});

export const renderMachine = ({ cores, processor, memoryGb, system, node, load }: Machine): string =>
  `${cores} cores (${processor}), ${memoryGb} GB, ${system}, node ${node}, load ${load.toFixed(1)} at the start`;

/** Renders a section as a table; each ratio is in the row of its limit. */
export const renderSection = (section: Section): string => {
  switch (section.kind) {
    case 'comparison':
      return renderComparison(section);
    case 'inventory':
      return renderInventory(section);
    case 'note':
      return renderNote(section);
  }
};

const NAME_WIDTH = 52;
const WIDTH = 11;

const line = (name: string, cells: readonly string[], last = ''): string =>
  `  ${name.padEnd(NAME_WIDTH)}${cells.map((cell) => cell.padStart(WIDTH)).join('')}${last === '' ? '' : `   ${last}`}`;

const renderComparison = (comparison: Comparison): string => {
  const rows = [...comparison.limits, comparison.ours];
  return [
    '',
    comparison.title,
    line(
      '',
      [comparison.unit === null ? 'per second' : `${comparison.unit}/s`, 'p50 ms', 'p99 ms'],
      'ours to this one',
    ),
    ...rows.map((row) => line(row.name, cellsOf(row), ratioText(row, comparison))),
    ...aimLines(comparison),
  ].join('\n');
};

const cellsOf = ({ middle }: Row): string[] => [
  numberText(middle.perSecond),
  timeText(middle.p50),
  timeText(middle.p99),
];

const ratioText = ({ ratio }: Row, { measure }: Comparison): string => {
  if (ratio === null) return '';
  const suffix = measure === 'rate' ? 'of its rate' : 'times as long';
  return `${ratioNumber(ratio.middle)} ${suffix} (${ratioNumber(ratio.least)} to ${ratioNumber(ratio.most)})`;
};

const aimLines = ({ aim, measure, limits }: Comparison): string[] => {
  const ratio = limits[0]?.ratio?.middle;
  if (aim === null || ratio === undefined) return [];
  const reached = measure === 'rate' ? ratio >= aim : ratio <= aim;
  return [
    `  aim: ${measure === 'rate' ? 'at least' : 'at most'} ${aim} of the first: ${reached ? 'reached' : 'MISSED'}`,
  ];
};

const renderInventory = ({ title, unit, items, aim }: Inventory): string =>
  [
    '',
    title,
    line('', [unit]),
    ...items.map(({ name, value }) => line(name, [numberText(value)])),
    ...(aim === undefined
      ? []
      : [
          `  aim: at most ${aim} ${unit} each: ${items.every(({ value }) => value <= aim) ? 'reached' : 'MISSED'}`,
        ]),
  ].join('\n');

const renderNote = ({ title, text }: Note): string =>
  ['', title, ...text.split('\n').map((line) => `  ${line}`)].join('\n');

const numberText = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2);

const timeText = (ms: number | null): string => (ms === null ? '' : numberText(ms));

const ratioNumber = (ratio: number): string => (ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2));
