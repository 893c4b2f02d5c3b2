import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeFromKernel, removeSharedFiles } from './leftovers.js';

/** Stores a key in the keyring that the kernel keeps for a user, or prints whether it has one. */
const KEYS = `
import ctypes, os, sys
call = ctypes.CDLL(None).syscall
add, keyctl = (248, 250) if os.uname().machine == 'x86_64' else (217, 219)
uid = int(sys.argv[2])
os.setgid(uid)
os.setuid(uid)
if sys.argv[1] == 'store': call(add, b'user', b'secret', b'hello', 5, -4)
else: print('found' if call(keyctl, 10, -4, b'user', b'secret', 0) > 0 else 'nothing')
`;

/** Only root has agents with users of their own. */
const USERS = process.getuid?.() === 0 ? [0x7fff_fff0] : [];

describe('what the user of an agent leaves', () => {
  it.each(USERS)('in the keyrings of the kernel is gone before another agent gets its id', async (uid) => {
    const keys = (what: string): string =>
      execFileSync('python3', ['-c', KEYS, what, String(uid)], { encoding: 'utf8' }).trim();
    keys('store');
    expect(keys('find')).toBe('found');
    await removeFromKernel(uid);
    expect(keys('find')).toBe('nothing');
  });

  it.each(USERS)('with content of others in it is nobody’s but root’s afterwards', async (uid) => {
    const folder = mkdtempSync('/var/tmp/berth-left-');
    try {
      writeFileSync(join(folder, 'of-root'), '');
      writeFileSync(join(folder, 'own'), '');
      for (const path of [folder, join(folder, 'own')]) chownSync(path, uid, uid);
      await removeSharedFiles(uid);
      expect(readdirSync(folder)).toEqual(['of-root']);
      expect(statSync(folder).uid).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
