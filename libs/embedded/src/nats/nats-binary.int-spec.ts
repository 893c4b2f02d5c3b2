import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordingLog, temporaryDataDir } from '../embedded-bench.fixture.js';
import { ensureNatsServer } from './nats-binary.js';

describe('finding nats-server', () => {
  const folder = temporaryDataDir();
  beforeEach(() => mkdirSync(folder.dataDir, { recursive: true }));
  afterEach(() => folder.remove());

  function program(name: string, script: string): void {
    writeFileSync(join(folder.dataDir, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  it('takes the first one in the given folders, with its version', async () => {
    program('nats-server', 'echo "nats-server: v2.11.4"');
    const found = await ensureNatsServer(recordingLog(), ['/nowhere', folder.dataDir]);
    expect(found).toEqual({ path: join(folder.dataDir, 'nats-server'), version: [2, 11, 4] });
  });

  it('installs it with the package manager if it is missing, and logs that', async () => {
    const target = join(folder.dataDir, 'nats-server');
    program('brew', `printf '#!/bin/sh\\necho v2.10.1\\n' > ${target}; chmod +x ${target}`);
    const log = recordingLog();
    expect(await ensureNatsServer(log, [folder.dataDir])).toEqual({ path: target, version: [2, 10, 1] });
    expect(log.lines.join()).toContain('brew install nats-server');
  });

  it('names the command to run when the package manager fails', async () => {
    program('brew', 'echo "no network" >&2; exit 1');
    const attempt = ensureNatsServer(recordingLog(), [folder.dataDir]);
    await expect(attempt).rejects.toThrow(/brew install nats-server.*\n.*no network/);
  });

  it('names the download and the alternative when there is no package manager', async () => {
    await expect(ensureNatsServer(recordingLog(), [folder.dataDir])).rejects.toThrow(
      /github\.com\/nats-io\/nats-server\/releases.*NATS_URL/,
    );
  });
});
