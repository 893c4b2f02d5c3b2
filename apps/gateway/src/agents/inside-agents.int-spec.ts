import { agentsRequests } from '@berth/contracts/agents';
import { deliveryRequests } from '@berth/contracts/delivery';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.agents.clear();
});

const fieldsOf = async (...args: Parameters<TestGateway['call']>): Promise<readonly string[] | undefined> => {
  const { status, body } = await test.call(...args);
  expect([status, body.detail?.code]).toEqual([400, 'invalid_request']);
  return body.detail?.fields?.map(({ path }) => path);
};

describe('environment variables', () => {
  const item = { key: 'A', value: '********', isSecret: true, updatedAt: '2026-11-21T10:00:00.000Z' };

  it('are listed, set, deleted and reloaded', async () => {
    const agent = anAgent();
    test.services.on(agentsRequests.listEnv, () => ({ items: [item], next: null }));
    test.services.on(agentsRequests.setEnv, () => item);
    test.services.on(agentsRequests.deleteEnv, () => ({}));
    test.services.on(agentsRequests.reloadEnv, () => agent);
    const key = test.services.key();
    const path = `/api/agents/${agent.id}/env`;
    expect((await test.call('GET', path, { key: test.services.key(['read']) })).body).toEqual({
      items: [item],
    });
    const put = await test.call('PUT', `${path}/A`, { key, json: { value: '', secret: true } });
    expect([put.status, put.body]).toEqual([200, item]);
    expect(test.services.requestsTo(agentsRequests.setEnv)[0]?.payload).toMatchObject({
      key: 'A',
      value: '',
      isSecret: true,
    });
    expect((await test.call('DELETE', `${path}/A`, { key })).status).toBe(204);
    expect((await test.call('POST', `${path}/reload`, { key })).body).toEqual(agent);
  });

  it('are listed completely, over any number of internal pages', async () => {
    const names = ['A', 'B', 'C'];
    test.services.on(agentsRequests.listEnv, ({ after }) => {
      const at = after === null ? 0 : names.indexOf(after) + 1;
      const key = names[at] ?? '';
      return { items: [{ ...item, key }], next: at + 1 < names.length ? key : null };
    });
    const path = `/api/agents/${newId('agt')}/env`;
    const { body } = await test.call('GET', path, { key: test.services.key(['read']) });
    expect(body).toEqual({ items: names.map((key) => ({ ...item, key })) });
  });

  it.each(['BERTH_TOKEN', '1A', 'A-B', 'A%00', 'A'.repeat(129)])('refuses the name %s', async (name) => {
    const agent = anAgent();
    test.services.agents.set(agent.id, agent);
    const path = `/api/agents/${agent.id}/env/${name}`;
    expect(await fieldsOf('PUT', path, { key: test.services.key(), json: { value: 5 } })).toEqual([
      'key',
      'value',
    ]);
    expect(await fieldsOf('DELETE', path, { key: test.services.key() })).toEqual(['key']);
  });
});

describe('chat', () => {
  it('returns the reply and its conversation', async () => {
    test.services.on(deliveryRequests.chat, () => ({ response: 'pong', conversationId: 'cnv_1' }));
    const path = `/api/agents/${newId('agt')}/chat`;
    const key = test.services.key();
    const { status, body } = await test.call('POST', path, { key, json: { message: 'ping' } });
    expect([status, body]).toEqual([200, { response: 'pong', conversation_id: 'cnv_1' }]);
    await test.call('POST', path, { key, json: { message: 'ping', conversation_id: 'x'.repeat(128) } });
    const conversationIds = test.services
      .requestsTo(deliveryRequests.chat)
      .map(({ payload }) => payload['conversationId']);
    expect(conversationIds).toEqual([null, 'x'.repeat(128)]);
  });

  it('accepts a message of the maximum body size', async () => {
    test.services.on(deliveryRequests.chat, ({ message }) => ({
      response: String(message.length),
      conversationId: 'c',
    }));
    const message = 'x'.repeat(1_048_576 - '{"message":""}'.length);
    const { body } = await test.call('POST', `/api/agents/${newId('agt')}/chat`, {
      key: test.services.key(),
      json: { message },
    });
    expect(body['response']).toBe(String(message.length));
  });
});
