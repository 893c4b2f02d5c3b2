import { eventually } from '@berth/testing';
import { expect } from 'vitest';
import type { Api } from './api.fixture.js';

/** The path of the operator's requests about accounts. */
export const ACCOUNTS = '/api/v1/operations/accounts';

export interface OpenedAccount {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
}

/** Opens a further account, with its first key. */
export const openAccount = async (api: Api, name: string): Promise<OpenedAccount> => {
  const { status, body } = await api.post<Record<string, string>>(ACCOUNTS, { name });
  expect(status, JSON.stringify(body)).toBe(201);
  return body as unknown as OpenedAccount;
};

/** Creates an agent with an account's key and returns its id once it runs. */
export const runningAgentOf = async (api: Api, key: string, more: object = {}): Promise<string> => {
  const name = `agent ${crypto.randomUUID().slice(0, 8)}`;
  const agent = { name, templateId: 'echo', ...more };
  const { id } = (await api.post<{ id: string }>('/api/agents', agent, { key })).body;
  await eventually(
    async () =>
      expect((await api.get(`/api/agents/${id}?wait=running&timeout=5`, { key })).body['state']).toBe(
        'running',
      ),
    { timeoutMs: 30_000 },
  );
  return id;
};
