import { ConfigError, readEnv } from '@berth/config';
import { describe, expect, it } from 'vitest';
import { quietLog } from '../__fixtures__/host.fixture.js';
import type { DriverDefinition } from './driver-definition.js';
import { chooseDriver } from './driver-registry.js';
import { ProcessDriver } from './process/process.driver.js';

const context = { dataDir: '/nowhere', guestMain: '/nowhere/main.js', log: quietLog };

/** A driver under another name, with one required setting of its own. */
const named = (name: string): DriverDefinition => ({
  name,
  configure: (reader) => {
    reader.string(`SETTING_OF_${name.toUpperCase()}`);
    return () => new ProcessDriver({ ...context, uidBase: undefined, outsideDir: undefined });
  },
});

describe('the driver of a host', () => {
  it.each([{}, { BERTH_RUNTIME: 'process' }])('is the process driver with %j', (env) => {
    const reader = readEnv(env);
    const createDriver = chooseDriver(reader);
    reader.done();
    expect(createDriver(context)).toBeInstanceOf(ProcessDriver);
  });

  it('of an unknown name is an invalid configuration that lists the known names', () => {
    const reader = readEnv({ BERTH_RUNTIME: 'nonesuch' });
    chooseDriver(reader, [named('first'), named('second')]);
    expect(() => reader.done()).toThrow(ConfigError);
    expect(() => reader.done()).toThrow(/BERTH_RUNTIME must be one of first, second/);
  });

  it('reads its own settings and no other driver’s', () => {
    const reader = readEnv({ BERTH_RUNTIME: 'second' });
    chooseDriver(reader, [named('first'), named('second')]);
    expect(() => reader.done()).toThrow(/^Bad configuration: SETTING_OF_SECOND is not set\.$/);
  });
});
