import { once } from 'node:events';
import { JSON_BODY_LIMIT } from '@berth/contracts/schema';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { payloadTooLarge } from '../http/error-response.js';
import { invalidRequest, type HttpRefusal } from '../http/http-refusal.js';

import { ownsBuffer } from './outgoing-bytes.js';

/** All fields together (the limit of a JSON body); the file has its own limit. */
export const FIELDS_LIMIT_BYTES = JSON_BODY_LIMIT;
/** Allowance for the headers of parts and the boundaries. */
const FRAME_LIMIT_BYTES = 65_536;
export const REST_LIMIT_BYTES = FIELDS_LIMIT_BYTES + FRAME_LIMIT_BYTES;
const MAX_PARTS = 1_000;
/** Fields that decide where the file goes and how it is described; each at most once. */
const ONCE: ReadonlySet<string | undefined> = new Set(['dest_dir', 'message']);
/** More than arrives in one chunk, so that the parser buffers nothing itself. */
const PARSER_BYTES = 1_048_576;

/** Receives the bytes of the part `file` as they arrive. */
export interface FileSink {
  begin(): void;
  write(bytes: Uint8Array, isLast: boolean): Promise<void> | undefined;
}

/** The fields of a form, without the bytes of its file. */
export interface UploadedForm {
  /** Last part of the name that the client gave the file. */
  readonly name: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Reads one multipart form with exactly one file, `file`, whose bytes are passed on as they arrive (RFC 7578). */
export class UploadForm {
  readonly #parser: BusboyInstance;
  readonly #failed = Promise.withResolvers<never>();
  readonly #fields: (readonly [string, string])[] = [];
  #name: string | undefined;
  #room: Promise<void> | undefined;
  #allBytes = 0;
  #fileBytes = 0;
  #fieldBytes = 0;

  /** Throws 400 for a type without a usable boundary. */
  constructor(
    contentType: string,
    private readonly sink: FileSink,
  ) {
    this.#failed.promise.catch(() => undefined);
    this.#parser = parserFor(contentType);
    this.#parser.on('error', () => this.#fail(brokenForm()));
    this.#parser.on('partsLimit', () =>
      this.#fail(invalidRequest([{ path: '', message: 'too many parts' }])),
    );
    this.#parser.on('field', (name, value) => this.#takeField(name, value));
    this.#parser.on('file', (name, stream, fileName) => this.#takeFile(name, stream, fileName));
  }

  /** Rejects as soon as the form is known to be invalid. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Takes a chunk of the body; a returned promise resolves when the next chunk may come. */
  push(chunk: Buffer): Promise<void> | undefined {
    this.#allBytes += chunk.length;
    const isTaken = this.#parser.write(chunk);
    // The parser may buffer some of the file; the exact count follows at the end.
    this.#refuseLongRest(REST_LIMIT_BYTES + 4 * PARSER_BYTES);
    return isTaken
      ? this.#room
      : Promise.all([once(this.#parser, 'drain'), this.#room]).then(() => undefined);
  }

  /** The body has ended. Throws 400 and 413. */
  async finish(): Promise<UploadedForm> {
    const finished = once(this.#parser, 'finish');
    this.#parser.end();
    await Promise.race([finished, this.#failed.promise]);
    this.#refuseLongRest(REST_LIMIT_BYTES);
    if (this.#name === undefined) throw badFile('is missing: send one file in a part with this name');
    return { name: this.#name, fields: this.#fields };
  }

  #refuseLongRest(limit: number): void {
    if (this.#allBytes - this.#fileBytes > limit) throw payloadTooLarge(FIELDS_LIMIT_BYTES);
  }

  #takeField(name: string | undefined, value: string): void {
    if (name === 'file') return this.#fail(badFile('must be a file: send its part with a filename'));
    if (ONCE.has(name) && this.#fields.some(([field]) => field === name))
      return this.#fail(badPart(name ?? '', 'must occur only once'));
    this.#fieldBytes += Buffer.byteLength(value);
    if (this.#fieldBytes > FIELDS_LIMIT_BYTES) return this.#fail(payloadTooLarge(FIELDS_LIMIT_BYTES));
    this.#fields.push([name ?? '', value]);
  }

  #takeFile(name: string | undefined, stream: BusboyFileStream, fileName: string | undefined): void {
    stream.on('error', () => this.#fail(brokenForm()));
    if (ONCE.has(name)) this.#fail(badPart(name ?? '', 'must be text: send its part without a filename'));
    if (name !== 'file') return void stream.resume();
    if (this.#name !== undefined) this.#fail(badFile('must occur only once'));
    else if (fileName === undefined || fileName === '') this.#fail(badFile('must have a filename'));
    else {
      this.#name = fileName;
      this.sink.begin();
      stream.on('data', (bytes: Buffer) => this.#takeBytes(bytes));
      return;
    }
    stream.resume();
  }

  /** The parser's streams call this, so it must not throw. */
  #takeBytes(bytes: Buffer): void {
    this.#fileBytes += bytes.length;
    try {
      const room = this.sink.write(bytes, ownsBuffer(bytes));
      if (room !== undefined) this.#waitFor(room);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The parser may emit bytes after `push` has returned; then the next one waits. */
  #waitFor(room: Promise<void>): void {
    const passed = (): void => {
      if (this.#room === room) this.#room = undefined;
    };
    this.#room = room;
    room.then(passed, passed);
  }

  #fail(error: unknown): void {
    this.#failed.reject(error);
  }
}

/** RFC 2046 allows 70 characters; some clients send a few more. */
const BOUNDARY = /;\s*boundary=(?:"[^"]{1,200}"|[^\s";]{1,200})\s*(?:;|$)/i;

const parserFor = (contentType: string): BusboyInstance => {
  try {
    if (!BOUNDARY.test(contentType)) throw new Error('no boundary');
    return new Busboy({
      headers: { 'content-type': contentType },
      highWaterMark: PARSER_BYTES,
      fileHwm: PARSER_BYTES,
      // Some clients send every field as application/octet-stream.
      isPartAFile: (name, type, fileName) =>
        fileName !== undefined || (name === 'file' && type === 'application/octet-stream'),
      limits: { parts: MAX_PARTS, fieldSize: 2 * FIELDS_LIMIT_BYTES, headerSize: FRAME_LIMIT_BYTES },
    });
  } catch {
    throw invalidRequest([{ path: 'Content-Type', message: 'must name the boundary of the parts' }]);
  }
};

const brokenForm = (): HttpRefusal =>
  invalidRequest([{ path: '', message: 'The multipart body is broken or ended early.' }]);

const badPart = (path: string, message: string): HttpRefusal => invalidRequest([{ path, message }]);

const badFile = (message: string): HttpRefusal => badPart('file', message);
