import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  Berth,
  insideAgent,
  publishSchedules,
  ServiceAuthError,
  ServiceConflictError,
  ServiceError,
  ServiceNotFoundError,
  type Agent,
} from '@berth/client';
import { fileFromPath, saveTo } from '@berth/client/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { openAccount } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

const CLIENT = fileURLToPath(new URL('../../../../libs/client', import.meta.url));

const rejection = async (work: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('It was fulfilled.');
};

/** The TypeScript client against the product. */
export const describeClientLibrary = (stack: () => Stack): void => {
  const api = new Api(stack);
  let key = '';
  let folder = '';
  let berth: Berth;
  let agent: Agent;

  const client = (apiKey: string, gateway = 0): Berth => {
    const baseUrl = stack().urls[gateway];
    if (baseUrl === undefined) throw new Error(`There is no gateway ${gateway}.`);
    return new Berth({ apiKey, baseUrl });
  };

  describe('the TypeScript client', () => {
    beforeAll(async () => {
      ({ key } = await openAccount(api, 'typescript'));
      folder = mkdtempSync(join(tmpdir(), 'berth-typescript-'));
      berth = client(key);
      agent = await berth.agents.provision({
        externalId: 'mine',
        name: 'Mine',
        template: 'echo',
        env: { A: 'b' },
      });
      agent = await berth.agents.get(agent.id, { wait: 'running', waitTimeout: 60 });
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it('provisions one agent, however many ask for it at once', async () => {
      const wanted = { externalId: 'shared', name: 'Shared', template: 'echo' };
      const clients = [client(key, 0), client(key, stack().urls.length - 1)];
      const made = await Promise.all(
        Array.from({ length: 6 }, (_, index) => clients[index % 2]?.agents.provision(wanted)),
      );
      expect(new Set(made.map((one) => one?.id)).size).toBe(1);
      const other = berth.agents.provision({ ...wanted, externalId: 'another' });
      expect(await rejection(other)).toBeInstanceOf(ServiceConflictError);
      await berth.agents.delete(made[0]?.id ?? '');
    });

    it('chats, also as a stream', async () => {
      const reply = await berth.agents.chat(agent.id, 'hello', { conversationId: 'c' });
      expect(reply).toEqual({ response: expect.stringContaining('hello'), conversationId: 'c' });
      const events = [];
      for await (const event of berth.agents.chatStream(agent.id, 'again')) events.push(event);
      expect(events.at(-1)).toMatchObject({ type: 'done', response: expect.stringContaining('again') });
    });

    it('returns why a message was not delivered, and throws for an agent that does not exist', async () => {
      const stopped = await berth.agents.create({ name: 'Stopped', templateId: 'echo' });
      expect((await berth.agents.stop(stopped.id)).state).toBe('stopped');
      expect(await berth.agents.chat(stopped.id, 'hello')).toMatchObject({
        ...{ response: '', conversationId: null },
        error: {
          code: 'agent_stopped',
          status: 409,
          requestId: expect.any(String),
          message: expect.any(String),
        },
      });
      await berth.agents.delete(stopped.id);
      expect(await rejection(berth.agents.chat(stopped.id, 'hello'))).toBeInstanceOf(ServiceNotFoundError);
    });

    it('runs commands', async () => {
      const options = { cwd: '/tmp', env: { WORD: 'a  b' }, timeout: 30 };
      const result = await berth.agents.exec(agent.id, 'pwd; printf %s "$WORD" >&2; exit 3', options);
      expect(result).toMatchObject({ status: 'completed', exitCode: 3, stdout: '/tmp\n', stderr: 'a  b' });
      expect((await berth.agents.exec(agent.id, ['echo', 'a  b'])).stdout).toBe('a  b\n');
      expect(await rejection(berth.agents.exec(agent.id, 'sleep 1', { cwd: 'no\0' }))).toBeInstanceOf(
        ServiceError,
      );
    });

    it('moves files in and out', async () => {
      const path = join(folder, 'local.bin');
      const content = Uint8Array.from({ length: 300_000 }, (_, index) => index % 256);
      writeFileSync(path, content);
      expect(await berth.files.upload(agent.id, fileFromPath(path), { destDir: 'in' })).toMatchObject({
        ...{ ok: true, name: 'local.bin', size: content.length },
      });
      await berth.files.upload(agent.id, new Blob(['blob']), { destDir: 'in', name: 'Grüße "1" 😀.txt' });
      await berth.files.write(agent.id, 'in/text', 'Grüße\n');
      await berth.files.mkdir(agent.id, 'in/folder');
      await berth.files.move(agent.id, 'in/text', 'in/folder/text');
      const { entries, root } = await berth.files.list(agent.id, 'in');
      expect(entries.map(({ name }) => name)).toEqual(expect.arrayContaining(['folder', 'local.bin']));
      await saveTo(join(folder, 'back.bin'), await berth.files.download(agent.id, `${root}/in/local.bin`));
      expect(new Uint8Array(readFileSync(join(folder, 'back.bin')))).toEqual(content);
      expect(await (await berth.files.download(agent.id, 'in/folder/text')).text()).toBe('Grüße\n');
      await berth.files.delete(agent.id, 'in/folder');
      expect(await rejection(berth.files.delete(agent.id, 'in/folder'))).toBeInstanceOf(ServiceNotFoundError);
    });

    it('sets variables, and follows logs from where they were', async () => {
      const set = await berth.env.set(agent.id, 'TOKEN', 'value', { secret: true });
      expect(set).toMatchObject({ key: 'TOKEN', value: '********', isSecret: true });
      expect((await berth.env.list(agent.id)).items.map((one) => one.key)).toEqual(['A', 'TOKEN']);
      await berth.env.delete(agent.id, 'TOKEN');
      const { logs } = await berth.agents.logs(agent.id, { limit: 1 });
      expect(logs).toHaveLength(1);
      const messages = [];
      for await (const entry of berth.agents.followLogs(agent.id, { limit: 1 })) {
        messages.push(entry.message);
        break;
      }
      expect(messages).toHaveLength(1);
    });

    it('lists over pages, reads usage, audit and account, and invokes a webhook', async () => {
      const names = [];
      for await (const one of berth.audit.list({ limit: 2 })) names.push(one.action);
      expect(names.length).toBeGreaterThan(4);
      expect((await berth.templates.list()).items.map(({ id }) => id)).toContain('echo');
      expect(await berth.usage.total({ agentId: agent.id })).toMatchObject({ currency: 'USD' });
      expect(await berth.account.get()).toMatchObject({ name: 'typescript' });
      const { token } = await berth.webhooks.token(agent.id);
      expect(await berth.webhooks.invoke(agent.id, { message: 'hi' }, { token })).toMatchObject({
        accepted: true,
      });
      expect(await rejection(berth.webhooks.invoke(agent.id, 'hi', { token: 'wh_wrong' }))).toBeInstanceOf(
        ServiceAuthError,
      );
      expect((await berth.webhooks.deliveries(agent.id)).items).toHaveLength(1);
    });

    it('works with the token of an end user, for what it opens', async () => {
      await berth.endUsers.put('u@example.org', { displayName: 'Ada', metadata: { a: 1 }, tags: ['t'] });
      const own = await berth.endUsers.createAgent('u@example.org', { templateId: 'echo' });
      const { token } = await berth.endUsers.createToken('u@example.org', {
        scopes: ['chat'],
        ttlSeconds: 60,
      });
      const theirs = client(token);
      expect((await theirs.agents.get(own.id, { wait: 'running' })).state).toBe('running');
      expect((await theirs.agents.chat(own.id, 'hello')).response).toContain('hello');
      expect(await rejection(theirs.agents.get(agent.id))).toBeInstanceOf(ServiceNotFoundError);
      expect(await rejection(theirs.agents.list())).toMatchObject({ code: 'token_scope', status: 403 });
      await berth.endUsers.delete('u@example.org');
    });

    it('is outside an agent here', async () => {
      expect(insideAgent()).toBe(false);
      expect(await publishSchedules([])).toBeNull();
    });

    it('runs every example of its README', async () => {
      const modules = join(folder, 'node_modules/@berth');
      mkdirSync(modules, { recursive: true });
      symlinkSync(CLIENT, join(modules, 'client'));
      const examples = [...readFileSync(join(CLIENT, 'README.md'), 'utf8').matchAll(/^```ts\n([^]*?)^```/gm)];
      expect(examples.length).toBeGreaterThan(8);
      const { PATH = '' } = process.env;
      const env = { PATH, BERTH_URL: stack().urls[0], BERTH_API_KEY: key };
      for (const [index, [, code = '']] of examples.entries()) {
        const file = join(folder, `example-${index}.mts`);
        writeFileSync(file, code);
        const { stdout } = await promisify(execFile)(process.execPath, [file], { env, cwd: folder });
        expect(stdout, code).not.toBe('');
      }
    });
  });
};
