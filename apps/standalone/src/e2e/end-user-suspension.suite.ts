import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { fresh, mintToken, PEOPLE } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';
import { queryTables } from './tables.fixture.js';

const SUSPENDED = '403 end_user_suspended';
const outcome = (response: ApiResponse): string => `${response.status} ${String(codeOf(response))}`;

/** What the suspension of an end user stops, and what still works. */
export const describeEndUserSuspension = (stack: () => Stack): void => {
  const api = new Api(stack);

  const person = async (): Promise<string> => {
    const externalId = fresh('person');
    expect((await api.call('PUT', `${PEOPLE}/${externalId}`, { body: {} })).status).toBe(201);
    return externalId;
  };
  const agentOf = async (externalUserId: string, more: object = {}): Promise<string> =>
    (await api.runningAgent({ externalUserId, ...more })).id;
  const change = (externalId: string, verb: 'suspend' | 'resume') =>
    api.post(`${PEOPLE}/${externalId}/${verb}`);

  /** The response to a WebSocket handshake that is refused. */
  const refusedUpgrade = async (
    path: string,
    headers: Record<string, string> = {},
  ): Promise<readonly unknown[]> => {
    const socket = new WebSocket(`${stack().urls.at(-1)?.replace('http', 'ws') ?? ''}${path}`, {
      headers: { authorization: `Bearer ${stack().key}`, ...headers },
    });
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    return [response.statusCode, await json(response)];
  };

  const stateOf = async (agentId: string): Promise<unknown> => {
    const [row] = await queryTables(
      stack().dataDir,
      'SELECT state, sleep_depth FROM agents.agent_list WHERE id = $1',
      [agentId],
    );
    return row;
  };
  const cold = { state: 'sleeping', sleep_depth: 'cold' };

  describe('a suspended end user', () => {
    it('is shown as suspended, is listed as such, and is suspended and resumed once', async () => {
      const externalId = await person();
      const first = await change(externalId, 'suspend');
      expect([first.status, first.body]).toMatchObject([200, { externalId, status: 'suspended' }]);
      expect(first.body['suspendedAt']).toEqual(first.body['updatedAt']);
      expect((await change(externalId, 'suspend')).body).toEqual(first.body);
      const listed = await api.get<{ items: object[] }>(
        `${PEOPLE}?externalIdPrefix=${externalId}&status=suspended`,
      );
      expect(listed.body.items).toEqual([first.body]);
      for (let times = 0; times < 2; times++) {
        const resumed = await change(externalId, 'resume');
        expect([resumed.status, resumed.body]).toMatchObject([200, { status: 'active', suspendedAt: null }]);
      }
      for (const verb of ['suspend', 'resume'] as const)
        expect(outcome(await change(fresh('nobody'), verb))).toBe('404 end_user_not_found');
    });

    it('has its agents cold asleep within 10 s, its tokens refused and their streams closed within 5 s, until it is resumed', async () => {
      const externalId = await person();
      const agentId = await agentOf(externalId, { idleTtlSeconds: 0 });
      const key = await mintToken(api, { externalId, agentId }, ['chat', 'console', 'logs']);
      const warm = await agentOf(externalId, { templateId: 'blank' });
      await api.post(`/api/agents/${warm}/sleep`);
      const unaffected = await api.runningAgent({ templateId: 'blank' });
      const submitted = await api.post<{ executionId: string }>(`/api/agents/${agentId}/exec`, {
        command: 'trap "" TERM; sleep 60',
        detached: true,
      });
      const url = `${stack().urls.at(-1)?.replace('http', 'ws') ?? ''}/api/agents/${agentId}/console`;
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
      await once(socket, 'open');
      const followed = api.get(`/api/agents/${agentId}/logs?follow=true`, { key });

      const closed = once(socket, 'close');
      expect((await change(externalId, 'suspend')).status).toBe(200);
      const suspendedAt = Date.now();
      const gateways = stack().urls.length;
      const calls = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          api.get(`/api/agents/${agentId}`, { key, gateway: n % gateways }),
        ),
      );
      expect(new Set(calls.map(outcome))).toEqual(new Set([SUSPENDED]));
      expect(outcome(await api.chat(agentId, 'anybody?', { key }))).toBe(SUSPENDED);
      await Promise.all([closed, followed]);
      expect(Date.now() - suspendedAt).toBeLessThan(5_000);
      await eventually(
        async () => expect([await stateOf(agentId), await stateOf(warm)]).toEqual([cold, cold]),
        {
          timeoutMs: 10_000 - (Date.now() - suspendedAt),
        },
      );
      const command = { command: 'true' };
      expect((await api.post(`/api/agents/${unaffected.id}/exec`, command)).status).toBe(200);

      await change(externalId, 'resume');
      const resumed = await api.get(`/api/agents/${agentId}`, { key });
      expect([resumed.status, resumed.body]).toMatchObject([
        200,
        { state: 'sleeping', sleepDepth: 'cold', stateReason: 'suspended' },
      ]);
      const execution = await api.get(`/api/agents/${agentId}/exec/${submitted.body.executionId}`);
      expect(execution.body).toMatchObject({ status: 'failed', exitCode: -1 });
      expect((await api.chat(agentId, 'awake?', { key })).body.response).toContain('awake?');
    });

    it('has refused whatever would use, start or create its agents, with the key of the owner too', async () => {
      const externalId = await person();
      const blank = { templateId: 'blank' };
      const [asleep, awake, stopped] = [
        await agentOf(externalId, blank),
        await agentOf(externalId, blank),
        await agentOf(externalId, blank),
      ];
      await api.post(`/api/agents/${asleep}/sleep`);
      await api.post(`/api/agents/${stopped}/stop`);
      await change(externalId, 'suspend');
      const creation = { name: fresh('agent'), templateId: 'blank', externalUserId: externalId };
      for (const path of ['/api/agents', `${PEOPLE}/${externalId}/agents`])
        expect(outcome(await api.post(path, creation))).toBe(SUSPENDED);
      for (const id of [asleep, awake, stopped]) {
        const path = `/api/agents/${id}`;
        const refused = [403, { detail: { code: 'end_user_suspended' } }];
        for (const place of ['here', undefined]) {
          const form = new FormData();
          form.set('file', new Blob(['x']), 'x.txt');
          if (place !== undefined) form.set('dest_dir', place);
          const upload = await fetch(`${stack().urls[0] ?? ''}${path}/files/upload`, {
            method: 'POST',
            headers: { authorization: `Bearer ${stack().key}` },
            body: form,
          });
          expect([upload.status, await upload.json()]).toMatchObject(refused);
        }
        expect(await refusedUpgrade(`${path}/console`)).toMatchObject(refused);
        const app = `${id.replace('_', '-')}.apps.localhost`;
        expect(await refusedUpgrade('/socket', { host: app })).toMatchObject(refused);
        const page = httpRequest(stack().urls[0] ?? '', {
          headers: { host: app, authorization: `Bearer ${stack().key}` },
          agent: false,
        }).end();
        const [response] = (await once(page, 'response')) as [IncomingMessage];
        expect([response.statusCode, await json(response)]).toMatchObject(refused);
        const deploy = { agentId: id, source: 'git', repoUrl: 'https://github.com/a/b' };
        const file = { path: 'a.txt', content: '' };
        for (const [method, call, body] of [
          ['POST', `${path}/chat`, { message: 'hello' }],
          ['POST', `${path}/exec`, { command: 'true' }],
          ['POST', `${path}/start`, undefined],
          ['POST', `${path}/restart`, undefined],
          ['POST', '/api/deploy', deploy],
          ['GET', `${path}/files/list`, undefined],
          ['GET', `${path}/files/download?path=a.txt`, undefined],
          ['PUT', `${path}/files/write`, file],
          ['POST', `${path}/files/mkdir`, { path: 'a' }],
          ['POST', `${path}/files/move`, { from: 'a', to: 'b' }],
          ['DELETE', `${path}/files/delete?path=a`, undefined],
        ] as const) {
          const response = await api.call(method, call, { body });
          expect([call, outcome(response)]).toEqual([call, SUSPENDED]);
        }
      }
      expect(outcome(await api.chat(asleep, ''))).toBe('400 invalid_request');

      for (const path of ['', '/logs', '/env', '/deployments', '/exec'])
        expect((await api.get(`/api/agents/${awake}${path}`)).status).toBe(200);
      for (const verb of ['stop', 'sleep'])
        expect((await api.post(`/api/agents/${awake}/${verb}`)).status).toBe(200);
      expect((await api.call('PUT', `${PEOPLE}/${externalId}`, { body: { tags: ['late'] } })).status).toBe(
        200,
      );
      expect((await api.call('DELETE', `/api/agents/${awake}`)).status).toBe(204);
      expect((await api.call('DELETE', `${PEOPLE}/${externalId}`)).status).toBe(204);
      expect((await api.get(`/api/agents/${asleep}`)).status).toBe(404);
    });

    it('has no agent awake after a race with its wakes, and the same external id means another end user after a deletion', async () => {
      const externalId = await person();
      const ids = [await agentOf(externalId), await agentOf(externalId)];
      for (const id of ids) await api.post(`/api/agents/${id}/sleep`);
      for (let round = 0; round < 2; round++) {
        const calls = Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            n === 4 ? change(externalId, 'suspend') : api.chat(ids[n % 2] ?? '', 'now?'),
          ),
        );
        for (const response of await calls) expect([200, 403]).toContain(response.status);
        for (const id of ids) expect(outcome(await api.chat(id, 'after'))).toBe(SUSPENDED);
        await eventually(async () => expect(await Promise.all(ids.map(stateOf))).toEqual([cold, cold]), {
          timeoutMs: 10_000,
        });
        await change(externalId, 'resume');
      }
      await change(externalId, 'suspend');
      expect((await api.call('DELETE', `${PEOPLE}/${externalId}`)).status).toBe(204);
      await api.call('PUT', `${PEOPLE}/${externalId}`, { body: {} });
      const id = await agentOf(externalId, { templateId: 'blank' });
      expect((await api.get(`/api/agents/${id}/files/list`)).status).toBe(200);
    });
  });
};
