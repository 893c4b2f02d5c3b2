import { type RecordedEvent, TOMBSTONE_REVISION } from './log-event.js';

/*
 * Encodes `ReadResp` messages with an event byte by byte. The generated code first builds a tree of objects for each
 * event, which took most of the time of reading the log; every other message still uses it. Field numbers are those of
 * EventStoreDB's streams.proto and shared.proto.
 */

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const UUID_TEXT_LENGTH = 36;
/* int64 max as a varint: EventStoreDB's revision of a tombstone. */
const TOMBSTONE_VARINT = Buffer.from([255, 255, 255, 255, 255, 255, 255, 255, 127]);

/** Encodes an event for a reader: the event alone, or the target of a link together with the link. */
export function encodeReadEvent(event: RecordedEvent | undefined, link?: RecordedEvent): Buffer {
  const position = (link ?? event)?.position ?? 0;
  const eventPart = event === undefined ? undefined : new EventPart(event);
  const linkPart = link === undefined ? undefined : new EventPart(link);
  const size = (eventPart?.fieldSize ?? 0) + (linkPart?.fieldSize ?? 0) + 1 + varintSize(position);
  const writer = new ProtobufWriter(1 + varintSize(size) + size);
  writer.head(1, size);
  eventPart?.write(writer, 1);
  linkPart?.write(writer, 2);
  writer.number(3, position);
  return writer.buffer;
}

/* A RecordedEvent message. Computes the sizes first, because every nested message starts with its own. */
class EventPart {
  readonly #event: RecordedEvent;
  readonly #nameSize: number;
  readonly #typeSize: number;
  readonly #contentType: string;
  readonly #created: string;
  readonly #size: number;

  constructor(event: RecordedEvent) {
    this.#event = event;
    this.#nameSize = Buffer.byteLength(event.streamName);
    this.#typeSize = Buffer.byteLength(event.type);
    this.#contentType = event.isJson ? 'application/json' : 'application/octet-stream';
    // .NET ticks since 1970: tenths of a microsecond.
    this.#created = `${event.created}0000`;
    this.#size =
      lengthDelimitedSize(lengthDelimitedSize(UUID_TEXT_LENGTH)) +
      lengthDelimitedSize(lengthDelimitedSize(this.#nameSize)) +
      (1 + revisionSize(event.revision)) +
      2 * (1 + varintSize(event.position)) +
      lengthDelimitedSize(entrySize(4, this.#typeSize)) +
      lengthDelimitedSize(entrySize(12, this.#contentType.length)) +
      lengthDelimitedSize(entrySize(7, this.#created.length)) +
      lengthDelimitedSize(event.metadata.length) +
      lengthDelimitedSize(event.data.length);
  }

  get fieldSize(): number {
    return lengthDelimitedSize(this.#size);
  }

  write(writer: ProtobufWriter, field: number): void {
    const event = this.#event;
    writer.head(field, this.#size);
    writer.head(1, lengthDelimitedSize(UUID_TEXT_LENGTH));
    writer.head(2, UUID_TEXT_LENGTH);
    writer.eventId(event.id);
    writer.head(2, lengthDelimitedSize(this.#nameSize));
    writer.text(3, event.streamName, this.#nameSize);
    writer.revision(3, event.revision);
    writer.number(4, event.position);
    writer.number(5, event.position);
    writer.entry(6, 'type', event.type, this.#typeSize);
    writer.entry(6, 'content-type', this.#contentType, this.#contentType.length);
    writer.entry(6, 'created', this.#created, this.#created.length);
    writer.bytes(7, event.metadata);
    writer.bytes(8, event.data);
  }
}

class ProtobufWriter {
  readonly buffer: Buffer;
  #offset = 0;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
  }

  head(field: number, length: number): void {
    this.buffer[this.#offset++] = (field << 3) | LENGTH_DELIMITED;
    this.#varint(length);
  }

  number(field: number, value: number): void {
    this.buffer[this.#offset++] = (field << 3) | VARINT;
    this.#varint(value);
  }

  revision(field: number, revision: number): void {
    if (revision !== TOMBSTONE_REVISION) return this.number(field, revision);
    this.buffer[this.#offset++] = (field << 3) | VARINT;
    this.#offset += TOMBSTONE_VARINT.copy(this.buffer, this.#offset);
  }

  text(field: number, value: string, size: number): void {
    this.head(field, size);
    this.#offset += this.buffer.write(value, this.#offset, 'utf8');
  }

  entry(field: number, key: string, value: string, valueSize: number): void {
    this.head(field, entrySize(key.length, valueSize));
    this.text(1, key, key.length);
    this.text(2, value, valueSize);
  }

  bytes(field: number, value: Uint8Array): void {
    this.head(field, value.length);
    this.buffer.set(value, this.#offset);
    this.#offset += value.length;
  }

  eventId(id: Uint8Array): void {
    const hex = Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
    const text = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    this.#offset += this.buffer.write(text, this.#offset, 'latin1');
  }

  /* Divides instead of shifting: positions may exceed the 32 bits that shifts keep. */
  #varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.buffer[this.#offset++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.buffer[this.#offset++] = rest;
  }
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

function revisionSize(revision: number): number {
  return revision === TOMBSTONE_REVISION ? TOMBSTONE_VARINT.length : varintSize(revision);
}

function lengthDelimitedSize(length: number): number {
  return 1 + varintSize(length) + length;
}

function entrySize(keySize: number, valueSize: number): number {
  return lengthDelimitedSize(keySize) + lengthDelimitedSize(valueSize);
}
