import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Writes a file that is there only once it is whole: a failure or a signal leaves nothing behind. */
export const writeWhole = async (path: string, content: AsyncIterable<Uint8Array>): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.${randomUUID()}.part`;
  const remove = (): void => rmSync(part, { force: true });
  const leave = (signal: NodeJS.Signals): void => {
    remove();
    // Without our handler the signal ends this program.
    for (const one of SIGNALS) process.removeListener(one, leave);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, leave);
  try {
    // Opened first: a stream would open it later, after it was removed, if the content fails at once.
    const file = await open(part, 'wx');
    await pipeline(content, file.createWriteStream());
    await rename(part, path);
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, leave);
    remove();
  }
};
