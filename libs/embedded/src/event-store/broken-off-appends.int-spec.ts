import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { expect, it } from 'vitest';
import { shared, streams } from './protocol.js';
import { startEventStoreServer } from './server.js';
import { connect as connectClient, withDatabaseFile } from './store-process.fixture.js';

const ROUNDS = 40;
const AT_ONCE = 25;

/** A gRPC frame: the compression flag (0), the length, the message. */
const framed = (message: { serializeBinary(): Uint8Array }): Buffer => {
  const bytes = Buffer.from(message.serializeBinary());
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
};

const optionsFor = (stream: string): Buffer => {
  const identifier = new shared.StreamIdentifier().setStreamName(Buffer.from(stream));
  const options = new streams.AppendReq.Options()
    .setStreamIdentifier(identifier)
    .setNoStream(new shared.Empty());
  return framed(new streams.AppendReq().setOptions(options));
};

const event = (): Buffer => {
  const message = new streams.AppendReq.ProposedMessage().setId(new shared.UUID().setString(randomUUID()));
  message.setData(Buffer.from('{}'));
  message.getMetadataMap().set('type', 'Happened').set('content-type', 'application/json');
  return framed(new streams.AppendReq().setProposedMessage(message));
};

/** An append whose options and first event arrive. */
const beginAppend = (session: ClientHttp2Session, stream: string): ClientHttp2Stream => {
  const call = session.request({
    ':method': 'POST',
    ':path': '/event_store.client.streams.Streams/Append',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  call.on('error', () => undefined);
  call.write(Buffer.concat([optionsFor(stream), event()]));
  return call;
};

it('an append whose connection or call breaks off before its last event writes nothing', () =>
  withDatabaseFile(async (file) => {
    const server = await startEventStoreServer({ file, port: 0 });
    const client = connectClient(server.port);
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const session = connect(`http://127.0.0.1:${server.port}`);
        session.on('error', () => undefined);
        await once(session, 'connect');
        const calls = Array.from({ length: AT_ONCE }, (_, n) => beginAppend(session, `broken-${round}x${n}`));
        if (round % 2 === 0) for (const call of calls) call.close(constants.NGHTTP2_CANCEL);
        // Sends the bytes, then drops the connection.
        else setImmediate(() => session.destroy());
        await Promise.all(calls.map((call) => call.closed || once(call, 'close')));
        session.destroy();
      }
      // Once this append returns, the server has processed everything that it read before.
      await client.appendToStream('last', [], {}).catch(() => undefined);
      let written = 0;
      for await (const { event: found } of client.readAll())
        if (found?.streamId.startsWith('broken-') === true) written++;
      expect(written).toBe(0);
    } finally {
      await client.dispose();
      await server.close();
    }
  }));
