import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { anOwner, PEOPLE } from './end-users.fixture.js';
import { centsOf } from './llm.fixture.js';
import { ACCOUNTS, openAccount, runningAgentOf } from './opened-accounts.fixture.js';
import { AgentSchedules } from './schedules.fixture.js';
import type { Stack } from './stack.fixture.js';

interface Calls {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** What programs of agents see of the LLM route, over the guest's relay and the gateway. */
export const describeLlmInside = (stack: () => Stack): void => {
  const api = new Api(stack);
  const callsOf = async (agentId: string) =>
    (await api.get<Calls & Record<string, unknown>>(`/api/v1/llm-calls?agentId=${agentId}`)).body.items;
  const CHAT = { model: 'gpt', messages: [{ role: 'user', content: 'hello' }] };

  describe('a call of a program', () => {
    it('is metered: its row, and the spend of the end user', async () => {
      const { externalId, agentId } = await anOwner(api, { templateId: 'probe' });
      const chat = await api.chat(agentId, 'model gpt');
      expect(chat.status, JSON.stringify(chat.body)).toBe(200);
      const { usage } = JSON.parse(chat.body.response) as {
        usage: { prompt_tokens: number; completion_tokens: number };
      };
      const costCents = centsOf(usage.prompt_tokens, usage.completion_tokens);
      await eventually(async () =>
        expect(await callsOf(agentId)).toMatchObject([
          {
            agentId,
            externalUserId: externalId,
            model: 'gpt',
            dialect: 'openai',
            status: 'settled',
            inputTokens: usage.prompt_tokens,
            outputTokens: usage.completion_tokens,
            costCents,
          },
        ]),
      );
      const { body } = await api.get(`${PEOPLE}/${externalId}`);
      expect(body['spend']).toMatchObject({ aiCents: costCents });
    });

    it('of the other dialect gets errors in its shape, those of the upstream as they are', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      const inside = new AgentSchedules(api, id);
      const path = '/agent/v1/llm/anthropic/v1/messages';
      const body = { model: 'claude', max_tokens: 10, messages: CHAT.messages };
      const called = await inside.call({ method: 'POST', path, body });
      // The header `anthropic-version` is missing.
      expect(called).toMatchObject({ status: 400, body: { type: 'error' } });
      expect(await callsOf(id)).toMatchObject([{ dialect: 'anthropic', status: 'failed', costCents: 0 }]);
      const unknown = await inside.call({ method: 'POST', path, body: { ...body, model: 'gpt' } });
      expect(unknown).toMatchObject({
        status: 404,
        body: { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } },
      });
      const other = await inside.call({ method: 'POST', path, body, token: 'mk_not-an-agent' });
      expect(other).toMatchObject({ status: 401, body: { type: 'error' } });
    });
  });

  describe('a spend cap', () => {
    it('refuses calls in the shape of the dialect, and the chat of the program with 402', async () => {
      const { externalId, agentId } = await anOwner(api, { templateId: 'probe' });
      const policy = { llm_spend_cap_cents_per_month: 0 };
      await api.call('PUT', `${PEOPLE}/${externalId}/policy`, { body: { policy } });
      const path = '/agent/v1/llm/openai/v1/chat/completions';
      const refused = await new AgentSchedules(api, agentId).call({ method: 'POST', path, body: CHAT });
      expect(refused).toMatchObject({
        status: 402,
        body: { error: { type: 'billing_error', code: 'spend_cap_reached', param: null } },
      });
      const chat = await api.chat(agentId, 'model gpt');
      expect([chat.status, chat.body]).toMatchObject([402, { detail: { code: 'spend_cap_reached' } }]);
      expect((await api.chat(agentId, 'fail')).status).toBe(502);
    });
  });

  describe('the credits of another account', () => {
    it('begin at 0, and pay for calls once they are granted', async () => {
      const { id: accountId, key } = await openAccount(api, 'Paying');
      const id = await runningAgentOf(api, key, { templateId: 'probe' });
      expect((await api.get('/api/v1/account', { key })).body).toMatchObject({
        credits: { balanceCents: 0 },
      });
      expect(
        (await api.call('POST', `/api/agents/${id}/chat`, { key, body: { message: 'model gpt' } })).body,
      ).toMatchObject({ detail: { code: 'insufficient_credits' } });
      const granted = await api.post(`${ACCOUNTS}/${accountId}/credits`, {
        cents: 100,
        note: 'x',
      });
      expect([granted.status, granted.body]).toEqual([200, { accountId, balanceCents: 100 }]);
      const chat = await api.call('POST', `/api/agents/${id}/chat`, { key, body: { message: 'model gpt' } });
      expect(chat.status).toBe(200);
      const { body } = await api.get('/api/v1/account', { key });
      expect((body['credits'] as { balanceCents: number }).balanceCents).toBeLessThan(100);
    });
  });
};
