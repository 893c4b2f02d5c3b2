import { once } from 'node:events';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from './api.fixture.js';
import { openConsole } from './console.suite.js';
import { Files } from './files.fixture.js';
import { ImageInstallation, serve } from './image-installation.fixture.js';

const images = new ImageInstallation();
const { api } = images;

beforeAll(() => images.start());
afterAll(() => images.stop());

describe('an image that is deployed', () => {
  it('with one static program and nothing else runs: exec, files, console and logs work', async () => {
    const id = await images.agentOf('static', images.rootOf('static'), { Cmd: serve('echo it serves; ') });
    expect(await images.sh(id, 'echo $((6*7)) in $0; cd / && echo *')).toMatch(/^42 in .*\n.*busybox/);
    expect((await new Files(() => images.stack, id).write('a.txt', 'written\n')).status).toBeLessThan(300);
    expect(await images.sh(id, 'read line < a.txt; echo "$line"')).toBe('written');
    const { socket, shown } = openConsole(images.stack, id);
    await once(socket, 'open');
    socket.send(Buffer.from('echo "$((6 * 7)) in $BERTH_AGENT_ID"\n'));
    await eventually(() => shown().includes(`42 in ${id}`));
    const closed = once(socket, 'close');
    socket.send(Buffer.from('exit\n'));
    expect((await closed)[0]).toBe(1000);
    const logs = async () => JSON.stringify((await api.get(`/api/agents/${id}/logs?source=agent`)).body);
    await eventually(async () => expect(await logs()).toContain('it serves'));
  });

  it('is pinned: the agent names its digest, and keeps it when the tag moves', async () => {
    const root = images.rootOf('pinned', { version: 'one' }, ['sh', 'cat']);
    const id = await images.agentOf('pinned', root, { Cmd: serve() });
    const digest = await images.registry.push('pinned', '1', images.rootOf('pinned2', { version: 'two' }), {
      Cmd: serve(),
    });
    const { source } = (await api.get(`/api/agents/${id}`)).body as { source?: { image?: string } };
    expect(source).toEqual({
      kind: 'image',
      image: expect.stringMatching(/\/pinned@sha256:[0-9a-f]{64}$/) as string,
    });
    expect(source?.image).not.toContain(digest);
    await api.post(`/api/agents/${id}/restart`);
    await api.inState(id, 'running');
    expect(await images.sh(id, 'cat /version')).toBe('one');
  });

  it('can be named without a tag, and by its digest, which is what runs', async () => {
    const [first, second] = [
      images.rootOf('first', { it: 'first' }),
      images.rootOf('second', { it: 'second' }),
    ];
    const digest = await images.registry.push('named', 'latest', first, { Cmd: serve() });
    const { id } = await api.runningAgent();
    expect(await images.deployed(id, 'named')).toMatchObject({ status: 'succeeded' });
    expect(await images.sh(id, 'read line < /it; echo $line')).toBe('first');
    await images.registry.push('named', 'latest', second, { Cmd: serve() });
    expect(await images.deployed(id, 'named')).toMatchObject({ status: 'succeeded' });
    expect(await images.sh(id, 'read line < /it; echo $line')).toBe('second');
    expect(await images.deployed(id, `named@${digest}`)).toMatchObject({ status: 'succeeded' });
    expect(await images.sh(id, 'read line < /it; echo $line')).toBe('first');
    expect(await images.deployed(id, `named@sha256:${'0'.repeat(64)}`)).toMatchObject({
      status: 'failed',
      error: { code: 'image_unavailable' },
    });
    expect(await images.sh(id, 'read line < /it; echo $line')).toBe('first');
  });

  it('runs with its command, folder, variables and user; PORT and the owner’s variables win', async () => {
    const files = {
      'etc/passwd': 'app:x:101:102::/srv:/bin/sh\n',
      'etc/group': 'app:x:102:\nstaff:x:50:app\n',
      'srv/here': '',
    };
    await images.registry.push('whole', '1', images.rootOf('whole', files, ['sh', 'id', 'env', 'pwd']), {
      Entrypoint: ['/busybox', 'sh', '-c'],
      Cmd: ['echo "runs in $(pwd) as $(id)"; env; exec /busybox httpd -f -p $PORT -h /'],
      Env: ['PATH=/bin', 'COLOUR=blue', 'SHAPE=round', 'PORT=1', 'BERTH_AGENT_ID=mine', 'HOME=/elsewhere'],
      WorkingDir: '/srv',
      User: 'app',
      ExposedPorts: { '1/tcp': {} },
      Volumes: { '/srv/data': {} },
      StopSignal: 'SIGUSR1',
      Healthcheck: { Test: ['CMD', '/bin/false'] },
    });
    const { id } = await api.runningAgent({ env: [{ key: 'SHAPE', value: 'square' }] });
    expect(await images.deployed(id, 'whole:1')).toMatchObject({ status: 'succeeded' });
    const { body } = await api.get<{ logs: readonly { message: string }[] }>(
      `/api/agents/${id}/logs?source=agent&limit=200`,
    );
    const lines = body.logs.map(({ message }) => message);
    expect(lines).toContain('runs in /srv as uid=101(app) gid=102(app) groups=50(staff)');
    expect(lines).toEqual(
      expect.arrayContaining(['COLOUR=blue', 'SHAPE=square', 'HOME=/workspace', `BERTH_AGENT_ID=${id}`]),
    );
    expect(lines).not.toContain('PORT=1');
    expect(await images.sh(id, 'id -u; echo x > $HOME/mine && echo wrote')).toBe('101\nwrote');
  });

  it('without a USER is root inside, in commands and files too; what it writes outlives sleep, not the next image', async () => {
    const tools = ['sh', 'id', 'cat', 'chown', 'stat', 'mkdir'];
    const files = { 'usr/lib/old': 'one' };
    const id = await images.agentOf('rooted', images.rootOf('rooted', files, tools), { Cmd: serve('id; ') });
    expect(
      await images.sh(
        id,
        'id -u; echo two > /usr/lib/old; mkdir /opt; echo x > /opt/new; chown 33:34 /opt/new',
      ),
    ).toBe('0');
    expect((await new Files(() => images.stack, id).write('a.txt', 'written\n')).status).toBeLessThan(300);
    expect(await images.sh(id, 'stat -c %u a.txt; cat a.txt')).toBe('0\nwritten');
    const { body } = await api.get(`/api/agents/${id}/stats`);
    expect(body['diskBytes']).toBeGreaterThan(0);
    expect((await api.post(`/api/agents/${id}/restart`)).status).toBeLessThan(300);
    await api.inState(id, 'running');
    expect(await images.sh(id, 'cat /usr/lib/old /opt/new; stat -c %u:%g /opt/new')).toBe('two\nx\n33:34');
    await images.registry.push('rooted', '2', images.rootOf('rooted2', files, tools), { Cmd: serve() });
    expect(await images.deployed(id, 'rooted:2')).toMatchObject({ status: 'succeeded' });
    expect(await images.sh(id, 'cat /usr/lib/old; echo; test -e /opt/new || echo gone; cat a.txt')).toBe(
      'one\ngone\nwritten',
    );
  });

  it('has folders for temporary files even if it lacks them', async () => {
    const id = await images.agentOf('bare', images.rootOf('bare', {}, ['sh', 'ls']), { Cmd: serve() });
    for (const path of ['/tmp', '/var/tmp', '/run', '/dev/shm'])
      expect(await images.sh(id, `echo x > ${path}/x && read line < ${path}/x && echo $line`)).toBe('x');
  });

  it('of a user by number keeps the volume of the version before', async () => {
    await images.registry.push('numbered', '1', images.rootOf('numbered', {}, ['sh', 'id', 'cat']), {
      Cmd: serve(),
      User: '4321:7',
    });
    const { id } = await api.runningAgent();
    await images.sh(id, 'echo kept > $HOME/kept; chmod 600 $HOME/kept');
    expect(await images.deployed(id, 'numbered:1')).toMatchObject({ status: 'succeeded' });
    expect(await images.sh(id, 'id -u; id -g; cat $HOME/kept; echo more >> $HOME/kept && echo wrote')).toBe(
      '4321\n7\nkept\nwrote',
    );
  });

  it.each([
    ['without a command', {}, /has no command/],
    ['whose command ends', { Cmd: ['/busybox', 'false'] }, /exited with code 1/],
    ['whose command is absent', { Cmd: ['/nowhere'] }, /./],
    ['of an unknown user', { Cmd: serve(), User: 'stranger' }, /user that it does not have/],
  ])('%s does not start: the version before runs again', async (what, program, message) => {
    const name = what.replaceAll(' ', '-');
    await images.registry.push(name, '1', images.rootOf(name), program);
    const { id } = await api.runningAgent();
    const { status, error } = await images.deployed(id, `${name}:1`);
    expect([status, error]).toMatchObject(['failed', { code: 'version_did_not_start' }]);
    expect(error?.message).toMatch(message);
    await api.inState(id, 'running');
    expect((await api.chat(id, 'hello')).status).toBe(200);
    expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({ source: { kind: 'template' } });
  });

  it.each(['lies', 'breaks off'] as const)(
    'of a registry that %s fails with image_unavailable',
    async (fault) => {
      const name = fault.replace(' ', '-');
      await images.registry.push(name, '1', images.rootOf(name, { [name]: '' }), { Cmd: serve() });
      images.registry.fail(name, fault);
      const { id } = await api.runningAgent();
      const { status, error } = await images.deployed(id, `${name}:1`);
      expect([status, error?.code]).toEqual(['failed', 'image_unavailable']);
      expect(error?.message).toBe(
        `The image ${images.registry.host}/${name}:1 cannot be pulled. ` +
          'Check that it exists, and that the host of the agent can reach its registry and may pull from it.',
      );
      expect((await api.chat(id, 'hello')).status).toBe(200);
      images.registry.fail(name, null);
      expect(await images.deployed(id, `${name}:1`)).toMatchObject({ status: 'succeeded' });
    },
  );

  it('of a registry that hangs holds up no other deployment, and ends with its agent', async () => {
    await images.registry.push('quick', '1', images.rootOf('quick'), { Cmd: serve() });
    images.registry.fail('endless', 'hangs');
    const waiting = await Promise.all([api.runningAgent(), api.runningAgent(), api.runningAgent()]);
    for (const { id } of waiting)
      expect((await images.deploy(id, `${images.registry.host}/endless`)).status).toBe(202);
    const { id } = await api.runningAgent();
    expect(await images.deployed(id, 'quick:1')).toMatchObject({ status: 'succeeded' });
    for (const { id: one } of waiting) {
      expect((await api.chat(one, 'hello')).status).toBe(200);
      expect((await api.call('DELETE', `/api/agents/${one}`)).status).toBe(204);
    }
  });

  it('that is refused is a 400 with its reason, and nothing is requested from a registry', async () => {
    const { id } = await api.runningAgent();
    const before = images.registry.requests.length;
    const refused = async (image: string) => {
      const response = await images.deploy(id, image);
      return [response.status, codeOf(response)];
    };
    expect(await refused('registry.example/app:1')).toEqual([400, 'image_refused']);
    expect(await refused('127.0.0.1:1/app')).toEqual([400, 'image_refused']);
    for (const image of [
      'https://docker.io/app',
      'App',
      'app@sha256:1',
      `${'a/'.repeat(1_999)}aa`,
      'a'.repeat(4_001),
    ])
      expect([image.slice(0, 9), ...(await refused(image))]).toEqual([
        image.slice(0, 9),
        400,
        'invalid_request',
      ]);
    expect(images.registry.requests.length).toBe(before);
  });
});
