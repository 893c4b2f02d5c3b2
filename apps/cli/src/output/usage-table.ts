import { formatTable } from './table.js';
import type { UsageLine } from './usage-groups.js';

const FIGURES: readonly (readonly [title: string, of: (line: UsageLine) => number])[] = [
  ['activeSeconds', (line) => line.activeSeconds],
  ['computeMinutes', (line) => line.computeMinutes],
  ['vcpuSeconds', (line) => line.vcpuSeconds],
  ['memGbSeconds', (line) => line.memGbSeconds],
  ['diskGbSeconds', (line) => line.diskGbSeconds],
  ['wakes', (line) => line.wakes],
  ['chats', (line) => line.chats],
  ['executions', (line) => line.executions],
  ['llm.requests', (line) => line.llm.requests],
  ['llm.inputTokens', (line) => line.llm.inputTokens],
  ['llm.outputTokens', (line) => line.llm.outputTokens],
  ['hostingCents', (line) => line.hostingCents],
  ['aiCents', (line) => line.aiCents],
  ['totalCents', (line) => line.totalCents],
];

/** A line for each one; `names`: the members of `of`. */
export const usageTable = (names: readonly string[], lines: readonly UsageLine[]): string =>
  formatTable(
    titles(names).map((title) => title.replace(/(?=[A-Z])/g, ' ').toUpperCase()),
    lines.map((line) => cellsOf(names, line, '-')),
  );

/** CSV according to RFC 4180, with a header. */
export const usageCsv = (names: readonly string[], lines: readonly UsageLine[]): string =>
  [titles(names), ...lines.map((line) => cellsOf(names, line, ''))]
    .map((cells) => `${cells.map(quoted).join(',')}\r\n`)
    .join('');

const titles = (names: readonly string[]): readonly string[] => [
  ...names,
  ...FIGURES.map(([title]) => title),
];

const cellsOf = (names: readonly string[], line: UsageLine, absent: string): readonly string[] => [
  ...names.map((name) => line.of[name] ?? absent),
  ...FIGURES.map(([, of]) => String(of(line))),
];

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
