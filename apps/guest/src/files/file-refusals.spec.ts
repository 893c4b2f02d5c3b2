import { DomainError } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { pathExists, toReadRefusal, toRefusal } from './file-refusals.js';

const failed = (code: string): Error => Object.assign(new Error(`${code}: /somewhere/secret`), { code });

describe('a failed system call', () => {
  it.each([
    ['ENOSPC', 'full', 'volume_full'],
    ['EDQUOT', 'full', 'volume_full'],
    ['EMFILE', 'unavailable', 'agent_unavailable'],
    ['EACCES', 'forbidden', 'not_permitted'],
    ['EPERM', 'forbidden', 'not_permitted'],
    ['EROFS', 'forbidden', 'not_permitted'],
    ['ENOENT', 'not_found', 'path_not_found'],
    ['ENAMETOOLONG', 'invalid', 'invalid_path'],
  ])('%s becomes the error %s %s, without any path of the host', (code, kind, expected) => {
    const refusal = toRefusal(failed(code));
    expect(refusal).toBeInstanceOf(DomainError);
    expect(refusal).toMatchObject({ kind, code: expected });
    expect(JSON.stringify([(refusal as DomainError).message, (refusal as DomainError).context])).not.toMatch(
      /secret/,
    );
  });

  it('becomes not_readable for a reader', () => {
    expect(toReadRefusal(failed('EACCES'))).toMatchObject({ kind: 'forbidden', code: 'not_readable' });
  });

  it('is unchanged if it is unknown, and so is a domain error', () => {
    const [unknown, refusal] = [failed('EIO'), pathExists()];
    expect([toRefusal(unknown), toRefusal(refusal)]).toEqual([unknown, refusal]);
  });
});
