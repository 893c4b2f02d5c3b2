import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Files } from './files.fixture.js';
import { ImageInstallation, serve } from './image-installation.fixture.js';
import { temporaryFolder } from './stack.fixture.js';

const images = new ImageInstallation();
const { api } = images;
const templates = temporaryFolder();

const addTemplate = (id: string, options: Record<string, unknown>): void => {
  mkdirSync(join(templates.path, id), { recursive: true });
  const resources = { memMb: 256, vcpus: 1, diskGb: 1 };
  const template = { id, name: id, description: 'For tests.', resources, capabilities: [], env: [] };
  writeFileSync(
    join(templates.path, id, 'template.json'),
    JSON.stringify({ ...template, program: null, ...options }),
  );
};

beforeAll(async () => {
  addTemplate('elsewhere', { volumePath: '/srv/data', network: 'none' });
  await images.start({ BERTH_TEMPLATES_DIR: templates.path }, 'runtime: { allowRoot: false }\n');
});

afterAll(async () => {
  await images.stop();
  templates.remove();
});

describe('an image with symbolic links in place of folders', () => {
  it.each([
    ['the volume leads to Berth’s own folder', 'workspace', '/.berth'],
    ['the volume leads to the control groups', 'workspace', '/.berth/groups'],
    ['Berth’s own folder leads to the volume', '.berth', '/workspace'],
  ])('(%s) is not started: the version before runs again', async (what, link, target) => {
    const name = `links-${what.split(' ').at(-1) ?? ''}`;
    const root = images.rootOf(name);
    symlinkSync(target, join(root, link));
    await images.registry.push(name, '1', root, { Cmd: serve() });
    const { id } = await api.runningAgent();
    const { status, error } = await images.deployed(id, `${name}:1`);
    expect([status, error?.code]).toEqual(['failed', 'version_did_not_start']);
    await api.inState(id, 'running');
    expect((await api.chat(id, 'hello')).status).toBe(200);
  });
});

describe('an image of root on a host that allows no root inside', () => {
  it('runs as the unprivileged user', async () => {
    const root = images.rootOf('of-root', {}, ['sh', 'id', 'touch']);
    const id = await images.agentOf('of-root', root, { Cmd: serve(), User: '0:0' });
    expect(await images.sh(id, 'id -u; touch /x 2> /dev/null || echo refused')).toBe('1000\nrefused');
  });
});

describe('a template with a volumePath and without network', () => {
  it('has the volume there and no network, also when a version is deployed to its agent', async () => {
    const { id } = await api.runningAgent({ templateId: 'elsewhere' });
    const files = new Files(() => images.stack, id);
    const look =
      'echo $BERTH_VOLUME $HOME; pwd; read line < /srv/data/note; echo $line; echo /sys/class/net/*';
    const seen = '/srv/data /srv/data\n/srv/data\nwritten\n/sys/class/net/lo';
    expect((await files.write('/srv/data/note', 'written\n')).status).toBe(200);
    expect((await files.list()).body.root).toBe('/srv/data');
    expect(await images.sh(id, look)).toBe(seen);
    await images.registry.push('anywhere', '1', images.rootOf('anywhere'), { Cmd: serve() });
    expect(await images.deployed(id, 'anywhere:1')).toMatchObject({ status: 'succeeded' });
    expect((await files.list()).body.root).toBe('/srv/data');
    expect(await images.sh(id, look)).toBe(seen);
  });
});
