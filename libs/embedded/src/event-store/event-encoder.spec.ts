import { describe, expect, it } from 'vitest';
import { convertGrpcEvent } from '@eventstore/db-client/dist/utils/convertGrpcEvent.js';
import { encodeReadEvent } from './event-encoder.js';
import { type RecordedEvent, TOMBSTONE_REVISION } from './log-event.js';
import { streams } from './protocol.js';

const EVENT: RecordedEvent = {
  position: 5,
  streamName: 'agent-1',
  revision: 3,
  id: Buffer.from('0123456789abcdef0123456789abcdef', 'hex'),
  type: 'Happened',
  isJson: true,
  created: 1_790_000_000_123,
  data: Buffer.from('{"a":1}'),
  metadata: Buffer.from('{"b":2}'),
};

function decode(message: Buffer) {
  const event = streams.ReadResp.deserializeBinary(message).getEvent();
  if (event === undefined) throw new Error('no event in the message');
  return convertGrpcEvent(event);
}

describe('an encoded event', () => {
  it('is decoded unchanged by the generated code of the protocol', () => {
    expect(decode(encodeReadEvent(EVENT))).toEqual({
      event: {
        streamId: 'agent-1',
        id: '01234567-89ab-cdef-0123-456789abcdef',
        revision: 3n,
        type: 'Happened',
        data: { a: 1 },
        metadata: { b: 2 },
        isJson: true,
        created: new Date(1_790_000_000_123),
        position: { commit: 5n, prepare: 5n },
      },
      commitPosition: 5n,
    });
  });

  it.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 2])(
    'carries revision %d exactly',
    (n) => {
      const { event } = decode(encodeReadEvent({ ...EVENT, revision: n, position: n }));
      expect(event).toMatchObject({
        revision: BigInt(n),
        position: { commit: BigInt(n), prepare: BigInt(n) },
      });
    },
  );

  it('carries the revision of a tombstone as EventStoreDB does', () => {
    const { event } = decode(encodeReadEvent({ ...EVENT, revision: TOMBSTONE_REVISION }));
    expect(event?.revision).toBe(9_223_372_036_854_775_807n);
  });

  it.each([0, 1, 127, 128, 20_000, 1_048_576])(
    'carries %d bytes of data and metadata, and any text as a name',
    (size) => {
      const data = Buffer.alloc(size, 7);
      const metadata = Buffer.alloc(size, 255);
      const names = { streamName: 'käse/€🌍'.repeat(40), type: 'Überfällig' };
      const { event } = decode(encodeReadEvent({ ...EVENT, ...names, data, metadata, isJson: false }));
      expect(event).toMatchObject({ streamId: names.streamName, type: names.type, isJson: false });
      expect(Buffer.from(event?.data as Uint8Array).equals(data)).toBe(true);
      expect(Buffer.from((event?.metadata ?? []) as Uint8Array).equals(metadata)).toBe(true);
    },
  );

  it('is sent with the link that led to it and with the position of that link; or the link is sent alone', () => {
    const link = { ...EVENT, streamName: 'links', position: 900, type: '$>' };
    expect(decode(encodeReadEvent(EVENT, link))).toMatchObject({
      event: { streamId: 'agent-1' },
      link: { streamId: 'links' },
      commitPosition: 900n,
    });
    const alone = decode(encodeReadEvent(undefined, link));
    expect(alone.event).toBeUndefined();
    expect(alone.link).toMatchObject({ streamId: 'links' });
  });
});
