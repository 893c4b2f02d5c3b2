/**
 * Formats rows as left-aligned columns under a header. Control characters become `?`, because other users choose the
 * names.
 */
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

/** Replaces characters that would move the cursor or colour the text that follows. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '?');
