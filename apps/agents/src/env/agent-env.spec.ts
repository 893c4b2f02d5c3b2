import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { expect, it } from 'vitest';
import { envCodec } from './agent-env.js';

const GOLDEN = join(import.meta.dirname, '__events__');

describeGoldenEvents(GOLDEN, envCodec, {
  'EnvVarSet.v2': true,
  'EnvVarRemoved.v2': true,
});

it.each(['EnvVarSet', 'EnvVarRemoved'])(
  '%s, stored before end users had keys, has its name in plaintext',
  (type) => {
    const stored = JSON.parse(readFileSync(join(GOLDEN, `${type}.json`), 'utf8')) as never;
    expect(envCodec.fromStored(stored)).toMatchObject({
      type: `${type}.v2`,
      data: { variable: { endUserId: null, data: 'API_TOKEN' } },
    });
  },
);
