import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, GitServer } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BuildFailure } from '../build-failure.js';
import { clone, type Clone } from './clone.js';

const MIB = 1024 * 1024;
const PASSWORD = 'hunter2-in-no-argument';

let git: GitServer;
let folder: string;

beforeAll(async () => {
  git = await GitServer.start();
});
afterAll(() => git.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-clone-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const what = (name: string, changes: Partial<Clone['remote']> = {}): Clone => ({
  remote: { url: git.urlOf(name), addresses: ['127.0.0.1'], token: PASSWORD, ...changes },
  branch: null,
  folder: join(folder, 'code'),
  scratch: join(folder, 'scratch'),
  caFile: git.caFile,
  path: process.env['PATH'] ?? '',
  memoryBytes: 64 * MIB,
});

const read = (pid: string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

/** The arguments and the environment of every process of the clone. */
const processes = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => read(pid, 'cmdline') + read(pid, 'environ'))
    .filter((text) => text.includes(folder));

describe('a clone', () => {
  it('contains the tree of its commit, links as they are, and nothing of git', async () => {
    const commit = await git.commit('tree', {
      'a/b.txt': 'text',
      outside: { linkTo: '../../../../etc/passwd' },
      '.gitmodules': `[submodule "x"]\n  path = x\n  url = ${git.urlOf('other')}\n`,
      '.gitattributes': '* filter=lfs\n',
    });
    expect(await clone(what('tree'), AbortSignal.timeout(20_000))).toEqual({ branch: 'main', commit });
    expect(readdirSync(join(folder, 'code')).toSorted()).toEqual([
      '.gitattributes',
      '.gitmodules',
      'a',
      'outside',
    ]);
    expect(existsSync(join(folder, 'scratch'))).toBe(false);
    expect(git.requests.some(({ url }) => url.startsWith('/other'))).toBe(false);
  });

  it('hands its password over where no other process finds it, and ends with all its processes', async () => {
    git.on('hanging', () => undefined);
    const ended = new AbortController();
    const cloning = clone(what('hanging'), ended.signal);
    cloning.catch(() => undefined);
    await eventually(() => git.requests.some(({ url }) => url.startsWith('/hanging')));
    expect(processes().length).toBeGreaterThan(0);
    expect(processes().join()).not.toContain(PASSWORD);
    ended.abort(new Error('enough'));
    await expect(cloning).rejects.toThrow('enough');
    await eventually(() => processes().length === 0);
    expect(existsSync(join(folder, 'scratch'))).toBe(false);
  });

  it('sends its password only to a host that asks for it', async () => {
    await git.commit('open', { a: '1' });
    await clone(what('open'), AbortSignal.timeout(20_000));
    const sent = git.requests.filter(({ url, authorization }) => url.startsWith('/open') && authorization);
    expect(sent).toEqual([]);
    await git.commit('closed', { a: '1' }, { password: PASSWORD });
    await clone({ ...what('closed'), folder: join(folder, 'second') }, AbortSignal.timeout(20_000));
  });

  it('reaches only the addresses that it was given', async () => {
    await git.commit('elsewhere', { a: '1' });
    const unreachable = what('elsewhere', { addresses: ['127.0.0.2'] });
    const before = git.requests.length;
    await expect(clone(unreachable, AbortSignal.timeout(20_000))).rejects.toMatchObject({
      code: 'clone_failed',
    });
    await expect(
      clone(what('elsewhere', { addresses: [] }), AbortSignal.timeout(20_000)),
    ).rejects.toMatchObject({ code: 'clone_failed' });
    expect(git.requests.length).toBe(before);
  });

  it('has the bytes of its commit, whatever attributes the repository gives its files', async () => {
    const files = {
      // Stored as one byte for each four.
      'encoded.txt': 'h\0\0\0i\0\0\0',
      'lines.txt': 'a\nb\n',
      'ident.txt': '$Id$',
      'macro.txt': '$Id$\n',
      'sub/ident.txt': '$Id$',
    };
    await git.commit('attributes', {
      ...files,
      '.gitattributes': [
        '[attr]grows ident text eol=crlf',
        'encoded.txt text working-tree-encoding=UTF-32LE',
        'lines.txt text eol=crlf',
        'ident.txt ident',
        'macro.txt grows',
      ].join('\n'),
      'sub/.gitattributes': '* ident\n',
    });
    await clone(what('attributes'), AbortSignal.timeout(20_000));
    for (const [path, content] of Object.entries({ ...files, 'encoded.txt': 'hi' }))
      expect(readFileSync(join(folder, 'code', path), 'utf8'), path).toBe(content);
  });

  it('is refused before its checkout when a few objects are millions of folders', async () => {
    await git.commitFolders('folders', { levels: 30, each: 10 });
    await expect(clone(what('folders'), AbortSignal.timeout(60_000))).rejects.toMatchObject({
      code: 'repo_too_large',
    });
    expect(existsSync(join(folder, 'code'))).toBe(false);
  });

  it('takes a file that is larger than the memory of git', async () => {
    await git.commit('large-file', {}, { zeros: { files: 1, bytes: 96 * MIB } });
    await clone(what('large-file'), AbortSignal.timeout(60_000));
    expect(statSync(join(folder, 'code', 'zeros-0')).size).toBe(96 * MIB);
  });

  it('fails when the repository has an object that git would have to hold in more memory', async () => {
    await git.commit('large-message', { a: '1' }, { messageBytes: 96 * MIB });
    await expect(clone(what('large-message'), AbortSignal.timeout(60_000))).rejects.toMatchObject({
      code: 'clone_failed',
      message: 'The repository has objects that are too large to unpack.',
    });
  });

  it('fails unexpectedly, and not as the repository, when git cannot be started', async () => {
    const failed = clone({ ...what('any'), path: folder }, AbortSignal.timeout(20_000));
    await expect(failed).rejects.toThrow('git did not start: ');
    await expect(failed).rejects.not.toBeInstanceOf(BuildFailure);
  });

  it('names no folder of the host when git does', async () => {
    await git.commit('broken', { a: '1' });
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    const complaint = `fatal: cannot use $PWD, ${folder}/scratch/git, ${folder}/code/a and ${git.caFile}`;
    const script = [
      '#!/bin/sh',
      `case "$*" in *" checkout "*) echo "${complaint}" >&2; exit 128;; esac`,
      `PATH='${process.env['PATH'] ?? ''}' exec git "$@"`,
    ];
    writeFileSync(join(programs, 'git'), script.join('\n'), { mode: 0o755 });
    const path = `${programs}:${process.env['PATH'] ?? ''}`;
    await expect(clone({ ...what('broken'), path }, AbortSignal.timeout(20_000))).rejects.toMatchObject({
      code: 'clone_failed',
      message: 'git: cannot use …/home, …/git, …/a and …',
    });
  });
});
