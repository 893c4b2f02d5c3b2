import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseKeyring, SecretBox } from '@berth/persistence';
import { describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import type { Stack } from './stack.fixture.js';
import { queryTables } from './tables.fixture.js';

/** JSON needs six bytes for this character. */
const CONTROL = '\u0001';
const VARIABLES = 256;
const VARIABLE_BYTES = 1_048_576;
const VALUE_CHARS = 32_768;
const INSTRUCTIONS = CONTROL.repeat(65_536);

const nameOf = (n: number): string => `N${String(n).padStart(3, '0')}`;

/**
 * The values of 256 variables that, together with their names, are exactly 1 MiB: large ones first, then empty ones.
 */
const largestValues = (): readonly string[] => {
  let left = VARIABLE_BYTES - VARIABLES * nameOf(0).length;
  return Array.from({ length: VARIABLES }, () => {
    const chars = Math.min(left, VALUE_CHARS);
    left -= chars;
    return CONTROL.repeat(chars);
  });
};

const largestLabels = (count = 64): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`label${String(n)}`.padEnd(64, '.'), CONTROL.repeat(256)]),
  );

const createLargest = async (api: Api): Promise<{ readonly id: string; readonly name: string }> => {
  const values = largestValues();
  const agent = await api.runningAgent({
    templateId: 'probe',
    instructions: INSTRUCTIONS,
    labels: largestLabels(),
    env: Object.fromEntries(values.map((_value, n) => [nameOf(n), ''])),
  });
  for (const [n, value] of values.entries()) {
    if (value === '') continue;
    const put = await api.call('PUT', `/api/agents/${agent.id}/env/${nameOf(n)}`, { body: { value } });
    expect(put.status).toBe(200);
  }
  return agent;
};

/**
 * Agents with the maximum of data that the contract allows: everything that is accepted can be read, listed and
 * started.
 */
export const describeLargestAgents = (stack: () => Stack): void => {
  const api = new Api(stack);

  /** Stores variables without the API, as a version without limits accepted them. */
  const putUnchecked = async (agentId: string, keys: readonly string[], value: string): Promise<void> => {
    const { dataDir } = stack();
    const box = new SecretBox(parseKeyring(readFileSync(join(dataDir, 'secret-key'), 'utf8').trim()));
    const sealed = keys.map((key) => box.seal(value, `${agentId}/${key}`));
    await queryTables(
      dataDir,
      `INSERT INTO agents.env_vault (agent_id, key, sealed, bytes, is_secret, updated_at)
       SELECT $1, key, sealed, $2, false, now() FROM unnest($3::text[], $4::text[]) AS given (key, sealed)`,
      [agentId, value.length, keys, sealed],
    );
  };

  describe('an agent with more variables than one message holds, from a version without limits', () => {
    it('is readable, reports why it does not start, and starts once variables are deleted', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const path = `/api/agents/${id}`;
      const keys = Array.from({ length: 60 }, (_, n) => nameOf(n));
      await putUnchecked(id, keys, CONTROL.repeat(VALUE_CHARS));
      const listed = await api.get<{ items: { key: string }[] }>(`${path}/env`);
      expect([listed.status, listed.body.items.map(({ key }) => key)]).toEqual([200, keys]);
      const reloaded = await api.post(`${path}/env/reload`);
      expect([reloaded.status, codeOf(reloaded)]).toEqual([409, 'env_too_large']);
      const restarted = await api.post(`${path}/restart`);
      expect([restarted.status, restarted.body]).toMatchObject([
        200,
        { state: 'failed', stateReason: 'env_too_large', lastError: { code: 'env_too_large' } },
      ]);
      for (const key of keys.slice(30)) {
        expect((await api.call('DELETE', `${path}/env/${key}`)).status).toBe(204);
      }
      expect((await api.post(`${path}/start`)).body['state']).toBe('running');
    });
  });

  describe('an agent with the maximum of data', () => {
    it('can be created, listed, read, reloaded, started again and used, and refuses one more byte', async () => {
      const { id, name } = await createLargest(api);
      const path = `/api/agents/${id}`;
      const more = await api.call('PUT', `${path}/env/${nameOf(255)}`, { body: { value: 'x' } });
      expect([more.status, more.body['detail']]).toMatchObject([400, { code: 'invalid_request' }]);

      const { status, body } = await api.get<{ items: { key: string; value: string }[] }>(`${path}/env`);
      expect([status, body.items.map(({ value }) => value)]).toEqual([200, largestValues()]);
      expect((await api.get(path)).body).toMatchObject({
        instructions: INSTRUCTIONS,
        labels: largestLabels(),
      });

      const named = await api.get<{ items: { id: string }[] }>(
        `/api/agents?name=${encodeURIComponent(name)}`,
      );
      expect(named.body.items).toMatchObject([{ id, labels: largestLabels() }]);

      const reloaded = await api.post(`${path}/env/reload`);
      expect([reloaded.status, reloaded.body['state']]).toEqual([200, 'running']);
      expect((await api.chat(id, `env ${nameOf(3)}`)).body.response).toBe(CONTROL.repeat(VALUE_CHARS));
      await api.post(`${path}/stop`);
      expect((await api.post(`${path}/start`)).body['state']).toBe('running');
      expect((await api.chat(id, 'env BERTH_INSTRUCTIONS')).body.response).toBe(INSTRUCTIONS);
      const ran = await new Executions(api, id).run('printf %s "$N000$N031" | wc -c');
      expect(ran.body).toMatchObject({ status: 'completed', stdout: '64512\n' });
      const command = 'echo as long as a command may be #';
      const longest = await new Executions(api, id).run(command.padEnd(1_048_576, 'x'));
      expect([longest.status, longest.body]).toMatchObject([
        200,
        { stdout: 'as long as a command may be\n' },
      ]);
    });

    it('is refused at creation with one more byte in its instructions', async () => {
      const { status, body } = await api.post('/api/agents', {
        name: 'one byte more',
        templateId: 'blank',
        instructions: `${'€'.repeat(21_845)}ab`,
      });
      expect([status, body['detail']]).toMatchObject([400, { fields: [{ path: 'instructions' }] }]);
    });
  });
};

/** More data than `describeLargestAgents` moves. */
export const describeMoreLargestAgents = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('an agent with the maximum of data', () => {
    it('can be restarted', async () => {
      const { id } = await createLargest(api);
      const restarted = await api.post(`/api/agents/${id}/restart`);
      expect([restarted.status, restarted.body['state']]).toEqual([200, 'running']);
      expect((await api.chat(id, `env ${nameOf(3)}`)).body.response).toBe(CONTROL.repeat(VALUE_CHARS));
    });

    it('is listed among many of its kind, page by page', async () => {
      const label = `crowd-${crypto.randomUUID().slice(0, 8)}`;
      const created: string[] = [];
      // Together more than 8 MiB of JSON.
      for (let n = 0; n < 18; n++) {
        const { body, status } = await api.post<{ id: string }>('/api/agents', {
          name: `${label} ${String(n)}`,
          templateId: 'blank',
          instructions: INSTRUCTIONS,
          labels: { ...largestLabels(63), [label]: '' },
        });
        expect(status).toBe(201);
        created.push(body.id);
      }
      const seen: string[] = [];
      let cursor = '';
      do {
        const page = await api.get<{ items: { id: string }[]; nextCursor: string | null }>(
          `/api/agents?label=${label}&limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        expect(page.status).toBe(200);
        seen.push(...page.body.items.map(({ id }) => id));
        cursor = page.body.nextCursor ?? '';
      } while (cursor !== '');
      expect(seen.toSorted()).toEqual(created.toSorted());
    });
  });
};
