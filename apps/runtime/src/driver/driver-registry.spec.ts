import { ConfigError, readEnv } from '@berth/config';
import { readOperatorSettings } from '@berth/operator-file';
import { describe, expect, it } from 'vitest';
import { quietLog } from '../__fixtures__/host.fixture.js';
import type { DriverDefinition } from './driver-definition.js';
import { chooseDriver } from './driver-registry.js';
import { NerdctlDriver } from './nerdctl/nerdctl.driver.js';
import { ProcessDriver } from './process/process.driver.js';

const context = { dataDir: '/nowhere', guestMain: '/nowhere/main.js', log: quietLog };
const options = { ...context, uidBase: undefined, outsideDir: undefined };

/** A driver with one required setting of its own. */
const requiring = (setting: string): DriverDefinition => ({
  configure: (reader) => {
    reader.string(setting);
    return { check: async () => [], create: () => new ProcessDriver(options) };
  },
});

const drivers = { process: requiring('FIRST_SETTING'), nerdctl: requiring('SECOND_SETTING') };

describe('the driver of a host', () => {
  it.each([{}, { BERTH_RUNTIME: 'process' }])('is the process driver with %j', (env) => {
    const reader = readEnv(env);
    const driver = chooseDriver(reader, readOperatorSettings(reader));
    reader.done();
    expect(driver.create(context)).toBeInstanceOf(ProcessDriver);
  });

  it('is the nerdctl driver if the configuration names it', () => {
    const reader = readEnv({ BERTH_RUNTIME: 'nerdctl' });
    const driver = chooseDriver(reader, readOperatorSettings(reader));
    reader.done();
    expect(driver.create(context)).toBeInstanceOf(NerdctlDriver);
  });

  it('of an unknown name is an invalid configuration that lists the known names', () => {
    const reader = readEnv({ BERTH_RUNTIME: 'nonesuch' });
    chooseDriver(reader, readOperatorSettings(reader), drivers);
    expect(() => reader.done()).toThrow(ConfigError);
    expect(() => reader.done()).toThrow(/BERTH_RUNTIME must be one of process, nerdctl/);
  });

  it('reads its own settings and no other driver’s', () => {
    const reader = readEnv({ BERTH_RUNTIME: 'nerdctl' });
    chooseDriver(reader, readOperatorSettings(reader), drivers);
    expect(() => reader.done()).toThrow(/^Bad configuration: SECOND_SETTING is not set\.$/);
  });
});
