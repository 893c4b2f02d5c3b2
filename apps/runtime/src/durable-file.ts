import { open, readFile, rename } from 'node:fs/promises';
import { ConfigError } from '@berth/config';

/** Replaces a file atomically, readable by its owner only: after a crash it has either the old or the new content. */
export const writeDurably = async (path: string, text: string): Promise<void> => {
  const next = `${path}.next`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(next, path);
};

/** The content of a stored JSON file. */
export interface StoredContent<T> {
  /** Names the content in errors, for example `the id of this host`. */
  readonly description: string;
  /** Returns undefined if the parsed JSON is something else. */
  parse(json: unknown): T | undefined;
}

/**
 * Returns the content of a JSON file, or undefined if the file is missing. Throws `ConfigError` if the file cannot be
 * read or is damaged: a host that treated such a file as missing would replace or end what belongs to it.
 */
export const readStored = async <T>(
  file: string,
  { description, parse }: StoredContent<T>,
): Promise<T | undefined> => {
  const text = await unlessMissing(file, description, readFile(file, 'utf8'));
  if (text === undefined) return undefined;
  const content = parse(parsed(text));
  if (content !== undefined) return content;
  throw new ConfigError([`${file} must contain ${description} as JSON; restore the file`]);
};

/** Returns undefined if the path does not exist. Throws `ConfigError` for any other failure. */
export const unlessMissing = <T>(
  path: string,
  description: string,
  read: Promise<T>,
): Promise<T | undefined> =>
  read.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ConfigError(
      [`${path}, which stores ${description}, cannot be read (${error.code ?? 'unknown error'})`],
      { cause: error },
    );
  });

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
