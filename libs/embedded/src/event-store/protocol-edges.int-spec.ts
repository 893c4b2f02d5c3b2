import { once } from 'node:events';
import { credentials, status } from '@grpc/grpc-js';
import {
  EventStoreDBClient,
  START,
  jsonEvent,
  persistentSubscriptionToStreamSettingsFromDefaults,
} from '@eventstore/db-client';
import usersMessages from '@eventstore/db-client/generated/users_pb.js';
import timestamps from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rejection } from '../event-store-contract/store-fixture.js';
import { empty, shared, streams, streamsService, usersService } from './protocol.js';
import { type EventStoreServer, startEventStoreServer } from './server.js';
import { connect, withDatabaseFile } from './store-process.fixture.js';

let server: EventStoreServer;
let client: EventStoreDBClient;
let release: (() => void) | undefined;
let finished: Promise<void>;

beforeAll(async () => {
  await new Promise<void>((ready, failed) => {
    finished = withDatabaseFile(async (file) => {
      server = await startEventStoreServer({ file, port: 0 });
      client = connect(server.port);
      await new Promise<void>((resolve) => {
        release = resolve;
        ready();
      });
      await client.dispose();
      await server.close();
    });
    finished.catch(failed);
  });
});

afterAll(async () => {
  release?.();
  await finished;
});

describe('unsupported features of the embedded store', () => {
  it('persistent subscriptions, projections and users are refused as unimplemented, with the reason', async () => {
    const settings = persistentSubscriptionToStreamSettingsFromDefaults();
    const refusals = await Promise.all([
      rejection(client.createPersistentSubscriptionToStream('s', 'group', settings)),
      rejection(client.createProjection('p', 'fromAll()')),
      rejection(client.getProjectionStatus('p')),
    ]);
    for (const { message } of refusals) {
      expect(message).toContain('UNIMPLEMENTED');
      expect(message).toContain('not supported by the embedded event store');
    }
    const users = new usersService.UsersClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
    const error = await rejection(
      new Promise((resolve, reject) => {
        users.create(new usersMessages.CreateReq(), (failure, response) =>
          failure ? reject(failure) : resolve(response),
        );
      }),
    );
    expect(error).toMatchObject({ code: status.UNIMPLEMENTED });
    users.close();
  });
});

describe('requests that the protocol allows and the client never sends', () => {
  const raw = () =>
    new streamsService.StreamsClient(`127.0.0.1:${server.port}`, credentials.createInsecure());

  it('an append without options, without a type, or with a broken id is refused and nothing is written', async () => {
    const stub = raw();
    const named = new streams.AppendReq.Options()
      .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from('edges')))
      .setAny(new shared.Empty());
    const proposed = (id: string, type?: string) => {
      const message = new streams.AppendReq.ProposedMessage().setId(new shared.UUID().setString(id));
      if (type !== undefined)
        message.getMetadataMap().set('type', type).set('content-type', 'application/json');
      return new streams.AppendReq().setProposedMessage(message);
    };
    const good = '01234567-89ab-cdef-0123-456789abcdef';
    const options = new streams.AppendReq().setOptions(named);
    const nameless = new streams.AppendReq().setOptions(
      new streams.AppendReq.Options().setAny(new shared.Empty()),
    );
    for (const messages of [
      [],
      [proposed(good, 'T')],
      [nameless],
      [options, proposed(good)],
      [options, proposed('nonsense', 'T')],
    ]) {
      const error = await rejection(
        new Promise((resolve, reject) => {
          const call = stub.append((failure, response) => (failure ? reject(failure) : resolve(response)));
          for (const message of messages) call.write(message);
          call.end();
        }),
      );
      expect(error).toMatchObject({ code: status.INVALID_ARGUMENT });
    }
    stub.close();
    expect(await rejection(readAllOf('edges'))).toMatchObject({ type: 'stream-not-found' });
  });

  it('an append that its caller aborts midway writes nothing', async () => {
    const stub = raw();
    const options = new streams.AppendReq.Options()
      .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from('given-up')))
      .setAny(new shared.Empty());
    const id = new shared.UUID().setString('01234567-89ab-cdef-0123-456789abcdef');
    const message = new streams.AppendReq.ProposedMessage().setId(id);
    message.getMetadataMap().set('type', 'T').set('content-type', 'application/json');
    const error = await rejection(
      new Promise((resolve, reject) => {
        const call = stub.append((failure, response) => (failure ? reject(failure) : resolve(response)));
        call.write(new streams.AppendReq().setOptions(options));
        call.write(new streams.AppendReq().setProposedMessage(message), () => call.cancel());
      }),
    );
    expect(error).toMatchObject({ code: status.CANCELLED });
    stub.close();
    expect((await client.appendToStream('after', jsonEvent({ type: 'T', data: {} }))).success).toBe(true);
    expect(await rejection(readAllOf('given-up'))).toMatchObject({ type: 'stream-not-found' });
  });

  it('an event id as two numbers equals the same id as text', async () => {
    const stub = raw();
    const id = new shared.UUID.Structured()
      .setMostSignificantBits(String(BigInt.asIntN(64, 0xf1234567_89abcdefn)))
      .setLeastSignificantBits(String(0x01234567_89abcdefn));
    const message = new streams.AppendReq.ProposedMessage().setId(new shared.UUID().setStructured(id));
    message.getMetadataMap().set('type', 'T').set('content-type', 'application/json');
    const options = new streams.AppendReq.Options()
      .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from('structured')))
      .setAny(new shared.Empty());
    await new Promise((resolve, reject) => {
      const call = stub.append((failure, response) => (failure ? reject(failure) : resolve(response)));
      call.write(new streams.AppendReq().setOptions(options));
      call.write(new streams.AppendReq().setProposedMessage(message.setData(Buffer.from('{}'))));
      call.end();
    });
    stub.close();
    const [event] = await readAllOf('structured');
    expect(event?.event?.id).toBe('f1234567-89ab-cdef-0123-456789abcdef');
  });

  it('an append of a batch that is malformed or too late is refused alone', async () => {
    const stub = raw();
    const call = stub.batchAppend();
    const responses: streams.BatchAppendResp[] = [];
    call.on('data', (response: streams.BatchAppendResp) => responses.push(response));
    const request = (correlation: string, name: string, deadline: number) => {
      const past = new Date(Date.now() + deadline);
      const options = new streams.BatchAppendReq.Options()
        .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(name)))
        .setAny(new empty.Empty());
      options.setDeadline(timestamps.Timestamp.fromDate(past));
      return new streams.BatchAppendReq()
        .setCorrelationId(new shared.UUID().setString(correlation))
        .setOptions(options)
        .setIsFinal(true);
    };
    call.write(request('00000000-0000-0000-0000-000000000001', '', 10_000));
    call.write(request('00000000-0000-0000-0000-000000000002', 'late', -10_000));
    const typeless = request('00000000-0000-0000-0000-000000000003', 'typeless', 10_000);
    typeless.addProposedMessages(new streams.BatchAppendReq.ProposedMessage());
    call.write(typeless);
    call.end();
    await once(call, 'end');
    stub.close();
    const codes = responses.map((response) => response.getError()?.getCode() ?? 0);
    expect(codes.toSorted((a, b) => a - b)).toEqual([
      status.INVALID_ARGUMENT,
      status.INVALID_ARGUMENT,
      status.DEADLINE_EXCEEDED,
    ]);
  });
});

describe('edge cases', () => {
  it('a client with a discovery address finds the store', async () => {
    const discovering = connect(server.port, '&nodePreference=leader');
    const cluster = EventStoreDBClient.connectionString(`esdb+discover://127.0.0.1:${server.port}?tls=false`);
    for (const each of [discovering, cluster]) {
      expect((await each.appendToStream('discovered', jsonEvent({ type: 'T', data: {} }))).success).toBe(
        true,
      );
      await each.dispose();
    }
  });

  it('links are followed if the reader requests it, and stay links when their target is gone', async () => {
    await client.appendToStream('target', jsonEvent({ type: 'Target', data: { n: 1 } }));
    await client.appendToStream('links', jsonEvent({ type: '$>', data: {} }) as never);
    const link = { ...jsonEvent({ type: '$>', data: {} }), contentType: 'application/octet-stream' };
    await client.appendToStream('links', { ...link, data: Buffer.from('0@target') } as never);
    await client.appendToStream('links', {
      ...link,
      id: crypto.randomUUID(),
      data: Buffer.from('7@nowhere'),
    } as never);
    const events = [];
    for await (const event of client.readStream('links', { resolveLinkTos: true, fromRevision: 1n }))
      events.push(event);
    expect(events[0]).toMatchObject({
      event: { type: 'Target', data: { n: 1 } },
      link: { type: '$>', revision: 1n },
    });
    expect(events[1]?.event).toBeUndefined();
    expect(events[1]).toMatchObject({ link: { revision: 2n } });
  });

  it('a subscription that is cancelled leaves nothing behind', async () => {
    const subscriptions = Array.from({ length: 5 }, (_, index) =>
      index % 2 === 0
        ? client.subscribeToAll({ fromPosition: START })
        : client.subscribeToStream(`left-${index}`),
    );
    await Promise.all(subscriptions.map((subscription) => once(subscription.resume(), 'caughtUp')));
    expect(server.subscriptions).toBe(5);
    await Promise.all(subscriptions.map((subscription) => subscription.unsubscribe()));
    await vi.waitFor(() => expect(server.subscriptions).toBe(0), { timeout: 5_000, interval: 10 });
  });

  it('notifies a live subscriber that stops reading that it fell behind, and later that it caught up', async () => {
    const subscription = client.subscribeToStream('busy');
    const notifications: string[] = [];
    let events = 0;
    subscription.on('caughtUp', () => notifications.push('caughtUp'));
    subscription.on('fellBehind', () => notifications.push('fellBehind'));
    subscription.on('data', () => (events += 1));
    await vi.waitFor(() => expect(notifications).toEqual(['caughtUp']), { timeout: 5_000, interval: 10 });
    subscription.pause();
    const text = 'x'.repeat(1_000);
    for (let round = 0; round < 8; round += 1) {
      const batch = Array.from({ length: 500 }, () => jsonEvent({ type: 'T', data: { text } }));
      await client.appendToStream('busy', batch);
    }
    subscription.resume();
    await vi.waitFor(() => expect(events).toBe(4_000), { timeout: 10_000, interval: 10 });
    await vi.waitFor(() => expect(notifications).toEqual(['caughtUp', 'fellBehind', 'caughtUp']), {
      timeout: 5_000,
    });
    await subscription.unsubscribe();
  });

  it('a filter with an invalid regular expression is refused', async () => {
    const filter = { filterOn: 'eventType', regex: '(', checkpointInterval: 1 } as never;
    const subscription = client.subscribeToAll({ filter });
    const [error] = (await once(subscription, 'error').catch((failure: unknown) => [failure])) as [Error];
    expect(error.message).toContain('INVALID_ARGUMENT');
  });
});

async function readAllOf(stream: string) {
  const events = [];
  for await (const event of client.readStream(stream)) events.push(event);
  return events;
}
