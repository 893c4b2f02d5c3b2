import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@berth/config';
import { isId, newId } from '@berth/kernel';
import { programArguments } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostId } from './host-id.js';

let data: string;
let file: string;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'berth-host-id-'));
  file = join(data, 'host-id.json');
});

afterEach(() => rmSync(data, { recursive: true, force: true }));

describe('the id of a host', () => {
  it('is generated when no file stores one, and is the same at the next start', async () => {
    const id = await hostId(data);
    expect(isId('hst', id)).toBe(true);
    expect(await hostId(data)).toBe(id);
    expect(await hostId(data, id)).toBe(id);
  });

  it('is not replaced by a different one from the operator', async () => {
    const id = await hostId(data);
    await expect(hostId(data, newId('hst'))).rejects.toThrow(`BERTH_HOST_ID must be ${id}`);
    expect(await hostId(data)).toBe(id);
  });

  it.each([
    ['is empty', ''],
    ['is torn', '"hst_01'],
    ['holds something else', '{"id":1}'],
    ['holds the id of something else', JSON.stringify(newId('agt'))],
  ])('is not replaced when its file %s: the start is refused', async (_what, text) => {
    writeFileSync(file, text);
    for (const given of [undefined, newId('hst')]) {
      const refused = await hostId(data, given).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ConfigError);
      expect(refused).toMatchObject({ message: expect.stringContaining(file) });
    }
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

describe('a runtime that cannot read the id of its host', () => {
  it('exits with 78 and one line that names the file, and changes nothing', async () => {
    mkdirSync(file);
    const env = { NATS_URL: 'nats://127.0.0.1:1', BERTH_RUNTIME_DATA: data };
    const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(
        process.execPath,
        programArguments('runtime'),
        { env, timeout: 20_000 },
        (error, stdout, stderr) => resolve({ code: error?.code, output: stdout + stderr }),
      );
    });
    expect(output.trim().split('\n')).toEqual([
      `runtime: Bad configuration: ${file}, which stores the id of this host, cannot be read (EISDIR).`,
    ]);
    expect(code).toBe(78);
    expect(readdirSync(data)).toEqual(['host-id.json']);
  });
});
