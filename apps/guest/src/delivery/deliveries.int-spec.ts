import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuestFixture } from '../__fixtures__/guest.fixture.js';

describe('a delivery to a program', () => {
  let guest: GuestFixture;

  beforeEach(async () => {
    guest = await GuestFixture.open();
  });

  afterEach(() => guest.destroy());

  it('handles the messages of one conversation in order and one at a time, and conversations concurrently', async () => {
    await guest.put();
    const replies = await Promise.all([
      guest.deliver('lane 1', 'dlv_1', 'a'),
      guest.deliver('lane 2', 'dlv_2', 'a'),
      guest.deliver('lane 3', 'dlv_3', 'a'),
    ]);
    expect(replies.map(({ body }) => body['response'])).toEqual(['a:1', 'a:1', 'a:1']);
    expect(guest.seen()).toEqual(['lane 1', 'lane 2', 'lane 3']);
    const apart = await Promise.all([
      guest.deliver('lane 4', 'dlv_4', 'b'),
      guest.deliver('lane 5', 'dlv_5', 'c'),
    ]);
    expect(apart.map(({ body }) => String(body['response']).slice(2)).toSorted()).toEqual(['1', '2']);
  });

  it('hands a message over once, however often it arrives: during the chat, after it, and after a restart of the guest', async () => {
    await guest.put();
    const both = [guest.deliver('hold', 'dlv_x'), guest.deliver('hold', 'dlv_x')];
    await eventually(() => guest.seen().length === 1);
    writeFileSync(join(guest.dir, 'volume/go'), '');
    expect((await Promise.all(both)).map(({ body }) => body)).toEqual([
      { response: 'heard hold' },
      { response: 'heard hold' },
    ]);
    expect((await guest.deliver('hold', 'dlv_x')).body).toEqual({ response: 'heard hold' });
    await guest.restart();
    await guest.put();
    expect((await guest.deliver('hold', 'dlv_x')).body).toEqual({ response: 'heard hold' });
    expect(guest.seen()).toEqual(['hold']);
  });

  it('reports the outcome of a message, also after a restart of the guest', async () => {
    await guest.put();
    const find = async (id: string) => (await guest.ask(GUEST_ROUTES.delivery, undefined, `?id=${id}`)).body;
    expect(await find('dlv_x')).toEqual({ state: 'absent' });
    const held = guest.deliver('hold', 'dlv_x');
    const next = guest.deliver('next', 'dlv_y');
    await eventually(() => guest.seen().length === 1);
    expect([await find('dlv_x'), await find('dlv_y')]).toEqual([{ state: 'open' }, { state: 'open' }]);
    writeFileSync(join(guest.dir, 'volume/go'), '');
    await Promise.all([held, next]);
    await guest.deliver('fail', 'dlv_z');
    const answered = { state: 'ended', outcome: { type: 'answered', response: 'heard hold' } };
    const failed = { state: 'ended', outcome: { type: 'failed', code: 'agent_error' } };
    expect([await find('dlv_x'), await find('dlv_z')]).toMatchObject([answered, failed]);
    await guest.restart();
    expect([await find('dlv_x'), await find('dlv_z')]).toMatchObject([answered, failed]);
  });

  it('does not hand over again a message whose response was lost with the guest', async () => {
    await guest.put();
    void guest.deliver('hold', 'dlv_x').catch(() => undefined);
    await eventually(() => guest.seen().length === 1);
    const journal = readFileSync(join(guest.dir, 'journal/deliveries.jsonl'));
    // The state after a guest was killed rather than stopped.
    await guest.restart();
    writeFileSync(join(guest.dir, 'journal/deliveries.jsonl'), journal);
    await guest.restart();
    await guest.put();
    expect((await guest.deliver('hold', 'dlv_x')).body.error).toMatchObject({
      code: 'delivery_outcome_unknown',
      effect: 'unknown',
    });
    expect(guest.seen()).toEqual(['hold']);
  });

  it('is abandoned while it waits for its turn, and never after it was handed over', async () => {
    await guest.put();
    const abandon = async (deliveryId: string | null) =>
      (await guest.ask(GUEST_ROUTES.abandonDelivery, { deliveryId })).body;
    const held = guest.deliver('hold', 'dlv_held');
    await eventually(() => guest.seen().length === 1);
    const waiting = ['dlv_1', 'dlv_2', 'dlv_3'].map((id) => guest.deliver(id, id));
    await eventually(async () => {
      const found = await guest.ask(GUEST_ROUTES.delivery, undefined, '?id=dlv_3');
      expect(found.body).toEqual({ state: 'open' });
    });
    expect(await abandon('dlv_1')).toEqual({ abandoned: 1 });
    const refused = { kind: 'unavailable', code: 'delivery_abandoned', effect: 'none' };
    expect((await waiting[0])?.body.error).toMatchObject(refused);
    expect((await guest.ask(GUEST_ROUTES.delivery, undefined, '?id=dlv_1')).body).toEqual({
      state: 'absent',
    });
    expect([await abandon('dlv_1'), await abandon('dlv_held'), await abandon('dlv_x')]).toEqual(
      Array(3).fill({ abandoned: 0 }),
    );
    expect(await abandon(null)).toEqual({ abandoned: 2 });
    expect((await Promise.all(waiting)).map(({ body }) => body.error)).toMatchObject(Array(3).fill(refused));
    // A new request delivers it, in its turn.
    const again = guest.deliver('dlv_1', 'dlv_1');
    writeFileSync(join(guest.dir, 'volume/go'), '');
    expect((await held).body).toEqual({ response: 'heard hold' });
    expect((await again).body).toEqual({ response: 'heard dlv_1' });
    expect(guest.seen()).toEqual(['hold', 'dlv_1']);
  });

  it('passes the attachments of a message to the program, and no field if there are none', async () => {
    await guest.put();
    const file = { path: '/data/inbox/a.txt', name: 'a.txt', size: 7 };
    const body = { conversationId: 'c', message: 'attached' };
    const receivedAttachments = async (more: object): Promise<unknown> => {
      const reply = await guest.ask(GUEST_ROUTES.deliver, { ...body, ...more });
      return JSON.parse(String(reply.body['response']));
    };
    expect(await receivedAttachments({ deliveryId: 'dlv_1', attachments: [file] })).toEqual([file]);
    expect(await receivedAttachments({ deliveryId: 'dlv_2', attachments: [] })).toBe('none');
    expect(await receivedAttachments({ deliveryId: 'dlv_3' })).toBe('none');
  });

  it('continues a delivery whose caller disconnected', async () => {
    await guest.put();
    const call = request({ socketPath: join(guest.dir, 'sock'), method: 'POST', path: '/v1/deliver' });
    call.on('error', () => undefined);
    call.end(JSON.stringify({ deliveryId: 'dlv_x', conversationId: 'c', message: 'hold' }));
    await eventually(() => guest.seen().length === 1);
    call.destroy();
    writeFileSync(join(guest.dir, 'volume/go'), '');
    expect((await guest.deliver('hold', 'dlv_x', 'c')).body).toEqual({ response: 'heard hold' });
    expect(guest.seen()).toEqual(['hold']);
  });

  describe('without a caller that waits for the answer', () => {
    const send = (message: string, more: object = { source: 'webhook', contentType: null }) =>
      guest.ask(GUEST_ROUTES.deliver, { deliveryId: 'dlv_x', conversationId: 'webhook', message, ...more });

    it.each(['busy', 'too many'])(
      'is handed over again after the program declined it, and once only after it took it (%s)',
      async (message) => {
        await guest.put();
        const refused = { kind: 'unavailable', code: 'delivery_declined', effect: 'none' };
        expect((await send(message)).body.error).toMatchObject(refused);
        writeFileSync(join(guest.dir, 'volume/go'), '');
        expect((await send(message)).body).toEqual({ response: '' });
        expect((await send(message)).body).toEqual({ response: '' });
        expect(guest.seen()).toEqual([message, message]);
      },
    );

    it.each(['garbage', 'huge', 'no text'])(
      'has arrived with any answer of status 200 (%s)',
      async (message) => {
        await guest.put();
        expect((await send(message)).body).toEqual({ response: '' });
      },
    );

    it.each([
      ['fail', 'the model is out of words'],
      ['moved', 'The agent responded with status 301.'],
      ['die', 'The agent stopped while it was responding.'],
    ])('has failed with any other answer, for good (%s)', async (message, words) => {
      await guest.put();
      for (let round = 0; round < 2; round++)
        expect((await send(message)).body.error).toMatchObject({ code: 'agent_error', message: words });
      expect(guest.seen()).toEqual([message]);
    });

    it('tells the program its source, and a webhook its delivery and content type too', async () => {
      await guest.put();
      const told = async (deliveryId: string, more: object): Promise<unknown> => {
        await send('body', { deliveryId, ...more });
        return JSON.parse(readFileSync(join(guest.dir, 'volume/body'), 'utf8'));
      };
      const common = { message: 'body', conversation_id: 'webhook' };
      expect(await told('dlv_1', { source: 'webhook', contentType: 'text/plain' })).toEqual({
        ...common,
        ...{ source: 'webhook', delivery_id: 'dlv_1', content_type: 'text/plain' },
      });
      expect(await told('dlv_2', { source: 'schedule' })).toEqual({ ...common, source: 'schedule' });
      expect(await told('dlv_3', {})).toEqual(common);
    });
  });

  it.each([
    ['fail', 'the model is out of words'],
    ['fail long', 'x'.repeat(2000)],
    ['garbage', 'The response of the agent is not JSON.'],
    ['no text', 'The response of the agent has no text "response".'],
    ['huge', 'The response of the agent is larger than 2 MiB.'],
    ['huge once decoded', 'The response of the agent is larger than 2 MiB.'],
    ['die', 'The agent stopped while it was responding.'],
    ['switch', 'The agent stopped while it was responding.'],
  ])(
    'reports an agent’s own error as agent_error (%s), again for the same delivery',
    async (message, words) => {
      await guest.put();
      for (let round = 0; round < 2; round++) {
        expect((await guest.deliver(message)).body.error).toMatchObject({
          kind: 'upstream',
          code: 'agent_error',
          message: words,
        });
      }
      expect(guest.seen()).toEqual([message]);
    },
  );
});
