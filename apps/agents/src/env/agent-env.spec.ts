import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { envCodec } from './agent-env.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), envCodec, {
  EnvVarSet: true,
  EnvVarRemoved: true,
});
