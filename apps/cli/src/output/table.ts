/** Rows as left-aligned columns under a head. Control characters are shown as `?`: names come from others. */
export const formatTable = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const cells = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
};

/** Without characters that would move the cursor or colour what follows. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '?');
