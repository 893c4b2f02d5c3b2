import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BenchError } from '../bench-error.js';
import { BenchContext, QUICK } from '../context.js';
import { createLogger } from '@berth/telemetry';
import { startBareFiles, type BareFiles } from './bare-files.js';
import { payloadOf, prepareUpload } from './payload.js';

let folder: string;
let bare: BareFiles;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-files-spec-'));
  const log = createLogger({ service: 'bench', level: 'error' });
  bare = await startBareFiles(new BenchContext(QUICK, folder, process.env, log, { agents: 1, awake: 1 }));
});
afterAll(async () => {
  await bare.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the client and the server that files are compared with', () => {
  it('transfer every byte of a file whose size is no multiple of a chunk', async () => {
    const content = payloadOf(3 * 2 ** 20 + 1);
    expect(await bare.server.upload(prepareUpload('a.bin', content, { dest_dir: '.' }))).toBe(content.length);
    expect(readFileSync(join(folder, 'bare-files', 'a.bin')).equals(content)).toBe(true);
    expect(await bare.server.download('a.bin')).toBe(content.length);
  });

  it('count the entries of a folder', async () => {
    bare.fill('many', 120);
    writeFileSync(join(folder, 'bare-files', 'many', 'one more'), 'x');
    expect(await bare.server.list('many')).toBe(121);
  });

  it('end the bench with the response instead of measuring an error', async () => {
    const refused = bare.server.download('not-there');
    await expect(refused).rejects.toThrow(BenchError);
    await expect(refused).rejects.toThrow(/GET download.* returned 500.*ENOENT/);
  });
});

describe('a payload', () => {
  it('cannot be stored as holes or as a single repeated byte', () => {
    const content = payloadOf(2 ** 20);
    expect(new Set(content).size).toBe(256);
    expect(content.equals(payloadOf(2 ** 20))).toBe(false);
  });
});
