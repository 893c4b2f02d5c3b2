/** A command as text for a shell: a list's items are quoted, so that each arrives as it is. */
export const toShellCommand = (command: string | readonly string[]): string =>
  typeof command === 'string' ? command : command.map(quote).join(' ');

/** Inside single quotes a POSIX shell takes every character as it is, but the quote itself. */
const quote = (item: string): string => `'${item.replaceAll("'", `'\\''`)}'`;
