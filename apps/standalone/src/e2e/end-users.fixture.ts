import { expect } from 'vitest';
import type { Api } from './api.fixture.js';

/** The path of the requests about end users. */
export const PEOPLE = '/api/v1/end-users';

/** A name that no other test has. */
export const fresh = (name: string): string => `${name}-${crypto.randomUUID().slice(0, 8)}`;

/** Some members of an end user's representation. */
export interface EndUser extends Record<string, unknown> {
  readonly externalId: string;
  readonly displayName: string | null;
  readonly agentCount: number;
}

export interface EndUserPage extends Record<string, unknown> {
  readonly items: readonly EndUser[];
  readonly nextCursor: string | null;
}

/** An end user with one running agent. */
export interface AgentOwner {
  readonly externalId: string;
  readonly agentId: string;
}

/** Creates an end user and its agent, with more members of the agent. */
export const anOwner = async (api: Api, more: Record<string, unknown> = {}): Promise<AgentOwner> => {
  const externalId = fresh('owner');
  expect((await api.call('PUT', `${PEOPLE}/${externalId}`, { body: {} })).status).toBe(201);
  const { id } = await api.runningAgent({ externalUserId: externalId, ...more });
  return { externalId, agentId: id };
};

/** Mints a token for the only agent of an end user. */
export const mintToken = async (
  api: Api,
  { externalId, agentId }: AgentOwner,
  scopes: readonly string[],
  more: { readonly ttlSeconds?: number } = {},
): Promise<string> => {
  const { status, body } = await api.post<{ token: string }>(`${PEOPLE}/${externalId}/tokens`, {
    scopes,
    ...more,
  });
  expect([status, body]).toMatchObject([201, { externalId, agentId, scopes }]);
  return body.token;
};
