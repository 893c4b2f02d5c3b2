import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { aliveIn, Executions } from './executions.fixture.js';
import type { Stack } from './stack.fixture.js';

const KEPT = 262_144;

/** Commands in agents over HTTP, rule by rule: the same guarantees for every layout of the services. */
export const describeExecApi = (stack: () => Stack): void => {
  const api = new Api(stack);
  let exec: Executions;

  beforeAll(async () => {
    exec = new Executions(api, (await api.runningAgent({ templateId: 'blank' })).id);
  });

  describe('an attached execution', () => {
    it('returns exactly its five members, with separate streams', async () => {
      const { status, body } = await exec.run('printf out; printf err >&2; exit 3');
      expect([status, body]).toEqual([
        200,
        {
          executionId: expect.stringMatching(/^exe_/),
          status: 'completed',
          exitCode: 3,
          stdout: 'out',
          stderr: 'err',
        },
      ]);
      expect((await exec.get(body.executionId)).body).toEqual(body);
    });

    it('is shell text, or arguments that no shell interprets', async () => {
      expect((await exec.run('echo $((6*7)) | cat')).body.stdout).toBe('42\n');
      const hostile = ['$(id)', "it's", '*', 'a  b', '', '\n', '"', '`id`', '\\', '-n', 'ü'];
      const { body } = await exec.run(['printf', '[%s]', ...hostile]);
      expect(body.stdout).toBe(hostile.map((item) => `[${item}]`).join(''));
    });

    it('may reopen its outputs by name', async () => {
      const { body } = await exec.run(
        'echo o > /dev/stdout; echo both | tee -a /dev/stderr; echo e >> /dev/stderr',
      );
      expect(body).toMatchObject({ exitCode: 0, stdout: 'o\nboth\n', stderr: 'both\ne\n' });
    });

    it('is refused without starting when it is too large together with its environment', async () => {
      const env = Object.fromEntries(
        Array.from({ length: 64 }, (_, index) => [`V${index}`, 'x'.repeat(32_768)]),
      );
      const { status, body } = await exec.run(`touch too-large # ${'x'.repeat(1_000_000)}`, { env });
      expect([status, body.detail]).toMatchObject([400, { code: 'invalid_command' }]);
      expect((await exec.run('ls too-large')).body.exitCode).not.toBe(0);
    });

    it('ends at its timeout with -1 and its output so far, together with everything it started', async () => {
      const begun = Date.now();
      const { status, body } = await exec.run(
        'echo before; (trap "" TERM; setsid sh -c "echo \\$\\$ > pid; sleep 1000" & ); sleep 1000',
        { timeout: 0.5 },
      );
      expect(Date.now() - begun).toBeLessThan(10_000);
      expect([status, body]).toMatchObject([200, { status: 'timed_out', exitCode: -1, stdout: 'before\n' }]);
      const pid = await exec.wrote('pid');
      expect((await exec.run(aliveIn(pid))).body.stdout).toBe('');
    });

    it.each([
      [0.3, 'sleep 1000', 'timed_out'],
      [121, 'true', 'completed'],
      [1e300, 'true', 'completed'],
    ])('accepts a timeout of %d seconds', async (timeout, command, end) => {
      const { status, body } = await exec.run(command, { timeout });
      expect([status, body.status]).toEqual([200, end]);
    });

    it('runs in the requested folder with the requested variables, as the user of the agent and not of the host', async () => {
      await exec.run('mkdir -p sub');
      const { body } = await exec.run('pwd; echo $MINE; echo $BERTH_AGENT_ID', {
        cwd: 'sub',
        env: { MINE: 'x y' },
      });
      const [cwd, mine, agentId] = body.stdout.split('\n');
      expect([mine, agentId]).toEqual(['x y', exec.agentId]);
      expect(cwd).toMatch(/\/sub$/);
      const nowhere = await exec.run('true', { cwd: 'not-there' });
      expect([nowhere.status, nowhere.body.detail]).toMatchObject([400, { code: 'invalid_cwd' }]);
      const own = await exec.run('id -u; id -G');
      if (process.getuid?.() === 0) expect(own.body.stdout).not.toMatch(/^0$/m);
    });

    it('contains the output of its background children until it ends, and leaves them running', async () => {
      const { body } = await exec.run(
        '(until [ -e over ]; do sleep 0.05; done; echo late; echo alive > lives) & echo first',
      );
      expect(body.stdout).toBe('first\n');
      await exec.run('touch over');
      expect(await exec.wrote('lives')).toBe('alive');
      expect((await exec.get(body.executionId)).body.stdout).toBe('first\n');
    });

    it('continues when its caller disconnects', async () => {
      const leave = new AbortController();
      const gone = exec
        .run('sleep 1; echo survived > hung-up', {}, { signal: leave.signal })
        .catch(() => 'gone');
      await eventually(async () => {
        const { body } = await api.get<{ items: { status: string }[] }>(`${exec.path}?status=running`);
        expect(body.items).toHaveLength(1);
      });
      leave.abort();
      expect(await gone).toBe('gone');
      expect(await exec.wrote('hung-up')).toBe('survived');
    });

    it('that exhausts the memory of its agent with many small processes affects no other execution', async () => {
      const small = { templateId: 'blank', resources: { memMb: 128 } };
      const own = new Executions(api, (await api.runningAgent(small)).id);
      const beside = await own.begin('while [ ! -e over ]; do sleep 0.1; done; echo beside');
      const one = '(head -c 8000000 /dev/zero; sleep 2) | tail -c 8000000 > /dev/null || echo killed';
      const { body } = await own.run(
        `i=0; while [ $i -lt 40 ]; do { ${one}; } & i=$((i+1)); done; wait; echo end`,
      );
      expect(body).toMatchObject({ status: 'completed' });
      // Only root can limit the memory.
      if (process.getuid?.() === 0) expect(body.stdout).toContain('killed');
      await own.run('touch over');
      expect(await own.ended(beside)).toMatchObject({ status: 'completed', stdout: 'beside\n' });
    });

    it('accepts a command of nearly 1 MiB', async () => {
      const { body } = await exec.run(`echo ${'x'.repeat(1_048_576 - 13)} | wc -c`);
      expect(body).toMatchObject({ status: 'completed', exitCode: 0, stdout: `${1_048_576 - 13 + 1}\n` });
    });
  });

  describe('output', () => {
    it('that fits is complete', async () => {
      const { body } = await exec.run(
        `head -c ${KEPT} /dev/zero | tr '\\0' x; head -c ${KEPT} /dev/zero | tr '\\0' y >&2`,
      );
      expect([body.stdout, body.stderr]).toEqual(['x'.repeat(KEPT), 'y'.repeat(KEPT)]);
    });

    it('is truncated to its last 262,144 characters after the marker, each stream separately', async () => {
      const { body } = await exec.run(
        `printf a; head -c ${KEPT - 1} /dev/zero | tr '\\0' x; printf bc; printf err >&2`,
      );
      expect(body.stdout).toBe(`[output truncated]\n${'x'.repeat(KEPT - 2)}bc`);
      expect(body.stderr).toBe('err');
      expect((await exec.get(body.executionId)).body).toEqual(body);
    });

    it('counts characters, not bytes, and never splits one', async () => {
      const { body } = await exec.run(
        `i=0; while [ $i -lt 10 ]; do printf '\\360\\237\\230\\200'; i=$((i+1)); done; head -c ${KEPT - 5} /dev/zero | tr '\\0' x`,
      );
      expect(body.stdout).toBe(`[output truncated]\n${'😀'.repeat(5)}${'x'.repeat(KEPT - 5)}`);
    });

    it('of arbitrary bytes is text, including NUL and control characters', async () => {
      const { body } = await exec.run(`printf 'a\\000b\\377\\001ü'`);
      expect(body.stdout).toBe('a\0b\ufffd\u0001ü');
      expect((await exec.get(body.executionId)).body.stdout).toBe('a\0b\ufffd\u0001ü');
    });
  });

  describe('a detached execution', () => {
    it('returns 202 with two members and its location, continues, and can be read later', async () => {
      const { status, headers, body } = await exec.run('sleep 0.5; echo done', { detached: true });
      expect([status, Object.keys(body)]).toEqual([202, ['executionId', 'status']]);
      expect(headers.get('location')).toBe(`${exec.path}/${body.executionId}`);
      expect((await api.get(headers.get('location') ?? '')).body).toEqual({
        executionId: body.executionId,
        status: 'running',
      });
      expect(await exec.ended(body.executionId)).toMatchObject({
        status: 'completed',
        exitCode: 0,
        stdout: 'done\n',
      });
    });

    it('is new for every POST, but the same one under an Idempotency-Key', async () => {
      const [one, two] = [await exec.begin('true'), await exec.begin('true')];
      expect(one).not.toBe(two);
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const first = await exec.run('echo x >> once', { detached: true }, { headers });
      await exec.ended(first.body.executionId);
      const again = await exec.run('echo x >> once', { detached: true }, { headers });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(again.body.executionId).toBe(first.body.executionId);
      expect((await exec.run('wc -l < once')).body.stdout.trim()).toBe('1');
    });

    it('is cancelled with -1 and its partial output, even if it ignores TERM, and stays cancelled', async () => {
      const id = await exec.begin('trap "" TERM; echo partial; while :; do sleep 0.1; done');
      await eventually(async () => {
        const { body } = await api.get<{ text: string }>(`${exec.path}/${id}/output`);
        expect(body).toMatchObject({ status: 'running' });
      });
      const { status, body } = await exec.cancel(id);
      expect([status, body]).toMatchObject([200, { status: 'cancelled', exitCode: -1 }]);
      expect((await exec.get(id)).body).toEqual(body);
      expect((await exec.cancel(id)).body).toEqual(body);
    });

    it('that has ended is not changed by DELETE', async () => {
      const { body } = await exec.run('echo result; exit 9');
      const cancelled = await exec.cancel(body.executionId);
      expect([cancelled.status, cancelled.body]).toEqual([200, body]);
      expect((await exec.get(body.executionId)).body).toEqual(body);
    });

    it('that is cancelled while it completes has the same outcome for all readers', async () => {
      for (let round = 0; round < 3; round++) {
        const id = await exec.begin(`sleep 0.0${String(round * 2)}; echo over`);
        const responses = await Promise.all([exec.cancel(id), exec.cancel(id)]);
        const final = (await exec.get(id)).body;
        expect(responses.map(({ body }) => body)).toEqual([final, final]);
        expect(['completed', 'cancelled']).toContain(final.status);
      }
    });
  });

  describe('an unknown execution', () => {
    it.each(['GET', 'DELETE'])('%s returns exactly the specified 404', async (method) => {
      for (const id of ['exe_01jd2m3k4n5p6q7r8s9t0v1w2x', 'nonsense']) {
        const { status, body } = await api.call(method, `${exec.path}/${id}`);
        expect([status, body]).toEqual([404, { detail: 'Execution not found' }]);
      }
    });

    it("under another agent's path returns the same 404", async () => {
      const other = new Executions(api, (await api.runningAgent({ templateId: 'blank' })).id);
      const { body } = await exec.run('true');
      expect((await other.get(body.executionId)).body).toEqual({ detail: 'Execution not found' });
      expect((await other.cancel(body.executionId)).status).toBe(404);
    });
  });

  describe('the list', () => {
    it('shows executions immediately, newest first, by status, in pages', async () => {
      const own = new Executions(api, (await api.runningAgent({ templateId: 'blank' })).id);
      const ids: string[] = [];
      for (const code of [0, 1, 2]) ids.unshift((await own.run(`exit ${String(code)}`)).body.executionId);
      const running = await own.begin('sleep 100', { timeout: 200 });
      for (const gateway of stack().urls.keys()) {
        const all = await api.get<{ items: { executionId: string }[] }>(own.path, { gateway });
        expect(all.body.items.map(({ executionId }) => executionId)).toEqual([running, ...ids]);
      }
      const shown = await api.get<{ items: unknown[] }>(`${own.path}?status=running`);
      expect(shown.body.items).toMatchObject([
        {
          executionId: running,
          status: 'running',
          exitCode: null,
          detached: true,
          timeout: 200,
          endedAt: null,
        },
      ]);
      const page = await api.get<{ items: unknown[]; nextCursor: string }>(`${own.path}?limit=3`);
      expect(page.body.items).toHaveLength(3);
      const rest = await api.get<{ items: { executionId: string }[] }>(
        `${own.path}?limit=3&cursor=${encodeURIComponent(page.body.nextCursor)}`,
      );
      expect(rest.body).toMatchObject({ items: [{ executionId: ids[2], exitCode: 0 }], nextCursor: null });
      await own.cancel(running);
    });
  });

  describe('followed output', () => {
    it('contains the retained output, then new output, then how it ended', async () => {
      const id = await exec.begin(
        'echo early; while [ ! -e go ]; do sleep 0.05; done; echo late >&2; exit 4',
      );
      const followed = api.get<{ text: string }>(`${exec.path}/${id}/output?follow=true`);
      await exec.run('touch go');
      const { text } = (await followed).body;
      const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, event, data]) => [
        event,
        JSON.parse(data ?? '') as unknown,
      ]);
      expect(events).toEqual([
        ['stdout', { text: 'early\n' }],
        ['stderr', { text: 'late\n' }],
        ['exit', { status: 'completed', exitCode: 4 }],
      ]);
      const later = await api.get<{ text: string }>(`${exec.path}/${id}/output?follow=true`);
      expect(later.body.text).toContain('event: stdout\ndata: {"text":"early\\n"}');
    });
  });
};
