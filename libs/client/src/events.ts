/** One server-sent event. */
export interface ServerSentEvent {
  readonly name: string;
  readonly data: string;
}

/** Makes events of the pieces of a stream, wherever they are cut, as the HTML standard defines them. */
export class EventDecoder {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #name = '';
  #data: string[] = [];
  /** What a client that reconnects sends as `Last-Event-ID`. */
  lastId: string | undefined;

  constructor(lastId?: string) {
    this.lastId = lastId;
  }

  /** The events that this piece completes. */
  *feed(piece: Uint8Array): Generator<ServerSentEvent> {
    this.#rest += this.#decoder.decode(piece, { stream: true });
    // A CR at the end may be the first half of a CRLF.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = this.#take(line);
      if (event !== undefined) yield event;
    }
  }

  #take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#dispatch();
    const [, field = '', value = ''] = /^([^:]*):? ?([^]*)$/.exec(line) ?? [];
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.lastId = value || undefined;
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const event = { name: this.#name || 'message', data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#name = '';
    this.#data = [];
    return isEmpty ? undefined : event;
  }
}
