type Cell = string | number | boolean | null;

/** A value of a row: what a cell holds, or an object of them, whose members become columns named `outer.inner`. */
type Value = Cell | { readonly [member: string]: Cell };

/** Objects with the same members as CSV (RFC 4180) with a header row; null is an empty cell. */
export const toCsv = <Row extends object>(columns: readonly string[], rows: readonly Row[]): string =>
  [columns, ...rows.map((row) => cellsOf(row, columns))].map(toLine).join('');

const cellsOf = (row: object, columns: readonly string[]): readonly Cell[] => {
  const values = new Map(Object.entries(row as Readonly<Record<string, Value>>).flatMap(flat));
  return columns.map((column) => values.get(column) ?? null);
};

const flat = ([name, value]: readonly [string, Value]): readonly (readonly [string, Cell])[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([member, cell]) => [`${name}.${member}`, cell] as const)
    : [[name, value]];

const toLine = (cells: readonly Cell[]): string => `${cells.map(toText).join(',')}\r\n`;

const toText = (cell: Cell): string => {
  const text = cell === null ? '' : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
