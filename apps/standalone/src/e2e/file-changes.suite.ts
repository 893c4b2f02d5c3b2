import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Calls that change a volume, its boundaries, and the agent it belongs to. */
export const describeFileChanges = (stack: () => Stack): void => {
  const api = new Api(stack);
  let files: Files;
  let exec: Executions;
  let root: string;

  beforeAll(async () => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    files = new Files(stack, id);
    exec = new Executions(api, id);
    root = (await files.list()).body.root;
  });

  const refused = (response: ApiResponse): readonly unknown[] => [response.status, codeOf(response)];
  const sh = async (command: string): Promise<string> => (await exec.run(command)).body.stdout;

  describe('mkdir, move and delete', () => {
    it('mkdir creates parents, accepts an existing folder and refuses a file', async () => {
      expect((await files.mkdir('m/a/b')).body).toEqual({ ok: true, path: `${root}/m/a/b` });
      expect((await files.mkdir('m/a/b')).status).toBe(200);
      await files.write('m/file', 'x');
      expect(refused(await files.mkdir('m/file'))).toEqual([409, 'path_exists']);
    });

    it('move does not overwrite its destination, and names what is missing', async () => {
      await files.write('mv/from', 'x');
      await files.write('mv/there', 'y');
      expect(refused(await files.move('mv/from', 'mv/there'))).toEqual([409, 'destination_exists']);
      expect(refused(await files.move('mv/from', 'mv/from'))).toEqual([409, 'destination_exists']);
      expect(refused(await files.move('mv/nothing', 'mv/new'))).toEqual([404, 'source_not_found']);
      expect(refused(await files.move('mv', 'mv/into/itself'))).toMatchObject([400, expect.any(String)]);
      expect((await files.move('.', 'elsewhere')).status).toBe(400);
      const moved = await files.move('mv/from', 'mv/to');
      expect([moved.status, moved.body]).toEqual([
        200,
        { ok: true, from: `${root}/mv/from`, to: `${root}/mv/to` },
      ]);
      expect(await sh('cat mv/there mv/to; ls mv')).toBe('yxthere\nto\n');
    });

    it('delete removes folders with their content, never the root, and names what is missing', async () => {
      await sh('mkdir -p del/a/b; touch del/a/b/c; ln -s /etc del/a/link');
      expect((await files.delete('del')).body).toEqual({ ok: true, path: `${root}/del` });
      expect(refused(await files.delete('del'))).toEqual([404, 'path_not_found']);
      for (const path of ['.', '/', root, `${root}/`, 'a/..']) {
        await files.mkdir('a');
        const response = await files.delete(path);
        expect([path, response.status]).toEqual([path, 400]);
      }
      expect(refused(await files.delete(root))).toEqual([400, 'volume_root']);
      expect(await sh('ls /etc/passwd')).toBe('/etc/passwd\n');
    });
  });

  describe('the boundaries of a volume', () => {
    it('no path leaves it, by .., from the root, or by links', async () => {
      await sh(
        'mkdir -p w walled; ln -sfn /etc w/etc; ln -sfn ../../../../etc w/up; ln -sfn /etc/passwd w/passwd; ln -sfn /tmp/new-file w/dangling',
      );
      const out = ['../x', 'w/../../x', '/etc/x', 'w/etc/x', 'w/up/x', '/'];
      for (const path of out) {
        for (const response of [
          await files.write(path, 'evil'),
          await files.mkdir(path),
          await files.move(path, 'w/got'),
          await files.move('walled', `${path}/got`),
          await files.upload(Buffer.from('evil'), { name: 'evil', dest_dir: path }),
        ]) {
          expect([path, ...refused(response)]).toEqual([
            path,
            400,
            path === '/' ? expect.any(String) : 'path_outside_volume',
          ]);
        }
      }
      for (const path of ['w/passwd', 'w/dangling']) {
        expect(refused(await files.write(path, 'evil'))).toEqual([400, 'path_outside_volume']);
      }
      for (const path of ['..', '/etc', 'w/etc', 'w/up']) {
        expect(refused(await files.list(path))).toEqual([400, 'path_outside_volume']);
      }
      expect(refused(await files.delete('w/etc/passwd'))).toEqual([400, 'path_outside_volume']);
      expect((await files.delete('w/etc')).status).toBe(200);
      expect(await sh('ls /etc/passwd; ls /tmp/new-file 2>/dev/null')).toBe('/etc/passwd\n');
    });

    it('invalid names return 400', async () => {
      for (const path of [`x/${'a'.repeat(256)}`, `x/${'ü'.repeat(128)}`, 'a\0b']) {
        for (const response of [
          await files.write(path, 'x'),
          await files.mkdir(path),
          await files.list(path),
          await files.delete(path),
        ]) {
          expect(refused(response)).toEqual([400, 'invalid_path']);
        }
      }
      expect((await files.write(`x/${'a'.repeat(255)}`, 'x')).status).toBe(200);
    });
  });

  describe('an agent', () => {
    let id: string;
    beforeAll(async () => {
      ({ id } = await api.runningAgent({ templateId: 'blank' }));
    }, 60_000);

    it('is woken by every file call', async () => {
      const own = new Files(stack, id);
      await own.write('a', 'x');
      for (const call of [
        () => own.list(),
        () => own.download('a'),
        () => own.write('b', 'x'),
        () => own.mkdir('c'),
        () => own.move('b', 'd'),
        () => own.delete('d'),
        () => own.upload(Buffer.from('x'), { name: 'e', dest_dir: 'f' }),
      ]) {
        await api.post(`/api/agents/${id}/sleep`);
        expect((await call()).status).toBe(200);
        expect((await api.get(`/api/agents/${id}`)).body['state']).toBe('running');
      }
    });

    it('returns 409 agent_stopped for every file call if it is stopped, and 404 if it does not exist', async () => {
      await api.post(`/api/agents/${id}/stop`);
      const calls = (own: Files) => [
        own.list(),
        own.write('b', 'x'),
        own.mkdir('c'),
        own.move('b', 'd'),
        own.delete('d'),
        own.upload(Buffer.from('x'), { name: 'e' }),
      ];
      for (const response of await Promise.all(calls(new Files(stack, id)))) {
        expect(refused(response)).toEqual([409, 'agent_stopped']);
      }
      for (const response of await Promise.all(calls(new Files(stack, 'agt_01jd2m3k4n5p6q7r8s9t0v1w2x')))) {
        expect(refused(response)).toEqual([404, 'agent_not_found']);
      }
    });
  });
};
