import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOpenApi } from './openapi.mjs';
import { installRequirements, PYTHON_CLIENT, runPython, usualPython } from './python.mjs';

let folder = '';
let packages = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-python-'));
  packages = await installRequirements(usualPython(), 'test');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the Python client', () => {
  it('passes its tests against a server on a real socket and the OpenAPI document', async () => {
    const document = join(folder, 'openapi.json');
    writeFileSync(document, await readOpenApi());
    const { code, output } = await runPython(usualPython().program, ['-m', 'pytest'], {
      env: { BERTH_OPENAPI: document },
      paths: [join(PYTHON_CLIENT, 'src'), packages],
    });
    expect(code, output).toBe(0);
  }, 300_000);

  it('is synchronous as it is asynchronous: one is generated from the other', async () => {
    const check = ['scripts/generate_sync.py', '--check'];
    const { code, output } = await runPython(usualPython().program, check);
    expect(code, output).toBe(0);
  });

  it('says in one line what to install on a machine without Python', () => {
    expect(() => usualPython({ PATH: folder, HOME: folder })).toThrow(
      /^Install Python 3\.10 or newer with pip: apt-get install -y .+$/,
    );
  });
});
