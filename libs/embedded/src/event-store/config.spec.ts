import { describe, expect, it } from 'vitest';
import { readConfig } from './config.js';

describe('the configuration of the event store process', () => {
  it('is read from arguments first, then from the environment', () => {
    const env = { BERTH_EVENT_STORE_FILE: '/data/env.db', BERTH_EVENT_STORE_PORT: '2113' };
    expect(readConfig([], env)).toEqual({ file: '/data/env.db', port: 2113, exitWithParent: false });
    expect(readConfig(['--file', '/data/a.db', '--port', '0', '--exit-with-parent'], env)).toEqual({
      file: '/data/a.db',
      port: 0,
      exitWithParent: true,
    });
  });

  it('names what is missing or invalid', () => {
    expect(() => readConfig([], {})).toThrow('BERTH_EVENT_STORE_FILE');
    for (const port of ['x', '-1', '65536', '1.5', '']) {
      expect(() => readConfig(['--file', 'a.db', `--port=${port}`], {})).toThrow('BERTH_EVENT_STORE_PORT');
    }
    expect(() => readConfig(['--file', 'a.db', '--unknown'], {})).toThrow('--unknown');
  });
});
