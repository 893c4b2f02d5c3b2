import { DomainError } from '@berth/kernel';
import type { FileCommand } from '@berth/guest-protocol';
import type { Within } from './file-content.js';

// Only the runtime that started this guest can reach its socket, and both are of one release: these checks detect a
// protocol mismatch, not an attack. A staged id is still validated, because it becomes a file name.

const STAGED_ID = /^[A-Za-z0-9_]{1,64}$/;

type Fields = Readonly<Record<string, unknown>>;

/** Body of `changeFile`. */
export const readCommand = (body: unknown): FileCommand => {
  const fields = toFields(body);
  switch (fields['op']) {
    case 'commit':
      return { op: 'commit', stagedId: toStagedId(fields['stagedId']), target: toTarget(fields['target']) };
    case 'discard':
      return { op: 'discard', stagedId: toStagedId(fields['stagedId']) };
    case 'mkdir':
    case 'delete':
      return { op: fields['op'], path: toText(fields['path']) };
    case 'move':
      return { op: 'move', from: toText(fields['from']), to: toText(fields['to']) };
    default:
      throw notUnderstood();
  }
};

/** Query `id` of `stageFile`. */
export const readStagedId = (query: URLSearchParams): string => toStagedId(query.get('id'));

/** Query `limit`, in bytes. */
export const readLimit = (query: URLSearchParams): number => {
  const limit = query.get('limit') ?? '';
  if (!/^\d{1,15}$/.test(limit)) throw notUnderstood();
  return Number(limit);
};

/** Query `within` of `readFile`. */
export const readWithin = (query: URLSearchParams): Within => {
  const within = query.get('within');
  if (within !== 'agent' && within !== 'volume') throw notUnderstood();
  return within;
};

type Commit = Extract<FileCommand, { readonly op: 'commit' }>;

const toTarget = (value: unknown): Commit['target'] => {
  const { kind, path, folder, name } = toFields(value);
  switch (kind) {
    case 'path':
      return { kind, path: toText(path) };
    case 'folder':
      return { kind, folder: toText(folder), name: toText(name) };
    case 'inbox':
      return { kind, name: toText(name) };
    default:
      throw notUnderstood();
  }
};

const toFields = (value: unknown): Fields => {
  if (typeof value !== 'object' || value === null) throw notUnderstood();
  return value as Fields;
};

const toText = (value: unknown): string => {
  if (typeof value !== 'string') throw notUnderstood();
  return value;
};

const toStagedId = (value: unknown): string => {
  if (typeof value !== 'string' || !STAGED_ID.test(value)) throw notUnderstood();
  return value;
};

const notUnderstood = (): DomainError =>
  new DomainError('invalid', 'invalid_request', 'The guest does not understand this request.');
