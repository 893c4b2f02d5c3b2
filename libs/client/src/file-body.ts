import type { Body } from './body.js';
import { isServer, randomId } from './runtime.js';

/** A file that is opened when it is sent: `fileFromPath` of `@berth/client/node` makes one. */
export interface FileSource {
  /** The name of the file. */
  readonly name: string;
  /** Begins to read it; can be called again. */
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** What can be uploaded. A string is text. Streams are read as they are sent; browsers may collect them first. */
export type UploadFile =
  | string
  | Uint8Array
  | ArrayBuffer
  | Blob
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>
  | FileSource;

/** The type of a file of which nothing is known. */
export const BYTES = 'application/octet-stream';

/** A body that is a file and nothing else. */
export const fileBody = (file: UploadFile): Body => {
  const content = contentOf(file);
  return bodyOf([content], BYTES);
};

/** A form with a file and fields. */
export const formBody = (
  file: UploadFile,
  name: string | undefined,
  fields: Readonly<Record<string, string>>,
): Body => {
  const boundary = `berth-${randomId()}`;
  const parts = Object.entries(fields).map(
    ([field, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  );
  const head = `${parts.join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; ${fileNameOf(
    file,
    name,
  )}\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const type = `multipart/form-data; boundary=${boundary}`;
  return bodyOf([new Blob([head]), contentOf(file), new Blob([`\r\n--${boundary}--\r\n`])], type);
};

/** The parameters that name the file; the second is for names beyond what all servers read alike. */
const fileNameOf = (file: UploadFile, given: string | undefined): string => {
  const name = given ?? ownName(file);
  if (typeof name !== 'string' || name === '' || name.includes('\0'))
    throw new TypeError('The file has no name of its own: pass one as `name`.');
  const escaped = name.replace(/["\r\n]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
  if (/^[\w !#$&+.^`{}~()[\]-]+$/.test(name)) return `filename="${escaped}"`;
  try {
    const extended = encodeURIComponent(name).replace(
      /['()*]/g,
      (one) => `%${one.charCodeAt(0).toString(16)}`,
    );
    return `filename="${escaped}"; filename*=UTF-8''${extended}`;
  } catch (cause) {
    throw new TypeError('A lone surrogate cannot be sent.', { cause });
  }
};

/** The name of a `File` or of a `FileSource`, or the last part of the path of Node's streams. */
const ownName = (file: UploadFile): string | undefined => {
  if (typeof file !== 'object') return undefined;
  const { name, path } = file as { name?: unknown; path?: unknown };
  if (typeof name === 'string') return name;
  return typeof path === 'string' ? path.split(/[/\\]/).at(-1) : undefined;
};

type Content = Blob | FileSource | AsyncIterable<Uint8Array | string> | ReadableStream<Uint8Array>;

const contentOf = (file: UploadFile): Content => {
  if (file instanceof Blob || isSource(file) || isStream(file)) return file;
  if (typeof file === 'string' || file instanceof ArrayBuffer || ArrayBuffer.isView(file))
    return new Blob([file as BlobPart]);
  throw new TypeError('A file must be text, bytes, a Blob, a stream, or come from fileFromPath.');
};

const isSource = (file: unknown): file is FileSource =>
  typeof file === 'object' &&
  file !== null &&
  typeof (file as { open?: unknown }).open === 'function' &&
  !isStream(file);

/** Whether a value is read in pieces, once. */
export const isStream = (
  file: unknown,
): file is AsyncIterable<Uint8Array | string> | ReadableStream<Uint8Array> =>
  file instanceof ReadableStream ||
  (typeof file === 'object' && file !== null && Symbol.asyncIterator in file);

const bodyOf = (parts: readonly Content[], contentType: string): Body => {
  const blobs = parts.filter((part) => part instanceof Blob);
  // A blob has a length, and is not copied.
  if (blobs.length === parts.length) return { contentType, repeatable: true, open: () => new Blob(blobs) };
  let thrown: { readonly error: unknown } | undefined;
  return {
    contentType,
    repeatable: parts.every((part) => part instanceof Blob || isSource(part)),
    failure: () => thrown,
    open: async () => {
      const opened = await Promise.all(parts.map((part) => (isSource(part) ? part.open() : part)));
      const chunks = chunksOf(opened, (error) => (thrown = { error }));
      return isServer() ? streamOf(chunks) : collected(chunks);
    },
  };
};

type Opened = Exclude<Content, FileSource>;

async function* chunksOf(
  parts: readonly Opened[],
  failed: (error: unknown) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    for (const part of parts) {
      const stream = part instanceof Blob ? part.stream() : part;
      for await (const chunk of stream instanceof ReadableStream ? read(stream) : stream)
        yield bytesOf(chunk);
    }
  } catch (error) {
    failed(error);
    throw error;
  }
}

/** Not every runtime can iterate over a stream. */
async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let isWhole = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    isWhole = true;
  } finally {
    if (isWhole) reader.releaseLock();
    else reader.cancel().catch(() => undefined);
  }
}

const bytesOf = (chunk: unknown): Uint8Array<ArrayBuffer> => {
  if (typeof chunk === 'string') return new TextEncoder().encode(chunk);
  if (chunk instanceof Uint8Array) return chunk as Uint8Array<ArrayBuffer>;
  throw new TypeError('A stream of a file must consist of bytes or text.');
};

const streamOf = (chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else if (value.length > 0) controller.enqueue(value);
        else await this.pull?.(controller);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );

const collected = async (chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>): Promise<Blob> => {
  const all: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return new Blob(all);
};
