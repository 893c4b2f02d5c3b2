import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskBytes } from './disk-bytes.js';
import { grantFolder, reclaimFolder } from './driver/code-folder.js';
import { removeTree } from './remove-tree.js';

/** Paths of 6,000 bytes, where a system call takes 4,096. */
const NEST = `
  const name = 'n'.repeat(200);
  for (let depth = 0; depth < 30; depth++) { fs.mkdirSync(name); process.chdir(name); }
  fs.writeFileSync('file', Buffer.alloc(70000));
`;

describe('a tree that an agent has made', () => {
  let parent: string;
  let tree: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'berth-tree-'));
    tree = join(parent, 'tree');
    mkdirSync(tree);
  });

  afterEach(() => {
    execFileSync('rm', ['-rf', parent]);
  });

  it('is measured, given to a user, taken back and removed, however deep it is', async () => {
    execFileSync(process.execPath, ['-e', NEST], { cwd: tree });
    expect(await diskBytes(tree)).toBeGreaterThanOrEqual(70_000);
    const owner = process.getuid?.() === 0 ? { uid: 61_000, gid: 61_000 } : null;
    if (owner !== null) await grantFolder(tree, owner);
    await reclaimFolder(tree, owner);
    const readable = ['-perm', '-004', '-user', String(process.getuid?.()), '-name', 'file'];
    expect(execFileSync('find', [tree, ...readable, '-printf', '%f'], { encoding: 'utf8' })).toBe('file');
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  it('is removed with folders that are closed to their owner, but without what its links lead to', async () => {
    const outside = join(parent, 'outside');
    writeFileSync(outside, '');
    mkdirSync(join(tree, 'closed/inner'), { recursive: true });
    symlinkSync(outside, join(tree, 'closed/inner/link'));
    chmodSync(join(tree, 'closed/inner'), 0);
    chmodSync(join(tree, 'closed'), 0);
    await removeTree(tree);
    expect([existsSync(tree), existsSync(outside)]).toEqual([false, true]);
    await removeTree(tree);
  });

  it('counts what is missing as nothing', async () => {
    rmSync(tree, { recursive: true });
    writeFileSync(join(parent, 'file'), 'content');
    expect(await diskBytes(tree, join(parent, 'file'))).toBe(7);
  });
});
