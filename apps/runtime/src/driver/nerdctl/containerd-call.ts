import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { DriverError } from '../driver-error.js';

/** The address of containerd and the namespace of a call. */
export interface ContainerdScope {
  readonly address: string;
  /** The containerd namespace. */
  readonly namespace: string;
}

type MessageFields = Readonly<Record<number, string | Buffer>>;

const CALL_MS = 5_000;
const FRAME_HEADER_BYTES = 5;
const LENGTH_DELIMITED = 2;
const WIRE_BITS = 3;
const NOT_FOUND = '5';

/** containerd refused a call. */
export class ContainerdRefusal extends Error {
  constructor(
    method: string,
    /** A code of gRPC, as text. */
    readonly status: string,
  ) {
    super(`containerd refused ${method} with status ${status}.`);
  }

  get isNotFound(): boolean {
    return this.status === NOT_FOUND;
  }
}

/**
 * Makes a unary call of containerd's gRPC API, for what nerdctl does not tell. `fields`: the request, for
 * `messageOf`. Returns the response, for `fieldsOf`. Errors: `host_unavailable`; `ContainerdRefusal`.
 */
export const callContainerd = async (
  { address, namespace }: ContainerdScope,
  method: string,
  fields: MessageFields,
): Promise<Buffer> => {
  const session = connectHttp2('http://localhost', { createConnection: () => connect(address) });
  const away = Promise.withResolvers<never>();
  away.promise.catch(() => undefined);
  const fail = (cause?: unknown): void =>
    away.reject(
      new DriverError('host_unavailable', 'The container runtime of this host does not respond.', { cause }),
    );
  const timer = setTimeout(fail, CALL_MS);
  session.on('error', fail);
  try {
    const stream = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: `/containerd.services.${method}`,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      [constants.HTTP2_HEADER_TE]: 'trailers',
      'containerd-namespace': namespace,
    });
    stream.on('error', fail);
    let status: unknown;
    for (const event of ['response', 'trailers'] as const)
      stream.on(event, (headers: Readonly<Record<string, unknown>>) => {
        status ??= headers['grpc-status'];
      });
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.end(framed(messageOf(fields)));
    await Promise.race([once(stream, 'close'), away.promise]);
    if (status !== '0') throw new ContainerdRefusal(method, String(status));
    return Buffer.concat(chunks).subarray(FRAME_HEADER_BYTES);
  } finally {
    clearTimeout(timer);
    session.destroy();
  }
};

const framed = (bytes: Buffer): Buffer => {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([header, bytes]);
};

/** A protobuf message, of texts and of other messages by the numbers of their fields. */
export const messageOf = (fields: MessageFields): Buffer =>
  Buffer.concat(
    Object.entries(fields).flatMap(([number, content]) => {
      const value = typeof content === 'string' ? Buffer.from(content) : content;
      return [varint((Number(number) << WIRE_BITS) | LENGTH_DELIMITED), varint(value.length), value];
    }),
  );

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
};

/** The fields of a protobuf message with that number that are texts or messages. Throws for a malformed message. */
export const fieldsOf = (bytes: Buffer, wanted: number): readonly Buffer[] => {
  const found: Buffer[] = [];
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes.readUInt8(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = number();
    const wire = key & 7;
    if (wire === 0) number();
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === LENGTH_DELIMITED) {
      const end = number() + at;
      if (key >>> WIRE_BITS === wanted) found.push(bytes.subarray(at, end));
      at = end;
    } else throw new Error('A response of containerd is malformed.');
  }
  return found;
};
