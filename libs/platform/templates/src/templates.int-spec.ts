import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTemplates } from './read-templates.js';

const shipped = join(import.meta.dirname, '../../../../infra/templates');

const whole = {
  id: 'mine',
  name: 'Mine',
  description: 'An operator’s own.',
  resources: { memMb: 128, vcpus: 0.5, diskGb: 1 },
  capabilities: ['chat'],
  env: [{ key: 'API_KEY', required: true, description: 'The key.' }],
  program: { command: ['python3', 'main.py'] },
};

describe('templates', () => {
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-templates-'));
  });

  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const put = (folder: string, content: unknown): void => {
    mkdirSync(join(dir, folder), { recursive: true });
    writeFileSync(
      join(dir, folder, 'template.json'),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  };

  it('that are shipped are all valid, and only legacy is deprecated and runs the old guest', async () => {
    const templates = await readTemplates([shipped]);
    expect(templates.map(({ id }) => id)).toEqual(expect.arrayContaining(['blank', 'echo', 'legacy']));
    expect(templates.filter(({ deprecated }) => deprecated).map(({ id }) => id)).toEqual(['legacy']);
    expect(templates.filter(({ generation }) => generation === 'legacy').map(({ id }) => id)).toEqual([
      'legacy',
    ]);
    expect(templates.find(({ id }) => id === 'blank')?.program).toBeNull();
  });

  it('of an operator are added to the shipped ones and do not replace any', async () => {
    put('mine', whole);
    put('echo', { ...whole, id: 'echo' });
    const templates = await readTemplates([shipped, dir]);
    expect(templates.find(({ id }) => id === 'mine')).toEqual({
      ...whole,
      deprecated: false,
      generation: 'current',
      container: {
        image: null,
        root: false,
        writableRoot: false,
        runtimeClass: null,
        network: null,
        volumePath: null,
      },
      env: [{ key: 'API_KEY', required: true, description: 'The key.' }],
      folder: join(dir, 'mine'),
    });
    expect(templates.find(({ id }) => id === 'echo')?.name).toBe('Echo');
  });

  it('say how the containers of their agents are made', async () => {
    const container = {
      image: 'ghcr.io/acme/app:1',
      root: true,
      writableRoot: true,
      runtimeClass: 'runsc',
      network: 'none',
      volumePath: '/srv/data',
    };
    put('mine', { ...whole, ...container });
    expect((await readTemplates([dir]))[0]?.container).toEqual(container);
  });

  it('are read without the files and dot folders next to them', async () => {
    writeFileSync(join(dir, 'README.md'), 'hello');
    mkdirSync(join(dir, '.git'));
    expect(await readTemplates([dir])).toEqual([]);
  });

  it.each([
    ['invalid JSON', '{', /invalid JSON/],
    ['a list instead of an object', [], /must be an object/],
    [
      'an id other than the name of its folder',
      { ...whole, id: 'other' },
      /"id" is "other", but the folder is named "mine"/,
    ],
    ['no memory', { ...whole, resources: { memMb: 0, vcpus: 1, diskGb: 1 } }, /resources.memMb/],
    ['an empty command', { ...whole, program: { command: [] } }, /"program.command" is empty/],
    ['no program', { ...whole, program: undefined }, /"program" \(null if there is none\)/],
    ['a reserved variable', { ...whole, env: [{ key: 'BERTH_X', description: 'x' }] }, /env\[0\]/],
    ['a malformed image', { ...whole, image: 'https://ghcr.io/app' }, /"image"/],
    ['a root that is not a flag', { ...whole, root: 'yes' }, /"root" must be true or false/],
    ['a malformed runtime class', { ...whole, runtimeClass: '../runc' }, /"runtimeClass"/],
    ['a network that it cannot have', { ...whole, network: 'host' }, /"network" must be "none"/],
    ['an unknown generation', { ...whole, generation: 'newest' }, /"generation"/],
  ])('with %s are refused with the file and the reason', async (_, content, message) => {
    put('mine', content);
    const refusal = expect(readTemplates([dir])).rejects;
    await refusal.toThrow(join(dir, 'mine', 'template.json'));
    await expect(readTemplates([dir])).rejects.toThrow(message);
  });

  it.each([
    'data',
    '/',
    '/data/',
    '//data',
    '/data/../etc',
    '/a:b',
    '/tmp',
    '/var',
    '/proc/x',
    '/run/data',
    '/.berth',
    `/${'x'.repeat(255)}`,
  ])('with the volume at %s are refused', async (volumePath) => {
    put('mine', { ...whole, volumePath });
    await expect(readTemplates([dir])).rejects.toThrow(/"volumePath"/);
  });

  it('cannot be read from a folder that does not exist', async () => {
    await expect(readTemplates([join(dir, 'nowhere')])).rejects.toThrow(/cannot be read/);
  });
});
