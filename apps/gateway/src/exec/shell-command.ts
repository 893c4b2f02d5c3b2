/** A command as text for a shell: a list's items are quoted, so that each arrives unchanged. */
export const toShellCommand = (command: string | readonly string[]): string =>
  typeof command === 'string' ? command : command.map(quote).join(' ');

/** Inside single quotes, a POSIX shell takes every character literally except the quote. */
const quote = (item: string): string => `'${item.replaceAll("'", `'\\''`)}'`;
