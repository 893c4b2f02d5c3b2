const SET_ENCODINGS = 2;
/** They announce what a viewer that only looks must not do, or change the length of its messages. */
const UNWANTED_ENCODINGS: ReadonlySet<number> = new Set([
  // Extended clipboard, extended desktop size, extended mouse buttons.
  -1_063_131_698, -308, -316,
]);
/** More than any client has; its message is buffered. */
const MOST_ENCODINGS = 1_024;

/** A message by its type: its length as far as the bytes tell, and whether it only looks. */
interface MessageForm {
  readonly looks: boolean;
  /** Bytes that tell its length. */
  readonly head: number;
  readonly lengthOf: (head: Buffer) => number;
}

const fixed = (looks: boolean, length: number): MessageForm => ({ looks, head: 1, lengthOf: () => length });

/** Messages of clients whose length is known; negative lengths of cut text are those of the extended clipboard. */
const FORMS: ReadonlyMap<number, MessageForm> = new Map([
  [0, fixed(true, 20)],
  [SET_ENCODINGS, { looks: true, head: 4, lengthOf: (head) => 4 + head.readUInt16BE(2) * 4 }],
  [3, fixed(true, 10)],
  [4, fixed(false, 8)],
  [5, fixed(false, 6)],
  [6, { looks: false, head: 8, lengthOf: (head) => 8 + Math.abs(head.readInt32BE(4)) }],
  [150, fixed(true, 10)],
  [248, { looks: true, head: 9, lengthOf: (head) => 9 + (head[8] ?? 0) }],
  [250, fixed(false, 4)],
  [251, { looks: false, head: 8, lengthOf: (head) => 8 + (head[6] ?? 0) * 16 }],
  [255, { looks: false, head: 4, lengthOf: (head) => qemuLength(head) }],
]);

const qemuLength = (head: Buffer): number => {
  const [, kind] = head;
  const setFormat = 2;
  if (kind === 0) return 12;
  if (kind === 1) return head.readUInt16BE(2) === setFormat ? 10 : 4;
  throw new Error('The client sends a message that is not known.');
};

/** Passes on those messages of a client that only look, after its handshake. */
export class ViewFilter {
  #pending: Buffer = Buffer.alloc(0);
  #toDrop = 0;

  /** The bytes of `chunk` and of what was held back that may pass. Throws for a message whose length is not known. */
  take(chunk: Buffer): Buffer {
    const passed: Buffer[] = [];
    let rest = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const dropped = Math.min(this.#toDrop, rest.length);
      this.#toDrop -= dropped;
      rest = rest.subarray(dropped);
      const [type] = rest;
      if (type === undefined) break;
      const form = FORMS.get(type);
      if (form === undefined) throw new Error('The client sends a message that is not known.');
      if (rest.length < form.head) break;
      const length = form.lengthOf(rest);
      if (!form.looks) {
        this.#toDrop = length;
        continue;
      }
      if (length > 4 + MOST_ENCODINGS * 4) throw new Error('The client has too many encodings.');
      if (rest.length < length) break;
      const message = rest.subarray(0, length);
      passed.push(type === SET_ENCODINGS ? withoutUnwanted(message) : message);
      rest = rest.subarray(length);
    }
    this.#pending = Buffer.from(rest);
    return Buffer.concat(passed);
  }
}

const withoutUnwanted = (message: Buffer): Buffer => {
  const all = Array.from({ length: message.readUInt16BE(2) }, (_, index) =>
    message.readInt32BE(4 + index * 4),
  );
  const kept = all.filter((encoding) => !UNWANTED_ENCODINGS.has(encoding));
  const filtered = Buffer.alloc(4 + kept.length * 4);
  filtered[0] = SET_ENCODINGS;
  filtered.writeUInt16BE(kept.length, 2);
  for (const [index, encoding] of kept.entries()) filtered.writeInt32BE(encoding, 4 + index * 4);
  return filtered;
};
