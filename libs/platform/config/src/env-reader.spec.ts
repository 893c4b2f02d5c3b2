import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, readEnv } from './index.js';

describe('reading the environment', () => {
  it('names every missing or invalid variable at once', () => {
    const read = readEnv({ PORT: 'http', FLAG: 'maybe', MODE: 'fast', LINK: 'localhost:1' });
    read.string('NAME');
    read.integer('PORT', { min: 1, max: 65_535 });
    read.boolean('FLAG', false);
    read.oneOf('MODE', ['slow', 'steady']);
    read.url('LINK');
    expect(() => read.done()).toThrow(ConfigError);
    expect(() => read.done()).toThrow(
      /NAME is not set.*PORT must.*FLAG must.*MODE must be one of slow, steady.*LINK must/,
    );
  });

  it('never shows a value, because it may be a secret', () => {
    const read = readEnv({ PORT: 'hunter2', LINK: 'hunter2', MODE: 'hunter2', FLAG: 'hunter2' });
    read.integer('PORT');
    read.url('LINK');
    read.oneOf('MODE', ['a']);
    read.boolean('FLAG', true);
    let message = '';
    try {
      read.done();
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain('PORT');
    expect(message).not.toContain('hunter2');
  });

  it('treats an empty variable as unset', () => {
    const read = readEnv({ A: '', B: '  ', C: '' });
    expect(read.string('A', 'x')).toBe('x');
    expect(read.integer('B', { default: 3 })).toBe(3);
    expect(read.optional('C')).toBeUndefined();
    expect(read.done('fine')).toBe('fine');
  });

  it.each(['1.5', '1e3', '0x10', '9007199254740993', '-1', '70000', '٣', '1 2'])(
    'refuses %s as a port',
    (value) => {
      const read = readEnv({ PORT: value });
      read.integer('PORT', { max: 65_535 });
      expect(() => read.done()).toThrow(/PORT must be a whole number from 0 to 65535/);
    },
  );

  it('reads every type of value', () => {
    const read = readEnv({
      I: ' 42 ',
      T: 'Yes',
      F: 'off',
      P: 'data',
      U: 'nats://u:p@h:4222,nats://i:1',
      O: 'b',
    });
    expect(read.integer('I')).toBe(42);
    expect([read.boolean('T', false), read.boolean('F', true)]).toEqual([true, false]);
    expect(read.path('P')).toBe(resolve('data'));
    expect(read.url('U', undefined, ['nats', 'tls'])).toBe('nats://u:p@h:4222,nats://i:1');
    expect(read.oneOf('O', ['a', 'b'])).toBe('b');
    read.done();
  });

  it.each(['a.b', 'a b', '*', 'x'.repeat(33), 'käse'])(
    'refuses "%s" as the name of an installation',
    (name) => {
      const read = readEnv({ NATS_URL: 'nats://h', BERTH_INSTANCE: name });
      read.brokerEnv();
      expect(() => read.done()).toThrow(
        'Bad configuration: BERTH_INSTANCE must be 1 to 32 letters, digits, hyphens and underscores.',
      );
    },
  );

  it('reads the name of the installation; the default is `berth`', () => {
    expect(readEnv({ NATS_URL: 'nats://h' }).brokerEnv().instance).toBe('berth');
    expect(readEnv({ NATS_URL: 'nats://h', BERTH_INSTANCE: 'eu-2_b' }).brokerEnv().instance).toBe('eu-2_b');
  });

  it('refuses a URL of another scheme', () => {
    const read = readEnv({
      NATS_URL: 'http://h:1',
      EVENTSTORE_URL: 'esdb://h:1?tls=false',
      DATABASE_URL: 'postgres://h/x',
    });
    const common = read.serviceEnv();
    expect(common).toMatchObject({
      eventStoreUrl: 'esdb://h:1?tls=false',
      databasePool: 3,
      logLevel: 'info',
      metricsPort: undefined,
    });
    expect(() => read.done()).toThrow(
      'Bad configuration: NATS_URL must be a URL that begins with nats:// or tls://.',
    );
  });
});
